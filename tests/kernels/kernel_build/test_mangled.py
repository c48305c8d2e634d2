"""Short names of kernels."""

import pytest

from kernel_build.mangled import readable


@pytest.mark.parametrize(
    ("mangled", "short"),
    [
        ("_ZN9mezzotint5scaleILi64ELb1EEEvPf", "scale.64.1"),
        ("_ZN9mezzotint6attendINS_6TraitsI6__halfLi64ELin1EEEEEvNS_6ParamsE", "attend.Traits.__half.64.-1.Params"),
        ("_ZN9mezzotint3runINS_1AENS0_6InsideENS_5ShapeILi4EEEEEvv", "run.A.Inside.Shape.4"),
        (
            "_ZN9mezzotint41_GLOBAL__N__6718d283_9_passes_cu_abda26b28quantizeI6__halfEEvNS_10Int8ParamsE",
            "quantize.__half.Int8Params",
        ),
        ("spills", "spills"),
        ("_Z5scalePf", "scale"),
        ("_Z", "_Z"),
    ],
)
def test_a_name_keeps_the_words_that_tell_it_apart(mangled, short):
    assert readable(mangled) == short
