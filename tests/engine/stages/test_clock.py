"""Wall time by phase and step."""

import time

import pytest

from mezzotint.stages.clock import Clock


@pytest.fixture
def moved(monkeypatch):
    """Moves the time."""
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    def move(seconds):
        now[0] += seconds

    return move


def test_phases_add_up(moved):
    clock = Clock()
    for _ in range(2):
        with clock.phase("encode"):
            moved(1)
        with clock.stage(1):
            moved(3)
    moved(5)
    found = clock.timings(2)
    assert (found.encode, found.denoise, found.decode, found.total) == (2, (0, 6), 0, 13)


def test_the_first_step_of_each_image_is_not_counted(moved):
    clock = Clock()
    for _ in range(2):
        with clock.stage(0):
            for seconds in (9, 1, 2):
                moved(seconds)
                clock.step(0)
        with clock.stage(1):
            moved(7)
            clock.step(1)
            moved(4)
            clock.step(1)
    assert clock.steps == {0: [1, 2, 1, 2], 1: [4, 4]}
