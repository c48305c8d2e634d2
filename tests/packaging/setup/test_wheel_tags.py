"""Which wheels fit a Python and a system."""

import pytest
from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename

from mezzotint_setup.wheel_tags import Target, this_target

LINUX = Target(python=(3, 12), platform="linux_x86_64", system=(2, 36))
MAC = Target(python=(3, 12), platform="macosx_11_0_arm64", system=(14, 5))
WINDOWS = Target(python=(3, 12), platform="win_amd64")


@pytest.mark.parametrize(
    ("target", "tags", "fits"),
    [
        (LINUX, "py3-none-any", True),
        (LINUX, "py2.py3-none-any", True),
        (LINUX, "cp312-cp312-manylinux_2_28_x86_64", True),
        (LINUX, "cp312-cp312-manylinux2014_x86_64", True),
        (LINUX, "cp38-abi3-manylinux1_x86_64.manylinux_2_34_x86_64", True),
        (LINUX, "cp312-cp312-manylinux_2_39_x86_64", False),
        (LINUX, "cp312-cp312-manylinux_2_28_aarch64", False),
        (LINUX, "cp312-cp312-musllinux_1_2_x86_64", False),
        (LINUX, "cp313-cp313-manylinux_2_28_x86_64", False),
        (LINUX, "cp313-abi3-manylinux_2_28_x86_64", False),
        (LINUX, "cp312-cp312t-manylinux_2_28_x86_64", False),
        (LINUX, "cp312-cp312-win_amd64", False),
        (LINUX, "py3-none-linux_x86_64", True),
        (WINDOWS, "cp312-cp312-win_amd64", True),
        (WINDOWS, "cp312-cp312-win_arm64", False),
        (MAC, "cp312-cp312-macosx_14_0_arm64", True),
        (MAC, "cp312-cp312-macosx_10_13_universal2", True),
        (MAC, "cp312-cp312-macosx_15_0_arm64", False),
        (MAC, "cp312-cp312-macosx_11_0_x86_64", False),
    ],
)
def test_what_fits(target, tags, fits):
    assert (target.rank(f"torch-2.13.0-{tags}.whl") is not None) == fits


def test_the_closest_is_best():
    names = ["cp312-cp312-manylinux_2_28_x86_64", "cp310-abi3-manylinux_2_28_x86_64", "cp39-abi3-manylinux_2_28_x86_64"]
    ranks = [LINUX.rank(f"a-1-{tags}.whl") for tags in [*names, "py3-none-manylinux_2_28_x86_64", "py3-none-any"]]
    assert ranks == sorted(ranks) and len(set(ranks)) == 5


@pytest.mark.parametrize("name", ["a.whl", "a-1.tar.gz", "a-1-py3-none-any.zip", ""])
def test_other_files_do_not_fit(name):
    assert LINUX.rank(name) is None


def test_this_python_agrees_with_packaging():
    minor = this_target().python[1]
    known = set(sys_tags())
    for tags in (
        f"cp3{minor}-cp3{minor}-manylinux_2_17_x86_64",
        f"cp3{minor}-cp3{minor}-win_amd64",
        "cp39-abi3-manylinux2014_x86_64",
        "py3-none-any",
        f"cp3{minor + 1}-cp3{minor + 1}-manylinux_2_17_x86_64",
    ):
        name = f"a-1-{tags}.whl"
        assert (this_target().rank(name) is not None) == bool(parse_wheel_filename(name)[3] & known), tags
