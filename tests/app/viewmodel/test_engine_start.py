"""The time that a start still takes is told from the last one, and never made up."""

import pytest
from fake_clock import FakeClock
from fake_supervised import FakeSupervised
from hypothesis import given
from hypothesis import strategies as st

from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.engine_start import EngineStart
from mezzotint_app.window_state import WindowState

pytestmark = pytest.mark.requires_package("PySide6")


class Start:
    def __init__(self, folder, inline, seconds=0.0):
        self.engine, self.clock = FakeSupervised(), FakeClock()
        self.engine.now = "stopped"
        self.past = Stored(folder / "layout.json", WindowState(engine_seconds=seconds), inline)
        self.start = EngineStart(self.engine, self.clock, self.past)
        self.changes = []
        self.start.changed.connect(lambda: self.changes.append(self.start.seconds_left()))


def test_the_first_start_is_learned_from_and_the_next_counts_down(tmp_path, inline):
    made = Start(tmp_path, inline)
    made.engine.become("starting")
    made.clock.advance(3)
    made.engine.become("ready")
    made.clock.advance(1)
    assert made.start.goes_on() and made.start.seconds_left() is None
    made.start.devices_known()
    assert not made.start.goes_on() and made.past.value().engine_seconds == 4.0
    made.engine.become("restarting")
    made.changes.clear()
    made.clock.advance(6)
    assert made.changes == [3.0, 2.0, 1.0, None, None, None]


def test_the_first_job_has_a_start_of_its_own(tmp_path, inline):
    made = Start(tmp_path, inline)
    made.engine.become("starting")
    made.start.devices_known()
    made.start.job_began()
    made.clock.advance(7)
    made.start.job_told()
    assert not made.start.goes_on() and made.past.value().libraries_seconds == 7.0
    made.start.job_ended()
    made.start.job_began()  # the next one finds them read
    assert not made.start.goes_on() and made.clock.waiting() == 0


def test_a_job_that_waits_for_the_devices_too_is_told_of_both_parts(tmp_path, inline):
    made = Start(tmp_path, inline, seconds=4.0)
    made.past.change(libraries_seconds=7.0)
    made.engine.become("starting")
    made.engine.become("ready")
    made.start.job_began()
    made.clock.advance(1)
    assert made.start.seconds_left() == 10.0
    made.start.devices_known()
    made.clock.advance(2)
    assert made.start.seconds_left() == 5.0
    made.start.job_ended()  # stopped before it told anything: nothing is learned
    assert not made.start.goes_on() and made.past.value().libraries_seconds == 7.0
    made.start.job_began()
    assert made.start.goes_on()


def test_a_start_that_came_to_nothing_teaches_nothing(tmp_path, inline):
    for end in ("stopped", "given_up"):
        made = Start(tmp_path, inline, seconds=8.0)
        made.engine.become("starting")
        made.clock.advance(2)
        assert made.start.seconds_left() == 6.0
        made.engine.become(end)
        assert not made.start.goes_on() and made.start.seconds_left() is None
        assert made.clock.waiting() == 0
        made.start.devices_known()
        made.engine.become("starting")
        made.start.devices_known(worked=False)
        assert made.past.value().engine_seconds == 8.0


STEPS = ["starting", "ready", "restarting", "given_up", "stopped", "devices", "job_began", "job_told", "job_ended"]


@given(st.lists(st.tuples(st.sampled_from(STEPS), st.floats(0, 100)), max_size=30))
def test_whatever_happens_it_ends_and_leaves_no_timer(tmp_path_factory, steps):
    made = Start(tmp_path_factory.mktemp("x"), Inline())
    for step, seconds in [*steps, ("stopped", 1)]:
        if step == "devices":
            made.start.devices_known()
        elif step.startswith("job"):
            getattr(made.start, step)()
        else:
            made.engine.become(step)
        made.clock.advance(seconds)
        left = made.start.seconds_left()
        assert left is None or left > 0
        assert made.clock.waiting() == made.start.goes_on()
    assert not made.start.goes_on()


@given(st.floats(-1e9, 1e9), st.floats(0, 1e5))
def test_time_left_is_never_negative(tmp_path_factory, usual, passed):
    made = Start(tmp_path_factory.mktemp("x"), None, seconds=usual)
    made.engine.become("starting")
    made.clock._now += passed
    left = made.start.seconds_left()
    assert left is None or 0 < left <= usual


class Inline:
    def run(self, work, then=None, failed=None):
        value = work()
        if then is not None:
            then(value)
