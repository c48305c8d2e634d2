"""What the window shows of the engine: nothing is asked that need not be, and nothing is changed unasked."""

import pytest
from fake_clock import FakeClock
from fake_supervised import FakeSupervised
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QObject, Signal

from mezzotint.protocol import PLANNING, DeviceInfo, EngineInfo, Loading, MemoryNow, Notice, Step
from mezzotint_app.processes.service import Failure
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.engine_state import DEATHS, EngineState
from mezzotint_app.window_state import WindowState

pytestmark = pytest.mark.requires_package("PySide6")

GB = 1 << 30
CPU = DeviceInfo(id="cpu", name="Slow and steady", memory_bytes=16 * GB)
CARD = DeviceInfo(id="cuda:0", name="A card", memory_bytes=8 * GB)
OTHER_CARD = DeviceInfo(id="cuda:1", name="Another card", memory_bytes=8 * GB)
MEMORY = MemoryNow(
    ram_bytes=1, ram_free_bytes=2, ram_total_bytes=3, vram_bytes=None, vram_free_bytes=None, vram_total_bytes=None
)
DEATH = Failure(kind="gone", message="The engine crashed.")


class Jobs(QObject):
    started = Signal(object)
    progressed = Signal(object, object)
    ended = Signal(object, object, object)

    def __init__(self):
        super().__init__()
        self.stops = 0

    def stop_now(self):
        self.stops += 1


class Shown:
    def __init__(self, folder, inline, **settings):
        self.engine, self.jobs, self.clock = FakeSupervised(), Jobs(), FakeClock()
        self.settings = Stored(folder / "settings.json", Settings(**settings), inline)
        self.state = EngineState(self.engine, self.jobs, self.settings, self.clock)
        self.changes = []
        self.state.changed.connect(lambda: self.changes.append(self.state.text()))

    def know(self, *devices):
        self.engine.known = info(*devices)

    def die(self, times=1):
        for _ in range(times):
            self.jobs.started.emit("a task")
            self.engine.become("restarting")
            self.jobs.ended.emit("a task", None, DEATH)
            self.engine.become("ready")

    def load(self, done, total=10 * GB):
        self.jobs.progressed.emit("a task", Loading(model="m", component="unet", bytes_done=done, bytes_total=total))


def info(*devices):
    return EngineInfo(schema_version=1, version="1", versions={}, devices=devices, threads=1)


@pytest.fixture
def shown(tmp_path, inline):
    return Shown(tmp_path, inline)


def test_the_state_is_told_in_words(shown):
    texts = set()
    shown.know(CARD)
    for state in ("starting", "ready", "restarting", "given_up", "stopped"):
        shown.engine.become(state)
        texts.add(shown.state.text())
    assert len(texts) == 5 and shown.changes[-1] == shown.state.text()


def test_the_device_is_asked_for_once_it_is_ready_and_no_more_when_it_is_known(shown):
    shown.engine.become("starting")
    assert shown.engine.asked == []
    shown.engine.become("ready")
    assert shown.state.device() == ""
    shown.know(CARD, CPU)
    shown.engine.answer(info(CARD, CPU), method="info")
    assert shown.state.device() == "A card" and "A card" in shown.changes[-1]
    shown.engine.become("ready")
    assert shown.engine.methods() == ["info"]


@pytest.mark.parametrize(
    ("device", "name"),
    [("auto", "A card"), ("cuda", "A card"), ("cuda:1", "Another card"), ("cpu", "Slow and steady"), ("mps", "A card")],
)
def test_the_device_is_that_of_the_settings(tmp_path, inline, device, name):
    shown = Shown(tmp_path, inline, device=device)
    shown.know(CARD, OTHER_CARD, CPU)
    assert shown.state.device() == name


def test_memory_is_asked_for_each_second_while_a_job_runs_and_never_otherwise(shown):
    shown.clock.advance(100)
    assert shown.engine.asked == [] and shown.clock.waiting() == 0
    shown.jobs.started.emit("a task")
    for _ in range(5):
        shown.engine.answer(MEMORY, method="memory")
        assert shown.state.memory == MEMORY
        shown.clock.advance(1)
    shown.jobs.ended.emit("a task", "a result", None)
    assert shown.state.memory is None
    asked = len(shown.engine.asked)
    shown.engine.answer(MEMORY, method="memory")
    shown.clock.advance(100)
    assert shown.state.memory is None and len(shown.engine.asked) == asked == 6
    assert shown.clock.waiting() == 0


def test_a_slow_engine_is_asked_no_second_time(shown):
    shown.jobs.started.emit("a task")
    shown.clock.advance(100)
    assert shown.engine.methods() == ["memory"]
    shown.engine.fail("failed", method="memory")
    shown.clock.advance(1)
    assert shown.engine.methods() == ["memory", "memory"]


def test_when_the_engine_dies_memory_is_asked_for_no_more(shown):
    shown.jobs.started.emit("a task")
    shown.engine.die()
    shown.clock.advance(100)
    assert shown.engine.methods() == ["memory"] and not shown.state.works()


def test_loading_is_told_with_the_time_that_is_left(shown):
    assert shown.state.loading() is None
    shown.jobs.started.emit("a task")
    shown.load(0)
    assert shown.state.loading().seconds_left is None
    shown.clock.advance(2)
    shown.load(2 * GB)
    loading = shown.state.loading()
    assert (loading.model, loading.bytes_done, loading.bytes_total) == ("m", 2 * GB, 10 * GB)
    assert loading.seconds_left == pytest.approx(8)
    shown.load(10 * GB)
    assert shown.state.loading() is None


@given(st.lists(st.tuples(st.integers(0, 10**12), st.floats(0, 60)), max_size=10), st.integers(0, 10**12))
def test_time_left_is_never_negative_nor_made_up(tmp_path_factory, events, total):
    shown = Shown(tmp_path_factory.mktemp("x"), None)
    shown.jobs.started.emit("a task")
    for done, seconds in events:
        shown.load(done, total)
        shown.clock.advance(seconds)
        loading = shown.state.loading()
        assert loading is None or loading.seconds_left is None or loading.seconds_left >= 0


def test_loading_ends_with_the_first_step_and_with_the_engine(shown):
    step = Step(image=0, images=1, stage=0, stages=1, step=1, steps=2, sigma=1.0, preview=None)
    for end in (lambda: shown.jobs.progressed.emit("a task", step), shown.engine.die):
        shown.engine.now = "ready"
        shown.jobs.started.emit("a task")
        shown.load(GB)
        assert shown.state.loading() is not None
        end()
        assert shown.state.loading() is None


def test_loading_can_be_cancelled_and_only_loading(shown):
    shown.know(CARD)
    shown.state.cancel()
    assert shown.jobs.stops == 0
    shown.jobs.started.emit("a task")
    assert not shown.state.can_cancel()
    shown.load(GB)
    assert shown.state.can_cancel()
    shown.state.cancel()
    assert shown.jobs.stops == 1 and shown.engine.now == "ready"


@pytest.mark.parametrize("state", ["starting", "restarting", "ready"])
def test_a_start_can_be_cancelled_until_the_engine_knows_its_devices(shown, state):
    shown.engine.become("starting")
    shown.engine.become(state)
    assert shown.state.is_starting() and shown.state.can_cancel() and not shown.state.is_put_off()
    shown.state.cancel()
    assert shown.engine.now == "stopped" and shown.state.is_put_off() and not shown.state.can_cancel()
    shown.state.start()
    assert not shown.state.is_put_off()


def test_a_start_is_over_when_the_devices_are_known_or_cannot_be_told(shown):
    for end in (lambda: shown.engine.answer(info(CARD), method="info"), lambda: shown.engine.fail(method="info")):
        shown.engine.become("starting")
        starting = shown.state.text()
        shown.engine.become("ready")
        assert shown.state.text() == starting and shown.state.is_starting()
        end()
        assert shown.state.text() != starting and not shown.state.is_starting() and not shown.state.can_cancel()
        shown.state.cancel()
        assert shown.engine.now == "ready"


def test_while_a_job_waits_for_the_start_the_engine_is_not_stopped_under_it(shown):
    shown.engine.become("starting")
    shown.engine.become("ready")
    shown.jobs.started.emit("a task")
    assert shown.state.is_starting() and not shown.state.can_cancel()
    shown.state.cancel()
    assert shown.engine.now == "ready"


def test_bytes_and_time_left_of_loading_are_told_in_the_line(shown):
    shown.jobs.started.emit("a task")
    shown.load(0)
    assert shown.state.text().endswith("10.0 GB")
    shown.clock.advance(2)
    shown.load(2 * GB)
    assert "2.0 GB of 10.0 GB" in shown.state.text() and "8 s" in shown.state.text()
    shown.jobs.progressed.emit("a task", Loading(model=PLANNING, component="unet", bytes_done=50, bytes_total=100))
    assert "bytes" not in shown.state.text() and PLANNING not in shown.state.text()


def test_the_line_counts_down_a_start(tmp_path, inline):
    shown = Shown(tmp_path, inline)
    past = Stored(tmp_path / "layout.json", WindowState(engine_seconds=5.0), inline)
    state = EngineState(shown.engine, shown.jobs, shown.settings, shown.clock, past=past)
    changes = []
    state.changed.connect(lambda: changes.append(state.text()))
    shown.engine.become("starting")
    shown.clock.advance(1)
    assert "4 s" in changes[-1]
    shown.clock.advance(5)
    assert not any(character.isdigit() for character in changes[-1])


def test_after_two_deaths_torch_s_attention_is_offered_and_then_the_processor(shown):
    shown.know(CARD, CPU)
    offers = []
    shown.state.offer_changed.connect(lambda: offers.append(shown.state.offer()))
    shown.die()
    assert shown.state.offer() is None and shown.state.offer_text() == ""
    shown.die()
    assert shown.state.offer() == "sdpa" and shown.state.offer_text()
    assert shown.settings.value() == Settings(), "nothing is changed unasked"
    shown.state.take_offer()
    assert shown.settings.value().attention == "sdpa" and shown.state.offer() is None
    shown.die(DEATHS)
    assert shown.state.offer() == "cpu"
    shown.state.take_offer()
    assert (shown.settings.value().device, shown.settings.value().attention) == ("cpu", "sdpa")
    shown.die(10)
    assert shown.state.offer() is None
    assert offers == ["sdpa", None, "cpu", None]


def test_an_offer_that_is_refused_changes_nothing_and_comes_back(shown):
    shown.know(CARD, CPU)
    shown.die(2)
    shown.state.refuse_offer()
    assert shown.settings.value() == Settings() and shown.state.offer() is None
    shown.die()
    assert shown.state.offer() is None
    shown.die()
    assert shown.state.offer() == "sdpa"


def test_an_image_that_came_out_forgets_earlier_deaths(shown):
    shown.know(CARD, CPU)
    for _ in range(5):
        shown.die()
        shown.jobs.ended.emit("a task", "a result", None)
    assert shown.state.offer() is None


def test_failures_that_leave_the_engine_alive_are_no_deaths(shown):
    shown.know(CARD, CPU)
    for _ in range(5):
        shown.jobs.ended.emit("a task", None, Failure(kind="out_of_memory", message="x"))
    assert shown.state.offer() is None
    for _ in range(5):
        shown.engine.now = "stopped"
        shown.jobs.ended.emit("a task", None, DEATH)
    assert shown.state.offer() is None


def test_where_there_is_only_a_processor_nothing_is_offered(shown):
    shown.know(CPU)
    shown.die(10)
    assert shown.state.offer() is None


def test_an_offer_taken_after_it_was_given_up_starts_it_again(shown):
    shown.know(CARD, CPU)
    shown.die(2)
    shown.engine.become("given_up")
    shown.state.take_offer()
    assert shown.engine.restarts == 1


def test_the_log_and_the_reason_are_those_of_the_engine(shown):
    shown.engine.words = "The engine crashed."
    told = []
    shown.state.log_changed.connect(lambda: told.append(1))
    shown.engine.logged.emit("a line")
    assert shown.state.log() == ("a line",) and told == [1]
    assert shown.state.reason() == "The engine crashed."


def test_notices_are_no_loading(shown):
    shown.jobs.progressed.emit("a task", Notice(code="a", message="b"))
    assert shown.state.loading() is None
