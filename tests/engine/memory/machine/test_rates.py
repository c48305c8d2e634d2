"""Rates that are measured: here only that they are computed of what was read."""

import itertools
import os

import pytest

from mezzotint.memory.machine.rates import _in_ram, measured_disk

MB = 2**20


def clock(step):
    times = itertools.count(0.0, step)
    return lambda: next(times)


@pytest.fixture
def large(tmp_path):
    path = tmp_path / "weights"
    path.write_bytes(bytes(8 * MB))
    return path


def fresh(*_):
    return False


def test_a_disk_s_rate_is_bytes_over_seconds(large):
    assert measured_disk(large, clock(0.5), fresh) == pytest.approx(16 * MB)


@pytest.mark.parametrize("step", [0.0, 1e-9])
def test_what_came_from_ram_or_too_fast_for_the_clock_says_nothing(large, step):
    assert measured_disk(large, clock(step), lambda *_: None) is None


def test_a_very_fast_disk_is_believed_where_the_system_says_that_it_was_no_ram(large):
    assert measured_disk(large, clock(0.0006), fresh) == pytest.approx(8 * MB / 0.0006)
    assert measured_disk(large, clock(0.0006), lambda *_: None) is None
    assert measured_disk(large, clock(0.5), lambda *_: True) is None


@pytest.mark.skipif(not hasattr(os, "RWF_NOWAIT"), reason="only Linux can be asked what is in RAM")
def test_what_was_written_just_now_is_in_ram(large):
    with open(large, "rb") as file:
        file.read()
        assert _in_ram(file.fileno(), 8 * MB) in (True, None)


def test_small_and_missing_files_say_nothing(tmp_path):
    (tmp_path / "small").write_bytes(b"x")
    assert measured_disk(tmp_path / "small", clock(1.0)) is None
    assert measured_disk(tmp_path / "none", clock(1.0)) is None
    assert measured_disk(tmp_path, clock(1.0)) is None


@pytest.mark.gpu
def test_a_card_s_link_is_measured():
    from mezzotint.memory.machine.rates import measured_link

    link = measured_link("cuda:0")
    assert link is not None
    assert link.pageable > 1e9
    assert link.pinned > 1e9
