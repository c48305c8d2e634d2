"""`mezzotint queue run`: process the queue without the window."""

import argparse
import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from mezzotint.checkpoints.plain_text import plain
from mezzotint.cli.context import PARTLY_DONE, Context
from mezzotint.cli.reporter import OutputFormat, Reporter
from mezzotint.errors import Busy, Cancelled, StorageError

if TYPE_CHECKING:
    from mezzotint.jobs.drain import Ended
    from mezzotint.jobs.store import JobStore, Lease, Task
    from mezzotint.queue_protocol import DrainResult

_WAIT = 0.5  # seconds between attempts to acquire the lease
DEVICE = "auto"  # the device of the lease: the engine's default
_ALSO_STOP = ("SIGTERM", "SIGHUP", "SIGBREAK")  # sent by the system, a closed terminal, Ctrl-Break on Windows


def run_queue(arguments: argparse.Namespace, context: Context) -> int:
    """Process the waiting entries; returns 0 if all succeeded, 3 if something failed."""
    from mezzotint.jobs.store import JobStore
    from mezzotint.stages.images.request_images import natural_size

    with graceful_signals(context), _lease(arguments.wait, context) as lease:
        opened = JobStore.open(size_of=natural_size)
        if opened.notice:
            context.terminal.message(f"notice: {plain(opened.notice, 1000)}")
        with opened.store as store:
            _recover(store, arguments, context)
            return _finished(_drain(store, lease, arguments, context), store, context)


def _lease(waits: bool, context: Context) -> "Lease":
    from mezzotint.jobs.store import Held, Lease

    announced = False
    while isinstance(lease := Lease.acquire(DEVICE, what="mezzotint queue run"), Held):
        who = plain(str(lease), 500)
        if not waits:
            raise Busy(f"{who} is already processing the queue: wait for it (--wait), or stop it there")
        if not announced:
            context.terminal.message(f"waiting: {who} is processing the queue")
            announced = True
        time.sleep(_WAIT)
    return lease


def _recover(store: "JobStore", arguments: argparse.Namespace, context: Context) -> None:
    recovered = store.recover()
    for tasks, what in (
        (recovered.done, "was finished just before its program ended: done"),
        (recovered.set_aside, "crashed its process twice and is skipped: `mezzotint queue retry` retries it"),
    ):
        for task in tasks:
            context.terminal.message(f"notice: task {task} {what}")
    if arguments.resume:
        store.resume_interrupted()
        store.resume()


def _drain(store: "JobStore", lease: "Lease", arguments: argparse.Namespace, context: Context) -> "DrainResult":
    from mezzotint.jobs.drain import DrainControl, drain
    from mezzotint.queue_protocol import DrainResult

    if arguments.until_empty and (store.paused() or not store.count(["waiting"])):
        return DrainResult(
            stopped="paused" if store.paused() else "empty", done=0, failed=0
        )  # without loading an engine
    if waiting := waiting_for(store):
        context.terminal.message(waiting)
    context.interrupt.enable_graceful_stop()  # from here on a task may run
    engine = context.make_engine(context.make_catalog(arguments.models_folder))
    output_format: OutputFormat = "jsonl" if arguments.jsonl else "paths"
    with (
        contextlib.closing(engine),
        _keep_awake(arguments.keep_awake, context),
        _Reports(context, output_format) as reports,
    ):
        return drain(
            store,
            lease.owner,
            engine,
            DrainControl(on_event=reports.on_event, cancelled=context.interrupt.stop_requested),
            until_empty=arguments.until_empty,
            on_begun=reports.begun,
            on_ended=reports.ended,
        )


def waiting_for(store: "JobStore") -> str | None:
    """What the run waits for before it makes anything, if it does."""
    if store.paused():
        return "waiting: the queue is paused; `mezzotint queue resume` resumes it, Ctrl-C ends this program"
    if not store.count(["waiting"]):
        return "waiting: the queue is empty; `mezzotint queue add` adds to it, Ctrl-C ends this program"
    return None


@contextlib.contextmanager
def _keep_awake(wanted: bool, context: Context) -> Iterator[None]:
    """Prevent the computer from sleeping if `wanted`; a failure to do so is only a notice."""
    with contextlib.ExitStack() as stack:
        if wanted:
            try:
                from wakepy import keep

                stack.enter_context(keep.running(on_fail="error"))
            except Exception as error:  # noqa: BLE001  wakepy is optional and has many backends
                context.terminal.message(f"notice: the computer may go to sleep: {plain(str(error), 200)}")
        yield


class _Reports(Reporter):
    """Reports the tasks of the queue one after the other."""

    def begun(self, task: "Task") -> None:
        """Report that a task has started."""
        words = f"task {task.id} of entry {task.entry}: {plain(task.request.prompt, 60)}"
        self._report(words, {"begun": {"entry": task.entry, "task": task.id}})

    def ended(self, ended: "Ended") -> None:
        """Report the outcome of a task."""
        if ended.result is not None:
            self.finish(ended.result)
        state = ended.state or "removed"
        error = None if ended.error is None else plain(str(ended.error), 500)
        self._report(
            f"task {ended.task.id}: {state.replace('_', ' ')}{f': {error}' if error else ''}",
            {"ended": {"entry": ended.task.entry, "task": ended.task.id, "state": state, "error": error}},
            is_failure=state in ("failed", "set_aside"),
        )

    def _report(self, words: str, line: dict[str, object], *, is_failure: bool = False) -> None:
        self._hide()
        if self._output_format == "jsonl":
            self._terminal.json(line)
        say = self._terminal.failure if is_failure else self._terminal.message
        say(words)


def _finished(drained: "DrainResult", store: "JobStore", context: Context) -> int:
    if drained.stopped == "disk_full":
        raise StorageError("the disk is full, and the queue paused: free some space, then `mezzotint queue resume`")
    if drained.stopped == "cancelled":
        raise Cancelled("stopped; the next run resumes the queue where it was")
    if drained.stopped == "paused":
        interrupted = len(store.interrupted())
        asked = f" {interrupted} tasks were interrupted by a crash:" if interrupted else ""
        context.terminal.message(f"the queue is paused.{asked} `mezzotint queue resume` resumes it")
    else:
        failed = f", {drained.failed} failed: `mezzotint queue list`" if drained.failed else ""
        say = context.terminal.failure if failed else context.terminal.message
        say(f"queue empty; {drained.done} tasks done{failed}")
    return PARTLY_DONE if drained.failed else 0


@contextlib.contextmanager
def graceful_signals(context: Context, install: Callable[[Any, Any], Any] = signal.signal) -> Iterator[None]:
    """Handle other termination signals like Ctrl-C: the first requests a graceful stop."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may install signal handlers
        return
    signals = [getattr(signal, name) for name in _ALSO_STOP if hasattr(signal, name)]
    before = [(one, install(one, context.interrupt.handle)) for one in signals]
    try:
        yield
    finally:
        for one, handler in before:
            install(one, handler)
