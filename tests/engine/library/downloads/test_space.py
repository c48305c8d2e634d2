"""Room on the disk."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from mezzotint.library.downloads.space import free_bytes, why_no_room


def test_of_a_folder_that_is_not_there_yet(tmp_path):
    assert free_bytes(tmp_path / "a" / "b") > 0


@given(st.integers(1, 2**45), st.integers(0, 2**46))
def test_some_is_always_left(coming, free):
    if why_no_room(coming, free, Path("/x")) is None:
        assert free - coming >= 256 * 2**20
    else:
        assert why_no_room(coming, 2 * free + 2**50, Path("/x")) is None


def test_both_figures_are_told():
    told = why_no_room(7 * 2**30, 3 * 2**30, Path("/models"))
    assert "/models" in told and "7.3 GB are needed" in told and "3.0 GB are free" in told


def test_nothing_to_come_needs_no_room():
    assert why_no_room(0, 0, Path("/x")) is None
