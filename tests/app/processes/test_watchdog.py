"""Silence is counted, questions are asked after, and sleep of the machine is nobody's silence."""

import pytest
from fake_clock import FakeClock

from mezzotint.protocol import Loading
from mezzotint_app.processes import deadlines, watchdog
from mezzotint_app.processes.watchdog import Watchdog

LOADING = Loading(model="m", component="unet", bytes_done=0, bytes_total=0)


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def heard():
    return []


@pytest.fixture
def watch(clock, heard):
    return Watchdog(clock, ping=lambda: heard.append("ping"), hung=heard.append)


def test_a_start_without_an_answer_is_hung(watch, clock, heard):
    watch.start()
    clock.advance(watchdog.HANDSHAKE)
    assert heard == []
    clock.advance(2)
    assert heard == ["it was starting"]
    clock.advance(10_000)
    assert len(heard) == 1


def test_one_that_is_asked_nothing_is_left_alone_and_costs_nothing(watch, clock, heard):
    watch.start()
    watch.on_message()
    clock.advance(10_000)
    assert heard == [] and clock.waiting() == 0


def test_a_question_without_an_answer_is_asked_after_and_then_hung(watch, clock, heard):
    watch.start()
    watch.on_message()
    watch.on_call(1, "plan")
    clock.advance(watchdog.QUIET + 2)
    assert heard == ["ping"]
    clock.advance(watchdog.PONG + 2)
    assert heard == ["ping", "it was handling a request"]


def test_a_question_that_takes_long_is_waited_for_while_the_process_hears(watch, clock, heard):
    watch.start()
    watch.on_message()
    watch.on_call(1, "plan")
    for _ in range(100):
        clock.advance(watchdog.QUIET + 2)
        assert heard.pop() == "ping" and not heard
        watch.on_message()
    watch.on_answer(1)
    clock.advance(1000)
    assert heard == [] and clock.waiting() == 0


def test_a_silent_job_is_hung_though_other_questions_are_answered(watch, clock, heard):
    watch.start()
    watch.on_message()
    watch.on_call(1, "drain")
    watch.on_event(1, LOADING)
    for number in range(2, round(deadlines.LOADING) + 1):
        watch.on_call(number, "memory")
        clock.advance(1)
        watch.on_answer(number)
    assert heard == []
    clock.advance(3)
    assert heard == ["it was loading a model"]


def test_a_job_that_tells_something_now_and_then_goes_on(watch, clock, heard):
    watch.start()
    watch.on_message()
    watch.on_call(1, "drain")
    for _ in range(50):
        watch.on_event(1, LOADING)
        clock.advance(deadlines.LOADING - 1)
    assert heard == []


def test_a_job_that_does_not_stop_is_hung_a_minute_after_it_was_asked(watch, clock, heard):
    watch.start()
    watch.on_message()
    watch.on_call(1, "drain")
    clock.advance(300)
    watch.on_stop_requested(1)
    clock.advance(deadlines.STOPPING)
    assert heard == []
    clock.advance(2)
    assert heard == ["it was preparing a job"]


def test_a_machine_that_sleeps_hangs_nobody(watch, clock, heard):
    watch.start()
    watch.on_message()
    watch.on_call(1, "drain")
    watch.on_event(1, LOADING)
    for _ in range(10):
        clock.jump(10_000)
    assert heard == []


def test_after_the_end_nothing_is_told(watch, clock, heard):
    watch.start()
    watch.on_message()
    watch.on_call(1, "drain")
    watch.stop()
    clock.advance(100_000)
    assert heard == [] and clock.waiting() == 0
