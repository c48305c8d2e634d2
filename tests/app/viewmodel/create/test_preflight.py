"""The plan is that of the newest request, and an engine that cannot be asked says so."""

import pytest
from create_page import FakeLife
from fake_service import FakeService
from hypothesis import given
from hypothesis import strategies as st
from made_plans import GB, plan

from mezzotint.protocol import DeviceInfo, EngineInfo, PlanRequest
from mezzotint_app.amounts import about_text
from mezzotint_app.viewmodel.create.preflight import Preflight

CARD = DeviceInfo(id="cuda:0", name="card", memory_bytes=8 * GB)
CPU = DeviceInfo(id="cpu", name="processor", memory_bytes=16 * GB)


def info(*devices):
    return EngineInfo(schema_version=1, version="0", versions={}, devices=devices, threads=1)


def wanted(width=64, model="m"):
    return PlanRequest(models=(model,), width=width, height=64)


@pytest.fixture
def preflight(service, qapp):
    return Preflight(service, FakeLife(info=info(CPU, CARD)))


def test_the_newest_is_planned_after_a_moment(preflight, service, qtbot):
    for width in (64, 72, 80):
        preflight.set(wanted(width))
    assert preflight.state() == "asking"
    qtbot.waitUntil(lambda: bool(service.asked))
    assert [one.params.width for one in service.asked] == [80]
    service.answer(plan())
    assert preflight.state() == "planned"
    assert preflight.line().startswith("Needs 3.6 GB of 8.0 GB VRAM")
    assert preflight.reasons() == ("needs 9.1 GB with everything loaded",)
    assert preflight.fits()
    preflight.set(wanted(80))
    assert len(service.asked) == 1


def test_a_plan_of_before_is_shown_until_the_next_is_there(preflight, service, qtbot):
    preflight.set(wanted(64))
    qtbot.waitUntil(lambda: bool(service.asked))
    preflight.set(wanted(72))
    service.answer(plan(seconds=1.0))
    qtbot.waitUntil(lambda: len(service.asked) == 2)
    assert preflight.state() == "asking"
    assert service.last().params.width == 72
    service.answer(plan(seconds=5.0))
    preflight.set(wanted(80))
    assert preflight.state() == "asking"
    assert "about 5 s" in preflight.line()


def test_a_plan_that_fails_says_why(preflight, service, qtbot):
    preflight.set(wanted())
    qtbot.waitUntil(lambda: bool(service.asked))
    service.fail("model_refused", "The file ends too early.")
    assert (preflight.state(), preflight.line(), preflight.plan()) == ("failed", "The file ends too early.", None)
    assert preflight.segments() == ()


@pytest.mark.parametrize(
    ("state", "reason", "line"),
    [
        ("starting", "", "The engine is starting; the memory plan follows."),
        ("restarting", "The engine ran out of memory.", "The engine ran out of memory."),
        ("given_up", "", "The engine is not running; images wait in the queue."),
        ("given_up", "It died five times.", "It died five times."),
    ],
)
def test_an_engine_that_cannot_be_asked_is_told_of_and_asked_later(service, qtbot, state, reason, line):
    life = FakeLife(state, reason)
    preflight = Preflight(service, life)
    preflight.set(wanted())
    assert (preflight.state(), preflight.line()) == ("waiting", line)
    preflight._ask()
    assert service.asked == []
    life.become("ready", info=info(CARD))
    qtbot.waitUntil(lambda: bool(service.asked))
    service.answer(plan())
    assert preflight.state() == "planned"


def test_no_request_is_no_plan(preflight, service, qtbot):
    preflight.set(wanted())
    qtbot.waitUntil(lambda: bool(service.asked))
    service.answer(plan())
    preflight.set(None)
    assert (preflight.state(), preflight.line(), preflight.plan()) == ("nothing", "", None)


@pytest.mark.parametrize(
    ("devices", "made", "card"),
    [((CPU,), {}, False), ((CPU, CARD), {}, True), ((), {"ram_bytes": 8 * GB}, False), ((), {}, True)],
)
def test_whether_there_is_a_card(service, qtbot, devices, made, card):
    preflight = Preflight(service, FakeLife(info=info(*devices)))
    preflight.set(wanted())
    qtbot.waitUntil(lambda: bool(service.asked))
    service.answer(plan(**made))
    assert preflight.has_card() is card
    assert ("VRAM" in preflight.line()) is card


@given(
    st.lists(st.tuples(st.sampled_from(["set", "clear", "timer", "answer", "fail"]), st.integers(8, 12)), max_size=30)
)
def test_one_question_is_open_and_the_last_plan_is_of_the_last_request(qapp, events):
    service = FakeService()
    preflight = Preflight(service, FakeLife())
    last = None
    for event, width in [*events, *[("timer", 0), ("answer", 0)] * 2]:
        if event == "set":
            last = wanted(width)
            preflight.set(last)
        elif event == "clear":
            last = None
            preflight.set(None)
        elif event == "timer":
            preflight._waiting.stop()
            preflight._ask()
        elif service.open():
            asked = service.open()[0].params
            service.answer(plan(seconds=float(asked.width))) if event == "answer" else service.fail()
        assert len(service.open()) <= 1
    if last is None:
        assert preflight.plan() is None
    elif preflight.state() == "planned":
        assert preflight.plan().seconds == last.width
    else:
        assert preflight.state() == "failed"


def test_the_time_is_that_of_all_images_and_of_earlier_ones_where_there_are(preflight, service, qtbot):
    preflight.set(wanted(64))
    qtbot.waitUntil(lambda: bool(service.asked))
    service.answer(plan(seconds=20.0))
    preflight.expect(30, None)
    assert about_text(600.0) in preflight.line()
    preflight.expect(30, 240.0)
    assert about_text(240.0) in preflight.line()
    preflight.expect(1, None)
    assert about_text(20.0) in preflight.line()
