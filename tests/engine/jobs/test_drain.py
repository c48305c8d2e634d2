"""The queue worked through in one process."""

import errno
import logging
import threading
from typing import Any

import pytest
from queue_programs import WritingEngine

from mezzotint.errors import Cancelled, DeviceLost, ImageRefused, OutOfMemory, StorageError
from mezzotint.jobs.drain import DrainControl, drain
from mezzotint.jobs.store import JobStore, Lease
from mezzotint.protocol import Cascade, GenerateRequest, Output, Sampling, Saved, Stage, Step
from mezzotint.queue_protocol import DrainResult, DrainSettings


@pytest.fixture
def lease(tmp_path):
    with Lease.acquire("cpu", tmp_path / "leases") as mine:
        yield mine


@pytest.fixture
def work(store, lease):
    """Works through the queue with an engine; what happened is in `heard`."""
    heard = []

    def call(engine=None, cancelled=lambda: False, control=None, **options):
        return drain(
            store,
            lease.owner,
            engine or WritingEngine(),
            control or DrainControl(on_event=heard.append, cancelled=cancelled),
            **{"on_begun": heard.append, "on_ended": heard.append} | options,
        )

    made: Any = call
    made.heard = heard
    return made


@pytest.fixture
def add(store, tmp_path):
    def call(*prompts, **changes):
        output = Output(path=f"{tmp_path}/out/[seed].png")
        return store.add(
            [
                GenerateRequest(prompt=one, seed=10 * number, output=output, **changes)
                for number, one in enumerate(prompts)
            ]
        )

    return call


class Raising(WritingEngine):
    """Fails at prompts that have an error to raise."""

    def __init__(self, **errors):
        super().__init__()
        self.errors = errors

    def generate(self, request, on_event, cancelled):
        error = self.errors.pop(request.prompt, None)
        if error is not None:
            raise error
        return super().generate(request, on_event, cancelled)


def states(store, entry=1):
    return [task.state for task in store.entry(entry).tasks]


def test_all_is_made_in_order_and_told(store, work, add):
    add("a", "b", count=2)
    assert work() == DrainResult(stopped="empty", done=2, failed=0)
    begun, *events, ended = work.heard[: len(work.heard) // 2]
    assert (begun.request.prompt, ended.state, ended.result.seed) == ("a", "done", 0)
    assert [type(event) for event in events] == [Step, Saved, Step, Saved]
    assert states(store) == ["done", "done"]
    assert store.row(1).images == 4
    assert store.expected_queue() == 0


def test_what_is_added_while_it_works_is_made_too(store, work, add):
    add("a")
    waits = []

    def wait(_):
        waits.append(1)
        if len(waits) == 1:
            add("later")

    assert work(cancelled=lambda: len(waits) > 2, until_empty=False, wait=wait).done == 2


def test_one_that_fails_keeps_no_other_from_being_made(store, work, add, caplog):
    caplog.set_level(logging.CRITICAL)
    add("refused", "memory", "ram", "bug", "good")
    errors = {
        "refused": ImageRefused("no image"),
        "memory": OutOfMemory("too large"),
        "ram": MemoryError(),
        "bug": KeyError("x"),
    }
    assert work(Raising(**errors)) == DrainResult(stopped="empty", done=1, failed=4)
    tasks = store.entry(1).tasks
    assert [task.error_kind for task in tasks] == ["image_refused", "out_of_memory", "out_of_memory", "bug", None]
    assert "no image" in tasks[0].error and "unexpected KeyError" in tasks[3].error


def test_a_stop_puts_back_what_is_being_made(store, work, add):
    add("a", "b", count=3)
    made = []

    def cancelled():
        return len([event for event in work.heard if isinstance(event, Saved)]) >= 2

    assert work(cancelled=cancelled) == DrainResult(stopped="cancelled", done=0, failed=0)
    assert states(store) == ["waiting", "waiting"]
    assert (store.row(1).images, store.entry(1).tasks[0].attempts) == (2, 0)
    assert work() == DrainResult(stopped="empty", done=2, failed=0)
    assert store.row(1).images == 6
    assert not made


def test_a_task_that_is_cancelled_while_it_runs_stops_and_the_next_begins(path, store, work, add):
    """By another program, such as the window."""
    add("a", "b", count=3)

    class Engine(WritingEngine):
        def write(self, request, index):
            if request.prompt == "a" and index == 0:
                with JobStore.open(path).store as other:
                    other.cancel_task(1)
            return super().write(request, index)

    clock = []
    engine = Engine(lambda point: clock.append(1.0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mezzotint.jobs.task_run.time.monotonic", lambda: float(len(clock)))
        assert work(engine) == DrainResult(stopped="empty", done=1, failed=0)
    assert states(store) == ["cancelled", "done"]
    assert store.entry(1).tasks[0].images != ()


def test_an_engine_that_asks_from_threads_of_its_own(store, work, add):
    """SQLite would refuse another thread; the stop itself is heard there."""
    add("a")

    class Engine(WritingEngine):
        def generate(self, request, on_event, cancelled):
            answers = []
            thread = threading.Thread(target=lambda: answers.append(cancelled()))
            thread.start(), thread.join()
            assert answers == [False]
            return super().generate(request, on_event, cancelled)

    assert work(Engine()).done == 1


def test_pause_and_stop_after_what_runs(store, work, add):
    add("a", "b")
    store.stop_after_current(True)
    assert work() == DrainResult(stopped="paused", done=0, failed=0)
    store.resume()

    class Engine(WritingEngine):
        def write(self, request, index):
            store.stop_after_current(True)
            return super().write(request, index)

    assert work(Engine()) == DrainResult(stopped="paused", done=1, failed=0)
    assert states(store) == ["done", "waiting"]


def test_pause_puts_back_what_runs_and_it_is_made_later(path, store, work, add):
    """By another program, such as the window; finished images are not made again."""
    add("a", "b", count=3)
    ticks = []

    class Engine(WritingEngine):
        def write(self, request, index):
            if index == 0:
                with JobStore.open(path).store as other:
                    other.pause()
            return super().write(request, index)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mezzotint.jobs.task_run.time.monotonic", lambda: float(len(ticks)))
        assert work(Engine(lambda _: ticks.append(1))) == DrainResult(stopped="paused", done=0, failed=0)
    assert states(store) == ["waiting", "waiting"]
    row = store.row(1)
    assert row.error is None and 0 < row.images < 3
    store.resume()
    assert work() == DrainResult(stopped="empty", done=2, failed=0)
    assert store.row(1).images == 6


@pytest.mark.parametrize("full", ["by its error", "by the disk"])
def test_a_full_disk_pauses_and_blames_no_task(store, work, add, monkeypatch, full):
    add("a", "b")
    error = StorageError("cannot write: the disk is full")
    if full == "by its error":
        error.__cause__ = OSError(errno.ENOSPC, "x")
    else:
        monkeypatch.setattr("mezzotint.jobs.space.is_full", lambda _: True)
    assert work(Raising(a=error)) == DrainResult(stopped="disk_full", done=0, failed=0, reason=str(error))
    assert states(store) == ["waiting", "waiting"]
    assert store.paused()
    store.resume()
    assert work().done == 2


def test_another_trouble_with_files_is_the_tasks_own(store, work, add):
    add("a", "b")
    assert work(Raising(a=StorageError("no such file"))) == DrainResult(stopped="empty", done=1, failed=1)


def test_a_lost_device_ends_the_process_and_counts_as_a_death(store, work, add):
    add("a")
    for state in ("waiting", "set_aside"):
        with pytest.raises(DeviceLost):
            work(Raising(a=DeviceLost("an illegal memory access")))
        assert states(store) == [state]
    assert work().stopped == "empty"


@pytest.mark.parametrize("error", [BrokenPipeError(), KeyboardInterrupt(), SystemExit(3)])
def test_whatever_ends_the_program_puts_the_task_back(store, work, add, error):
    add("a")
    with pytest.raises(type(error)):
        work(Raising(a=error))
    assert (states(store), store.entry(1).tasks[0].attempts) == (["waiting"], 0)


def test_a_queue_that_cannot_be_written_ends_the_work_and_the_image_is_not_made_again(
    store, work, add, monkeypatch, tmp_path
):
    add("a")
    store._database.connection.execute("UPDATE entries SET started = 0")

    def fails(*_):
        raise StorageError("the queue: the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(store, "saved", fails)
        patch.setattr(store, "requeue", fails)
        patch.setattr(store, "fail", fails)
        with pytest.raises(StorageError):
            work()
    assert store.recover(lambda _: False).done == (1,)
    assert len(list((tmp_path / "out").iterdir())) == 1


def test_an_entry_that_is_removed_while_it_runs(path, store, work, add):
    add("a")

    class Engine(WritingEngine):
        def generate(self, request, on_event, cancelled):
            store.remove([1])
            raise Cancelled("stopped")

    assert work(Engine()) == DrainResult(stopped="empty", done=0, failed=0)
    assert states(store) == ["cancelled"]


def test_a_skipped_image_is_stopped_and_the_next_of_its_task_is_made(path, store, work, add):
    """By another program, such as the window."""
    entry = add("a", count=4)
    ticks = []

    class Engine(WritingEngine):
        def write(self, request, index):
            if request.seed + index == 0:
                with JobStore.open(path).store as other:
                    other.skip_image(1, 1)
            return super().write(request, index)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mezzotint.jobs.task_run.time.monotonic", lambda: float(len(ticks)))
        assert work(Engine(lambda _: ticks.append(1))).stopped == "empty"
    row = store.row(entry)
    assert (row.state, row.images, row.error) == ("cancelled", 3, None)
    assert [image.seed for image in store.entry(entry).tasks[0].images] == [0, 2, 3]


def test_the_pace_of_a_run_that_was_cancelled_is_learned(store, work, add):
    cascade = Cascade(stages=(Stage(sampling=Sampling(steps=8)),))
    add("a", cascade=cascade)

    class Engine:
        def generate(self, request, on_event, cancelled):
            for step in range(1, 5):
                ticks.append(2.0)
                on_event(Step(image=0, images=1, stage=0, stages=1, step=step, steps=8, sigma=1, preview=None))
            store.cancel([1])
            raise Cancelled("stopped")

    ticks = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mezzotint.jobs.task_run.time.monotonic", lambda: sum(ticks))
        work(Engine())
    phases = store.expected(GenerateRequest(prompt="b", cascade=cascade)).phases
    assert (phases.step, phases.steps) == (2.0, 8)


def test_whoever_wanted_it_has_died_and_a_person_is_asked(store, work, add):
    add("a", "b")
    control = DrainControl(on_event=lambda _: None, cancelled=lambda: True, abandoned=lambda: True)
    begun = []
    assert work(control=control, on_begun=begun.append).stopped == "cancelled"
    control = DrainControl(on_event=lambda _: None, cancelled=lambda: bool(begun), abandoned=lambda: True)

    class Engine(WritingEngine):
        def generate(self, request, on_event, cancelled):
            begun.append(request)
            return super().generate(request, on_event, cancelled)

    assert work(Engine(), control=control).stopped == "cancelled"
    assert states(store) == ["interrupted", "waiting"] and store.paused()
    assert store.interrupted()[0].attempts == 0


def test_what_a_person_settled_since_is_honoured_and_what_was_said_is_kept(store, work, add):
    add("a")
    add("b", attention="flash", device="cuda:1")
    asked = []

    class Engine(WritingEngine):
        def generate(self, request, on_event, cancelled):
            asked.append(request)
            control.settings = DrainSettings(device="cuda", attention="int8")
            return super().generate(request, on_event, cancelled)

    settings = DrainSettings(device="cpu", attention="sdpa", previews=True)
    control = DrainControl(on_event=lambda _: None, cancelled=lambda: False, settings=settings)
    add("c")
    work(Engine(), control=control)
    assert [(one.device, one.attention, one.previews) for one in asked] == [
        ("cpu", "sdpa", True),
        ("cuda:1", "flash", False),
        ("cuda", "int8", False),
    ]


def test_an_image_that_the_queue_could_not_be_told_of_is_told_at_the_end(store, work, add, monkeypatch):
    add("a")
    saved, calls = store.saved, []

    def fails_once(*words):
        calls.append(words)
        if len(calls) == 1:
            raise StorageError("the queue is locked")
        saved(*words)

    monkeypatch.setattr(store, "saved", fails_once)
    assert work().done == 1 and store.row(1).images == 1
