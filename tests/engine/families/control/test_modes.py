"""What union ControlNets tell apart."""

import typing

import pytest

from mezzotint.errors import UsageError
from mezzotint.families.control.modes import FLUX_MODES, UNION_MODES, mode_of
from mezzotint.protocol import ControlRef, ControlType


def ref(**settings):
    return ControlRef(image="a.png", model="union", **settings)


def test_every_type_has_a_number():
    assert {*UNION_MODES, *FLUX_MODES} == set(typing.get_args(ControlType))
    assert sorted(set(UNION_MODES.values())) == list(range(8))


def test_the_type_is_said_or_follows_from_preprocessing():
    assert mode_of(ref(type="depth", preprocess="canny"), 8) == 1
    assert mode_of(ref(preprocess="canny"), 8) == 3
    assert mode_of(ref(preprocess="tile"), 8) == 6
    assert mode_of(ref(preprocess="lines"), 8) == mode_of(ref(preprocess="scribble"), 8) == 2
    for control in (ref(), ref(preprocess="gray")):
        with pytest.raises(UsageError, match=r"must be told what a\.png shows: add type=\.\.\. with one of openpose"):
            mode_of(control, 8)


def test_what_a_smaller_union_does_not_know():
    with pytest.raises(UsageError, match="does not know type=tile; it knows .*segment$"):
        mode_of(ref(type="tile"), 6)
