"""`mezzotint queue run`: the queue worked through without a window."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import types
from typing import Any

import pytest
from queue_programs import WritingEngine

from mezzotint.cli.context import Context
from mezzotint.cli.interrupt import Interrupt
from mezzotint.cli.queue.run import graceful_signals, waiting_for
from mezzotint.errors import ModelRefused, StorageError
from mezzotint.jobs.store import JobStore, Lease
from mezzotint.protocol import GenerateRequest, Output

PROGRAM = """
import sys
from queue_programs import WritingEngine
from mezzotint.cli.context import Context
from mezzotint.cli.entry import run

class Slow(WritingEngine):
    def generate(self, request, on_event, cancelled):
        from fake_engine import FakeEngine
        if request.prompt == "slow":
            print("running", flush=True)
            return FakeEngine().generate(request, on_event, cancelled)
        return super().generate(request, on_event, cancelled)

sys.exit(run(sys.argv[1:], Context(make_catalog=lambda _: None, make_engine=lambda _: Slow())))
"""


class Refusing(WritingEngine):
    """Refuses what is called so."""

    closed = False

    def generate(self, request, on_event, cancelled):
        if request.prompt == "refused":
            raise ModelRefused("the file is no model")
        return super().generate(request, on_event, cancelled)

    def close(self):
        self.closed = True


@pytest.fixture
def queue(command):
    return lambda *words, **options: command("queue", "run", *words, **{"engine": Refusing(), **options})


@pytest.fixture
def store():
    with JobStore.open().store as opened:
        yield opened


@pytest.fixture
def add(store, tmp_path):
    def call(*prompts):
        output = Output(path=f"{tmp_path}/out/[seed].png")
        return store.add(
            [GenerateRequest(prompt=one, seed=number, output=output) for number, one in enumerate(prompts)]
        )

    return call


def test_all_that_waits_is_made(queue, store, add, tmp_path):
    add("a", "b")
    done = queue("--until-empty")
    assert done.code == 0
    assert done.out == f"{tmp_path}/out/0.png\n{tmp_path}/out/1.png\n"
    assert [line for line in done.err.splitlines() if "task" in line] == [
        "task 1 of entry 1: a",
        "task 1: done",
        "task 2 of entry 1: b",
        "task 2: done",
        "queue empty; 2 tasks done",
    ]
    assert done.engine.closed
    assert store.row(1).state == "done"


def test_partly_done(queue, store, add):
    add("a", "refused")
    done = queue("--until-empty")
    assert done.code == 3
    assert "task 2: failed: the file is no model" in done.err
    assert "queue empty; 1 tasks done, 1 failed: `mezzotint queue list`" in done.err


def test_programs_hear_each_task(queue, add):
    add("a", "refused")
    lines = [json.loads(line) for line in queue("--until-empty", "--jsonl").out.splitlines()]
    assert [next(iter(line)) for line in lines] == ["begun", "event", "event", "result", "ended", "begun", "ended"]
    assert lines[-1]["ended"] == {"entry": 1, "task": 2, "state": "failed", "error": "the file is no model"}


def test_with_nothing_to_do_no_engine_is_made(queue):
    done = queue("--until-empty")
    assert (done.code, done.engine.closed) == (0, False)
    assert "queue empty" in done.err


@pytest.mark.parametrize(
    ("paused", "told"), [(True, "the queue is paused; `mezzotint queue resume`"), (False, "empty")]
)
def test_what_it_waits_for_is_told(store, add, paused, told):
    if paused:
        add("a")
        store.pause()
    assert told in waiting_for(store)


def test_it_waits_for_nothing_when_there_is_work(store, add):
    add("a")
    assert waiting_for(store) is None


def test_a_paused_queue_stays_paused_unless_asked(queue, store, add):
    add("a", "b")
    store.claim("dead/x")
    done = queue("--until-empty")
    assert done.code == 0
    assert "the queue is paused. 1 tasks were interrupted by a crash: `mezzotint queue resume`" in done.err
    assert store.row(1).state == "waiting"
    assert queue("--until-empty", "--resume").code == 0
    assert store.row(1).state == "done"


def test_what_a_crash_left_behind_is_told(queue, store, add):
    add("a")
    for _ in range(2):
        store.resume_interrupted()
        store.claim("dead/x")
        done = queue("--until-empty")
    assert "notice: task 1 crashed its process twice and is skipped: `mezzotint queue retry` retries it" in done.err


def test_one_program_at_a_time(queue, store, add):
    add("a")
    with Lease.acquire(what="the window"):
        done = queue("--until-empty")
    assert done.code == 1
    assert f"the window (process {os.getpid()} on " in done.err
    assert "is already processing the queue" in done.err
    assert store.row(1).state == "waiting"


def test_another_program_can_be_waited_for(queue, store, add, monkeypatch):
    add("a")
    other = Lease.acquire(what="the window")
    monkeypatch.setattr(
        "mezzotint.cli.queue.run.time.sleep", lambda seconds: other.release() if seconds >= 0.5 else None
    )
    done = queue("--until-empty", "--wait")
    assert done.code == 0
    assert done.err.count("waiting: the window (process ") == 1
    assert store.row(1).state == "done"


def test_a_full_disk(queue, store, add, monkeypatch):
    monkeypatch.setattr("mezzotint.jobs.space.is_full", lambda _: True)

    class Full(Refusing):
        def write(self, request, index):
            raise StorageError("cannot write")

    add("a")
    done = queue("--until-empty", engine=Full())
    assert done.code == 7
    assert "the disk is full, and the queue paused" in done.err
    assert store.paused() and store.row(1).state == "waiting"


def test_an_interrupt_puts_back_what_is_being_made(queue, store, add):
    add("a", "b")
    interrupt = Interrupt(tell=lambda _: None, end=lambda code: pytest.fail("it was to be asked first"))

    class Engine(Refusing):
        def write(self, request, index):
            interrupt.handle(signal.SIGINT, None)
            return super().write(request, index)

    done = queue(engine=Engine(), interrupt=interrupt)  # without --until-empty: else it would wait for more
    assert done.code == 130
    assert "the next run resumes the queue where it was" in done.err
    assert [task.state for task in store.entry(1).tasks] == ["done", "waiting"]


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGBREAK"])
def test_the_system_asks_as_ctrl_c_does(monkeypatch, name):
    monkeypatch.setattr(signal, name, 99, raising=False)
    context, installed = Context(), {}

    def install(number, handler):
        before = installed.get(number, "before")
        installed[number] = handler
        return before

    with graceful_signals(context, install):
        assert installed[99] == context.interrupt.handle
    assert installed[99] == "before"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM that can be heard")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_real_signal_to_a_real_process(store, add, name):
    add("good", "slow", "never")
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "queue", "run"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    with contextlib.closing(process.stdout), contextlib.closing(process.stderr):
        for line in process.stdout:
            if line == "running\n":
                break
        process.send_signal(getattr(signal, name))
        errors = process.stderr.read()
        assert process.wait() == 130, errors
    assert "Traceback" not in errors
    assert [task.state for task in store.entry(1).tasks] == ["done", "waiting", "waiting"]
    assert [task.attempts for task in store.entry(1).tasks] == [0, 0, 0]
    assert isinstance(Lease.acquire(), Lease)


@pytest.mark.parametrize("trouble", [None, RuntimeError("no bus"), ImportError("No module named 'wakepy'")])
def test_the_computer_is_kept_awake_where_that_can_be(queue, store, add, monkeypatch, trouble):
    entered: list[str] = []
    keep: Any = types.ModuleType("wakepy")

    @contextlib.contextmanager
    def running(on_fail):
        assert on_fail == "error"
        if trouble is not None:
            raise trouble
        entered.append("in")
        yield
        entered.append("out")

    keep.keep = types.SimpleNamespace(running=running)
    monkeypatch.setitem(sys.modules, "wakepy", keep)
    add("a")
    done = queue("--until-empty")
    assert done.code == 0 and entered == []
    add("b")
    done = queue("--until-empty", "--keep-awake")
    assert done.code == 0 and store.row(2).state == "done"
    assert entered == (["in", "out"] if trouble is None else [])
    assert ("may go to sleep" in done.err) == (trouble is not None)
