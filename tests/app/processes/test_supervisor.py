"""When a process is started again, when it is given up, and what is said then. No process and no waiting here."""

import pytest
from fake_clock import FakeClock
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QObject, Signal

from mezzotint.protocol import SCHEMA_VERSION, EngineInfo, Loading, MemoryNow, Notice
from mezzotint.queue_protocol import TaskBegun
from mezzotint_app.processes import deadlines, supervisor, watchdog
from mezzotint_app.processes.process_exit import ProcessExit
from mezzotint_app.processes.service import Failure
from mezzotint_app.processes.supervisor import Supervisor

GB = 1 << 30
CRASH = ProcessExit(kind="crashed", code=11)


class FakeProcess(QObject):
    """What the test says, when it says it; open calls are told before the end, as by the real one."""

    ended = Signal(object)
    logged = Signal(object)

    def __init__(self):
        super().__init__()
        self.asked, self.calls, self.cancelled, self.doing = [], {}, [], "new"
        self.killed: ProcessExit | None = None

    def start(self):
        self.doing = "started"

    def send(self, pending):
        call = len(self.asked) + 1
        self.asked.append((pending.method, pending.params))
        self.calls[call] = (pending.method, pending.then, pending.failed, pending.on_event)
        return call

    def cancel(self, call):
        self.cancelled.append(call)

    def stop(self):
        self.doing = "stopping"

    def kill(self, kind, detail=""):
        self.killed = ProcessExit(kind=kind, detail=detail)

    def finish(self, milliseconds):
        self.end(ProcessExit(kind="stopped"))

    def process_id(self):
        return 77

    def answer(self, method, value):
        _, then, _, _ = self.take(method)
        if then is not None:
            then(value)

    def refuse(self, method, kind="failed", message="no"):
        _, _, failed, _ = self.take(method)
        failed(Failure(kind=kind, message=message))

    def tell(self, method, event):
        call = next(call for call, one in self.calls.items() if one[0] == method)
        self.calls[call][3](event)

    def take(self, method):
        return self.calls.pop(next(call for call, one in self.calls.items() if one[0] == method))

    def end(self, ending=None):
        ending = ending or self.killed or CRASH
        calls, self.calls = self.calls, {}
        for _, _, failed, _ in calls.values():
            if failed is not None:
                failed(Failure(kind="gone", message="it stopped before it responded"))
        self.doing = "ended"
        self.ended.emit(ending)


class Watched:
    """A supervisor, its processes, and what callers were told."""

    def __init__(self):
        self.clock = FakeClock()
        self.made = []
        self.supervisor = Supervisor("The engine", self._make, self.clock)
        self.told = []
        self.states = []
        self.supervisor.changed.connect(lambda: self.states.append(self.supervisor.state()))

    def _make(self):
        self.made.append(FakeProcess())
        return self.made[-1]

    @property
    def process(self):
        return self.made[-1]

    @property
    def state(self):
        return self.supervisor.state()

    def ask(self, method="plan", **words):
        number = len(self.told)
        self.told.append(None)

        def tell(value):
            assert self.told[number] is None, "a call is told once"
            self.told[number] = value

        self.supervisor.ask(method, then=tell, failed=tell, **words)
        return number

    def ready(self):
        self.supervisor.start()
        self.process.answer("initialize", info())
        return self

    def crash(self, ending=None):
        self.process.end(ending)
        self.clock.settle()


def info(version=SCHEMA_VERSION, devices=()):
    return EngineInfo(schema_version=version, version="1", versions={}, devices=devices, threads=1)


@pytest.fixture
def watched():
    return Watched()


def test_it_begins_with_a_handshake(watched):
    watched.supervisor.start()
    assert (watched.state, watched.process.doing) == ("starting", "started")
    assert watched.process.asked == [("initialize", {"schema_version": SCHEMA_VERSION})]
    watched.process.answer("initialize", info())
    assert watched.state == "ready" and watched.supervisor.info() == info()
    assert watched.states == ["starting", "ready"]
    watched.supervisor.start()
    assert len(watched.made) == 1


def test_questions_wait_for_the_process_in_their_order(watched):
    watched.supervisor.start()
    watched.ask("one")
    watched.ask("two", params={"a": 1})
    assert len(watched.process.asked) == 1
    watched.process.answer("initialize", info())
    assert watched.process.asked[1:] == [("one", None), ("two", {"a": 1})]
    watched.process.answer("two", 2)
    watched.process.answer("one", 1)
    assert watched.told == [1, 2]


def test_a_process_that_dies_fails_its_calls_with_the_reason(watched):
    watched.ready()
    watched.ask("drain")
    watched.process.end(CRASH)
    assert watched.told[0].kind == "gone"
    assert watched.told[0].message == watched.supervisor.reason() != ""
    assert watched.state == "restarting"


def test_whoever_is_told_that_it_died_finds_the_state_that_followed(watched):
    watched.ready()
    states = []
    watched.supervisor.ask("drain", failed=lambda _: states.append(watched.state))
    watched.process.end(CRASH)
    assert states == ["restarting"]


def test_it_is_started_again_after_one_two_four_and_eight_seconds_and_then_given_up(watched):
    watched.ready()
    for wait in (1, 2, 4, 8):
        watched.crash()
        assert watched.state == "restarting"
        watched.clock.advance(wait - 0.5)
        made = len(watched.made)
        watched.clock.advance(1)
        assert len(watched.made) == made + 1
        watched.process.answer("initialize", info())
    watched.crash()
    assert watched.state == "given_up"
    watched.clock.advance(1000)
    assert len(watched.made) == supervisor.STRIKES
    assert "crashed" in watched.supervisor.reason()


def test_a_minute_of_health_forgets_earlier_ends(watched):
    watched.ready()
    for _ in range(20):
        watched.clock.advance(supervisor.HEALTHY)
        watched.crash()
        watched.clock.advance(1)
        watched.process.answer("initialize", info())
    assert watched.state == "ready"


def test_while_it_comes_back_questions_wait(watched):
    watched.ready()
    watched.crash()
    watched.ask("plan")
    watched.clock.advance(1)
    watched.process.answer("initialize", info())
    watched.process.answer("plan", "a plan")
    assert watched.told == ["a plan"]


def test_given_up_questions_fail_later_and_restart_begins_anew(watched):
    watched.ready()
    for wait in (1, 2, 4, 8):
        watched.crash()
        watched.clock.advance(wait)
        watched.process.answer("initialize", info())
    watched.ask("waits")
    watched.crash()
    watched.ask("asked when given up")
    assert watched.told[1] is None
    watched.clock.settle()
    assert [one.kind for one in watched.told] == ["gone", "not_running"]
    watched.supervisor.restart()
    watched.process.answer("initialize", info())
    assert watched.state == "ready"
    watched.crash()
    assert watched.state == "restarting"


def test_what_waited_when_it_was_given_up_fails_too(watched):
    watched.supervisor.start()
    watched.ask()
    for wait in (1, 2, 4, 8):
        watched.crash()
        watched.clock.advance(wait)
    watched.crash()
    assert watched.state == "given_up"
    assert watched.told[0].kind == "not_running" and watched.told[0].message == watched.supervisor.reason()


@pytest.mark.parametrize("how", ["answers", "refuses"])
def test_another_version_is_given_up_at_once(watched, how):
    watched.supervisor.start()
    watched.ask()
    if how == "answers":
        watched.process.answer("initialize", info(version=99))
    else:
        watched.process.refuse("initialize", "protocol", "this engine speaks schema version 99")
    watched.process.end()
    watched.clock.settle()
    assert watched.state == "given_up"
    assert "version" in watched.supervisor.reason() and "99" in watched.supervisor.reason()
    assert watched.told[0].kind == "not_running"
    watched.clock.advance(1000)
    assert len(watched.made) == 1


@pytest.mark.parametrize(("kind", "told"), [("bug", "unexpected Error"), ("no_engine", "No engine is installed yet")])
def test_an_engine_that_cannot_say_what_it_is_is_given_up(watched, kind, told):
    watched.supervisor.start()
    watched.process.refuse("initialize", kind, "unexpected Error")
    watched.process.end()
    assert watched.state == "given_up" and told in watched.supervisor.reason()


def test_a_hang_at_start_ends_it(watched):
    watched.supervisor.start()
    watched.clock.advance(watchdog.HANDSHAKE + 2)
    assert watched.process.killed.kind == "hung"
    watched.process.end()
    assert watched.state == "restarting" and "it was starting" in watched.supervisor.reason()


def test_a_job_that_hangs_ends_it(watched):
    watched.ready()
    watched.ask("drain")
    watched.process.tell("drain", Loading(model="m", component="unet", bytes_done=0, bytes_total=GB))
    watched.clock.advance(deadlines.LOADING)
    loading = watched.process
    assert loading.killed is None
    watched.clock.advance(GB / deadlines.LOADING_BYTES_PER_SECOND + 2)
    assert watched.process.killed.kind == "hung"
    watched.process.end()
    assert watched.told[0].kind == "gone" and "loading a model" in watched.told[0].message


def test_a_question_that_hangs_is_asked_after_and_ends_it(watched):
    watched.ready()
    watched.ask("plan")
    watched.clock.advance(watchdog.QUIET + 2)
    assert watched.process.asked[-1] == ("cancel", {"job": -1})
    watched.process.answer("cancel", {"cancelled": False})
    watched.clock.advance(watchdog.QUIET + 2)
    assert watched.process.asked[-1] == ("cancel", {"job": -1})
    watched.clock.advance(watchdog.PONG + 2)
    assert watched.process.killed.kind == "hung"


def test_events_reach_who_asked_and_nobody_else(watched):
    watched.ready()
    events = []
    watched.ask("drain", on_event=events.append)
    watched.process.tell("drain", Notice(code="a", message="b"))
    assert events == [Notice(code="a", message="b")]


def test_a_question_that_has_not_gone_out_is_cancelled_here(watched):
    watched.supervisor.start()
    told = []
    call = watched.supervisor.ask("drain", failed=told.append)
    watched.supervisor.cancel(call)
    assert told == []
    watched.clock.settle()
    assert told[0].kind == "cancelled"
    watched.process.answer("initialize", info())
    assert [method for method, _ in watched.process.asked] == ["initialize"]


def test_a_job_is_cancelled_at_the_process(watched):
    watched.ready()
    watched.ask("plan")
    call = watched.supervisor.ask("drain")
    watched.supervisor.cancel(call)
    assert watched.process.cancelled == [3]
    watched.supervisor.cancel(1234)
    assert watched.process.cancelled == [3]


def test_stop_ends_it_for_good(watched):
    watched.ready()
    watched.ask("drain")
    watched.supervisor.stop()
    assert watched.process.doing == "stopping" and watched.state == "stopped"
    watched.process.end(ProcessExit(kind="stopped"))
    watched.clock.advance(1000)
    assert len(watched.made) == 1
    assert watched.told[0].kind == "gone" and "stopped" in watched.told[0].message
    watched.ask()
    watched.clock.settle()
    assert watched.told[1].kind == "not_running"


def test_stop_while_it_waits_to_be_started_again(watched):
    watched.ready()
    watched.crash()
    watched.ask()
    watched.supervisor.stop()
    watched.clock.advance(1000)
    assert len(watched.made) == 1 and watched.told[0].kind == "not_running"


def test_start_while_it_is_being_stopped_waits_for_its_end(watched):
    watched.ready()
    watched.supervisor.stop()
    watched.supervisor.start()
    assert len(watched.made) == 1
    watched.ask()
    watched.process.end(ProcessExit(kind="stopped"))
    assert len(watched.made) == 2 and watched.state == "starting"
    watched.process.answer("initialize", info())
    watched.process.answer("plan", "a plan")
    assert watched.state == "ready" and watched.told == ["a plan"]


def test_restart_is_no_strike(watched):
    watched.ready()
    for _ in range(10):
        watched.supervisor.restart()
        assert (watched.process.doing, watched.state) == ("stopping", "starting")
        watched.process.end(ProcessExit(kind="stopped"))
        watched.process.answer("initialize", info())
    assert watched.state == "ready" and watched.supervisor.reason() == ""


def test_finish_waits_for_the_process_alone(watched):
    watched.ready()
    watched.supervisor.finish(100)
    assert watched.process.doing == "ended" and watched.state == "stopped"


def memory(used, free):
    return MemoryNow(
        ram_bytes=int(used * GB),
        ram_free_bytes=int(free * GB),
        ram_total_bytes=16 * GB,
        vram_bytes=None,
        vram_free_bytes=None,
        vram_total_bytes=None,
    )


def test_out_of_memory_is_told_in_numbers(watched, monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    watched.ready()
    watched.ask("drain")
    watched.ask("memory")
    watched.process.answer("memory", memory(1, 5))
    event = Loading(model="m", component="unet", bytes_done=1, bytes_total=int(7.9 * GB))
    watched.process.tell("drain", event)
    watched.process.end(ProcessExit(kind="crashed", code=9))
    assert watched.told[0].message == "The engine ran out of memory: 7.9 GB needed, 6.0 GB free."


def test_where_the_code_says_little_the_log_tells_the_reason(watched):
    watched.ready()
    watched.process.logged.emit(("Traceback", "ModuleNotFoundError: No module named 'torch'"))
    watched.crash(ProcessExit(kind="ended", code=1))
    assert "No module named 'torch'" in watched.supervisor.reason()


@pytest.mark.parametrize("task", ["this one", "the one before"])
def test_numbers_that_explain_nothing_are_left_out(watched, task):
    watched.ready()
    watched.ask("drain")
    watched.ask("memory")
    watched.process.answer("memory", memory(1, 10 if task == "this one" else 5))
    if task == "the one before":
        watched.process.tell("drain", Loading(model="m", component="unet", bytes_done=1, bytes_total=8 * GB))
        watched.process.tell("drain", TaskBegun(task=None))
    watched.process.end(ProcessExit(kind="crashed", code=9))
    assert "GB" not in watched.told[0].message


def test_the_log_is_kept_across_restarts_and_bounded(watched):
    watched.ready()
    lines = []
    watched.supervisor.logged.connect(lines.append)
    watched.process.logged.emit(("one", "two"))
    watched.crash()
    watched.clock.advance(1)
    watched.process.logged.emit(("three",))
    assert watched.supervisor.last_log() == ("one", "two", "three") == tuple(lines)
    watched.process.logged.emit(tuple(str(number) for number in range(1000)))
    assert len(watched.supervisor.last_log()) == supervisor.LOG_LINES


def test_its_devices_are_known_once_it_was_asked(watched):
    watched.ready()
    watched.ask("info")
    watched.process.answer("info", info(devices=("a card",)))
    assert watched.supervisor.info().devices == ("a card",)


class Story(Watched):
    """What may happen, by name; what cannot happen now does not."""

    def start(self):
        self.supervisor.start()

    def stop(self):
        self.supervisor.stop()

    def restart(self):
        self.supervisor.restart()

    def ask_something(self):
        self.ask("plan")

    def cancel(self):
        self.supervisor.cancel(len(self.told))

    def crash_it(self):
        if self.alive():
            self.process.end(CRASH)

    def stopped(self):
        if self.alive():
            self.process.end(ProcessExit(kind="stopped"))

    def answer(self):
        if self.alive() and self.process.calls:
            method = next(iter(self.process.calls.values()))[0]
            self.process.answer(method, info() if method == "initialize" else "an answer")

    def wait(self):
        self.clock.advance(3)

    def wait_long(self):
        self.clock.advance(100)

    def alive(self):
        return bool(self.made) and self.process.doing != "ended"


STEPS = ["start", "stop", "restart", "ask_something", "cancel", "crash_it", "stopped", "answer", "wait", "wait_long"]


@given(st.lists(st.sampled_from(STEPS), max_size=40))
def test_whatever_happens_each_call_is_told_once_and_there_is_one_process(steps):
    story = Story()
    for step in steps:
        getattr(story, step)()
        assert sum(process.doing != "ended" for process in story.made) <= 1
    story.stop()
    story.stopped()
    story.clock.settle()
    assert all(told is not None for told in story.told)
    story.clock.advance(10_000)
    assert story.clock.waiting() == 0
