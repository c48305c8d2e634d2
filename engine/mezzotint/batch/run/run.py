"""Run a batch: generate what is missing and keep what exists. It can be resumed, however it ends."""

import queue
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mezzotint.batch.manifest.manifest import Manifest
from mezzotint.batch.manifest.record import Record
from mezzotint.batch.run.dispatch import Dispatcher
from mezzotint.batch.run.listener import Listener
from mezzotint.batch.run.pause import Pause
from mezzotint.batch.run.progress import Progress, Tally
from mezzotint.batch.run.records import (
    change_of_input,
    done_record,
    facts_of,
    failed_record,
    kind_of,
    no_task_record,
)
from mezzotint.batch.run.run_options import RunOptions as RunOptions
from mezzotint.batch.run.task_status import SettledBefore, TaskStatus
from mezzotint.batch.run.worker_threads import (
    WINDOW,
    BatchFailed,
    Inbox,
    ItemArrived,
    Message,
    StreamEnded,
    StreamReader,
    TaskEnded,
    WorkerLeft,
    WorkerThreads,
)
from mezzotint.batch.run.workers import Worker, WorkerDied, WorkerUnusable
from mezzotint.batch.tasks.tasks import BatchTask, Skipped
from mezzotint.errors import Cancelled, DeviceLost, MezzotintError, NoDevice, StorageError

Stopped = Literal["finished", "interrupted"]
Stream = Iterator[BatchTask | Skipped]

_LOOK = 0.1  # seconds between polls of Ctrl-C and the clock
_MOST_REPORTED = 5  # images whose unused settings are reported
_TELL = 0.5  # seconds between progress reports


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a run ended."""

    stopped: Stopped
    progress: Progress
    failures: int  # in the manifest


class Run:
    """One run of one batch, by the owner of its output folder."""

    def __init__(
        self,
        stream: Stream,
        folder: Path,
        manifest: Manifest,
        workers: Sequence[Worker],
        listener: Listener,
        *,
        options: RunOptions,
        stopping: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
        window: int = WINDOW,
    ) -> None:
        self._folder, self._manifest, self._listener, self._options = folder, manifest, listener, options
        self._stopping, self._clock = stopping, clock
        self._inbox: Inbox = queue.SimpleQueue()
        self._dispatcher = Dispatcher(stopping)
        self._reader = StreamReader(stream, self._inbox, window)
        self._worker_threads = WorkerThreads(
            workers,
            self._dispatcher,
            self._inbox,
            begin=lambda task, together: manifest.begin(task.key, together=together),
            on_event=listener.event,
        )
        self._status = TaskStatus(folder, manifest, options)
        self._tally = Tally(clock)
        self._pause = Pause(folder, clock)
        self._active_workers = len(workers)
        self._arrived = 0
        self._with_unused = 0
        self._under_way: set[str] = set()
        self._stream_ended = self._is_ending = False
        self._error: BaseException | None = None
        self._last_report = clock()

    def run(self) -> Ended:
        """Generate what is missing. Raises errors that no task is to blame for: StorageError, NoDevice, a bug."""
        self._reader.start()
        self._worker_threads.start()
        while self._active_workers:
            self._step()
        self._finish()
        if self._error is not None:
            raise self._error
        is_whole = self._stream_ended and not self._under_way
        return Ended(
            stopped="finished" if is_whole else "interrupted",
            progress=self._tally.progress(),
            failures=self._manifest.failures(),
        )

    def expect(self, total: int) -> None:
        """Set the approximate number of tasks, if it was counted before the stream ends."""
        if not self._stream_ended:
            self._tally.total = total

    def under_way(self) -> list[str]:
        """Return the keys of tasks that were begun, for killing the process at once."""
        return list(self._under_way)

    def _step(self) -> None:
        try:
            message = self._inbox.get(timeout=_LOOK)
        except queue.Empty:
            message = None
        try:
            if message is not None:
                self._on_message(message)
            if self._manifest.due() and not self._pause.is_on:
                self._sync()
        except StorageError as error:
            self._hold_for_room(error)
        except Exception as error:  # noqa: BLE001  raised once the workers are done
            self._end(error)
        self._poll()

    def _poll(self) -> None:
        if self._pause.is_on and self._pause.is_over():
            self._resume()
        if self._stopping() or (self._stream_ended and not self._under_way and not self._pause.is_on):
            self._end(None)
        if self._clock() - self._last_report >= _TELL:
            self._last_report = self._clock()
            self._listener.progress(self._tally.progress())

    def _end(self, error: BaseException | None) -> None:
        """Start no more tasks; running ones are finished."""
        self._error = self._error or error
        if not self._is_ending:
            self._is_ending = True
            self._reader.stop()
            self._dispatcher.end()

    def _finish(self) -> None:
        try:
            if self._stream_ended and not self._under_way and self._error is None:
                self._manifest.note("ended", {"total": self._tally.total})
            self._sync()
        except StorageError as error:  # unrecorded images are found again by their metadata
            self._error = self._error or error
        self._listener.progress(self._tally.progress())

    def _sync(self) -> None:
        for record in self._manifest.sync():
            self._tally.settled(record.status, was_tried=not record.is_unreadable_input)
            self._listener.settled(record, self._tally.progress())

    # ---- messages

    def _on_message(self, message: Message) -> None:
        match message:
            case ItemArrived(item=item):
                self._on_item(item)
            case StreamEnded(error=error):
                self._end_of_stream(error)
            case TaskEnded():
                self._task_ended(message)
            case BatchFailed():
                self._batch_failed(message)
            case WorkerLeft(error=error):
                self._on_worker_left(error)

    def _end_of_stream(self, error: BaseException | None) -> None:
        if error is not None:
            self._end(error)
        elif not self._is_ending:
            self._stream_ended = True
            self._tally.total = self._arrived

    def _on_worker_left(self, error: BaseException | None) -> None:
        self._active_workers -= 1
        if error is not None and not self._is_ending:
            if not self._active_workers:
                return self._end(error)
            self._listener.notice("worker_lost", f"lost a worker: {error}")
        return None

    def _on_item(self, item: BatchTask | Skipped) -> None:
        if self._is_ending:
            return
        self._arrived += 1
        if isinstance(item, Skipped):
            self._no_task(item)
        elif item.key in self._under_way:  # listed twice: the same image under the same name
            self._arrived -= 1
            self._reader.settled()
        elif (settled := self._status.settled(item)) is not None:
            self._reader.settled()
            self._was_settled(settled)
        else:
            self._report_unused(item)
            self._under_way.add(item.key)
            self._dispatcher.add(self._status.with_output(item), alone=self._status.is_suspect(item))

    def _report_unused(self, task: BatchTask) -> None:
        """Report what of an image's settings is not used; of the first images all of it, a dry run lists the rest."""
        self._with_unused += bool(task.notices)
        if task.notices and self._with_unused <= _MOST_REPORTED:
            for message in task.notices:
                self._listener.notice("settings_unused", message)
        elif task.notices and self._with_unused == _MOST_REPORTED + 1:
            further = "settings of further images are not used either: --dry-run lists them"
            self._listener.notice("settings_unused", further)

    def _was_settled(self, settled: Record | SettledBefore) -> None:
        if settled == "already":
            self._tally.already += 1
        elif settled == "left_failed":
            self._tally.left_failed += 1
        else:
            self._manifest.add(settled)

    def _no_task(self, item: Skipped) -> None:
        self._reader.settled()
        record = no_task_record(item)
        if not item.is_failure and self._manifest.history(record.key).status == "skipped":
            self._tally.already += 1
        else:
            self._manifest.add(record)

    # ---- outcomes of tasks

    def _task_ended(self, ended: TaskEnded) -> None:
        task, error = ended.task, ended.error
        if error is None and ended.result is not None:
            self._made(ended)
        elif isinstance(error, WorkerDied | DeviceLost):
            self._died(task, error, ended.is_shared)
        elif isinstance(error, Cancelled | WorkerUnusable):
            self._requeue(task)
        elif isinstance(error, NoDevice):
            self._manifest.release(task.key)
            self._end(error)
        elif ended.is_shared and isinstance(error, Exception):
            self._requeue_alone(task)
        elif isinstance(error, StorageError) and self._pause.is_for_room(task, error):
            self._requeue(task)
            self._hold_for_room(error)
        elif isinstance(error, StorageError) and self._is_transient(task, error):
            self._requeue(task)
        elif isinstance(error, Exception):
            self._failed(task, error, ended.seconds)
        else:
            self._end(error)

    def _is_transient(self, task: BatchTask, error: StorageError) -> bool:
        """Whether the disk failed for a moment, and the task's input is still what it was."""
        return change_of_input(task.request) is None and self._pause.is_transient(task, error)

    def _batch_failed(self, failed: BatchFailed) -> None:
        if isinstance(failed.error, Exception) and not isinstance(
            failed.error, Cancelled | WorkerUnusable | NoDevice | DeviceLost
        ):
            words = f"{failed.tasks} images were being generated together: {kind_of(failed.error)[1]}"
            if isinstance(failed.error, WorkerDied):
                words = f"{failed.tasks} images were being generated together, and {failed.error}"
            self._listener.notice("together_failed", f"{words}; the missing ones are retried one at a time")

    def _made(self, ended: TaskEnded) -> None:
        result = ended.result
        if result is None or not result.images:
            return self._failed(ended.task, MezzotintError("no image was returned: try again"), ended.seconds)
        self._tally.took(result.memory.peak_vram_bytes)
        self._pause.wrote(Path(result.images[0].path))
        attempts = self._status.attempts(ended.task)
        facts = facts_of(result)
        image = result.images[0]
        record = done_record(ended.task, image, self._folder, attempts=attempts, seconds=ended.seconds, facts=facts)
        return self._add(ended.task, record)

    def _failed(self, task: BatchTask, error: Exception, seconds: float) -> None:
        kind, words = kind_of(error)
        change = change_of_input(task.request) if isinstance(error, StorageError) else None
        if change is not None:
            kind, words = "input_changed", change
        record = failed_record(task, kind, words, attempts=self._status.attempts(task), seconds=seconds)
        self._add(task, record)

    def _died(self, task: BatchTask, error: WorkerDied | DeviceLost, is_shared: bool) -> None:
        """Record the image if it exists; otherwise retry once, and then set the task aside.

        Tasks of a batch are each retried alone, and only deaths on these count.
        """
        found = self._status.found(task)
        if found is None:
            self._manifest.died(task.key, together=is_shared)
            found = self._status.set_aside_if_poisonous(task, str(error))
        if found is not None:
            self._add(task, found)
        else:
            if not is_shared:
                self._listener.notice("worker_died", f"{task.output}: {error}; retrying once")
            self._dispatcher.add_first(task, alone=True)
        if isinstance(error, DeviceLost):  # the engine in this process is no longer usable
            self._end(error)

    def _requeue(self, task: BatchTask) -> None:
        self._manifest.release(task.key)
        self._dispatcher.add_first(task, alone=self._status.is_suspect(task))

    def _requeue_alone(self, task: BatchTask) -> None:
        """Retry a task of a failed batch: another one may be to blame, and its own image may exist."""
        found = self._status.found(task)
        if found is not None:
            return self._add(task, found)
        self._manifest.release(task.key)
        return self._dispatcher.add_first(task, alone=True)

    def _add(self, task: BatchTask, record: Record) -> None:
        if task.key in self._under_way:
            self._under_way.discard(task.key)
            self._reader.settled()
        self._manifest.add(record)

    # ---- disk full

    def _hold_for_room(self, error: StorageError) -> None:
        if not self._options.waits_for_room:
            return self._end(error)
        if not self._pause.is_on:
            self._dispatcher.hold(True)
            self._listener.notice("paused", f"paused: {error}")
        return self._pause.begin()

    def _resume(self) -> None:
        try:
            self._sync()
        except StorageError:
            return self._pause.begin()
        self._pause.end()
        self._listener.notice("resumed", "there is enough space again: resuming")
        return self._dispatcher.hold(False)
