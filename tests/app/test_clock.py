"""Things are done later, in their order, once, and not at all when they were called off."""

from functools import partial

import pytest
from fake_clock import FakeClock
from hypothesis import given
from hypothesis import strategies as st

from mezzotint_app.clock import RepeatingTimer, SystemClock

pytestmark = pytest.mark.requires_package("PySide6")


def test_what_is_due_first_is_done_first(qtbot):
    clock, done = SystemClock(), []
    for number, seconds in ((3, 0.03), (1, 0.0), (2, 0.01)):
        clock.after(seconds, partial(done.append, number))
    qtbot.waitUntil(lambda: len(done) == 3)
    assert done == [1, 2, 3]


def test_nothing_is_done_inside_of_asking_for_it(qtbot):
    clock, done = SystemClock(), []
    clock.after(0, lambda: done.append(1))
    assert done == []
    qtbot.waitUntil(lambda: done == [1])


def test_what_is_called_off_is_not_done(qtbot):
    clock, done = SystemClock(), []
    waits = [clock.after(0.001 * number, partial(done.append, number)) for number in range(6)]
    for wait in waits[:-1]:
        wait.stop()
        wait.stop()
    qtbot.waitUntil(lambda: done == [5])
    waits[-1].stop()


def test_what_is_done_may_ask_for_more_and_fail(qtbot, monkeypatch):
    clock, done = SystemClock(), []

    def first():
        clock.after(0, lambda: done.append(2))
        done.append(1)
        raise ValueError("a bug elsewhere")

    with qtbot.captureExceptions() as errors:
        clock.after(0, first)
        qtbot.waitUntil(lambda: done == [1, 2])
    assert [kind for kind, *_ in errors] == [ValueError]


def test_a_clock_may_go_while_it_is_at_work(qtbot):
    """Its owner may be known by nobody but by what it is about to do."""

    class Owner:
        def __init__(self):
            self.clock = SystemClock()
            self.clock.after(0, self.done)

        def done(self):
            finished.append(1)

    finished = []
    for _ in range(50):
        Owner()
    qtbot.wait(1)
    kept = SystemClock()
    with qtbot.waitCallback() as called:
        kept.after(0.01, called)
    assert set(finished) <= {1}


def test_its_time_goes_on():
    clock = SystemClock()
    assert clock.now() <= clock.now()


@given(st.lists(st.sampled_from(["start", "stop", "wait"]), max_size=20))
def test_every_is_done_once_a_period_while_it_runs(steps):
    clock, done = FakeClock(), []
    every = RepeatingTimer(clock, 1.0, lambda: done.append(clock.now()))
    expected = 0
    for step in steps:
        if step == "wait":
            clock.advance(3)
            expected += 3 if every.runs() else 0
        else:
            getattr(every, step)()
            assert every.runs() == (step == "start")
    assert len(done) == expected
    every.stop()
    assert clock.waiting() == 0


def test_every_can_be_stopped_by_what_it_does():
    clock, done = FakeClock(), []
    every = RepeatingTimer(clock, 1.0, lambda: (done.append(1), every.stop()))
    every.start()
    clock.advance(10)
    assert done == [1] and not every.runs()
