"""What the monitor notes of a thread, by clocks that the test sets."""

import io
import sys
from pathlib import Path

import pytest
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtCore import QTimer  # noqa: E402

BENCH = Path(__file__).parents[2] / "bench"


class Clock:
    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def clocks():
    return {"now": Clock(), "worked": Clock(), "kept": Clock()}


@pytest.fixture
def monitor(script, qapp, clocks):
    made = script.StallMonitor(**clocks)
    made.stop()  # the test beats
    return made


def test_the_longest_gap_is_told_with_what_it_was_spent_on(monitor, clocks):
    with monitor.watch("a scene") as watched:
        for away, worked, kept in ((0.004, 0.001, 0), (0.104, 0.03, 0.06), (0.064, 0.06, 0)):
            clocks["now"].seconds += away
            clocks["worked"].seconds += worked
            clocks["kept"].seconds += kept
            monitor.beat()
    told = watched.told()
    assert (told["name"], round(told["gap"]), round(told["work"]), round(told["kept"])) == ("a scene", 100, 30, 60)
    assert told["slow"] == 2
    assert round(told["own"]) == 60  # of the third, for which nobody else can be blamed


def test_what_happens_outside_of_a_scene_is_not_noted(monitor, clocks):
    with monitor.watch("one"):
        pass
    clocks["now"].seconds += 5
    monitor.beat()
    with monitor.watch("two"):
        monitor.beat()
    assert [max(gap for gap, *_ in one.gaps) < 1 for one in monitor.all if one.gaps] == [True]


def test_an_input_is_late_by_the_time_from_when_it_was_due(monitor, clocks):
    def takes(seconds):
        def act():
            clocks["now"].seconds += seconds

        return act

    with monitor.watch("typing") as watched:
        monitor.rest = lambda milliseconds=0: takes(milliseconds / 1000)()
        monitor.act([takes(0.010), takes(0.250), takes(0.010)], 100)
    assert watched.inputs == pytest.approx([10, 250, 160], abs=2)  # the third had to wait for the second


def test_a_scene_in_which_nothing_was_done_has_no_inputs(monitor):
    with monitor.watch("rest") as watched:
        pass
    assert watched.told()["inputs"] == 0


def test_waiting_goes_on_until_it_is_so_or_says_for_what(monitor):
    there = []
    QTimer.singleShot(30, lambda: there.append(1))
    monitor.wait("it", lambda: there)
    with pytest.raises(TimeoutError, match="in vain for the moon"):
        monitor.wait("the moon", lambda: False, seconds=0.05)


def test_a_long_gap_is_explained_by_where_the_threads_are(script, qapp, clocks, monkeypatch):
    monitor, file = script.StallMonitor(**clocks), io.StringIO()
    monitor.stop()
    looks = iter(range(3))

    def sleep(_seconds):
        if next(looks, None) is None:
            raise SystemExit

    monkeypatch.setattr(script.time, "sleep", sleep)
    with monitor.watch("a scene"), pytest.raises(SystemExit):
        clocks["now"].seconds += 0.2
        monkeypatch.setattr(script.threading, "get_ident", lambda: -1)  # as if from another thread
        monitor._look(file, next(iter(sys._current_frames())))
    assert file.getvalue().count("==== a scene: 200 ms") == 1
    assert "test_stalls.py" in file.getvalue()
