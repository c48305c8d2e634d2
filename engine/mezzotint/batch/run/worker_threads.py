"""The threads of a run: one that reads ahead in the stream of tasks, and one per worker. All report to one inbox."""

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mezzotint.batch.run.dispatch import Dispatcher
from mezzotint.batch.run.workers import Worker, WorkerUnusable
from mezzotint.batch.tasks.tasks import BatchTask, Skipped
from mezzotint.protocol import Event, GenerateResult

WINDOW = 256  # tasks that are read ahead: their inputs are read and hashed during generation


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemArrived:
    """An item of the stream."""

    item: BatchTask | Skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEnded:
    """The stream is exhausted, or it failed."""

    error: BaseException | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEnded:
    """A worker has finished a task, with a result or an error."""

    task: BatchTask
    result: GenerateResult | None
    error: BaseException | None
    seconds: float  # its share of the batch's time
    is_shared: bool = False  # the error hit a batch, of which any task may be to blame


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchFailed:
    """An error ended a batch of several tasks; each of them is also reported by itself."""

    tasks: int
    error: BaseException


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLeft:
    """A worker has stopped taking tasks."""

    error: BaseException | None


Message = ItemArrived | StreamEnded | TaskEnded | BatchFailed | WorkerLeft
Begin = Callable[[BatchTask, bool], None]  # takes a task, and whether it is made in a batch
Inbox = queue.SimpleQueue[Message]


class StreamReader:
    """Reads the stream ahead, at most `window` items before the run has settled them."""

    def __init__(self, stream: Iterator[BatchTask | Skipped], inbox: Inbox, window: int = WINDOW) -> None:
        self._stream, self._inbox = stream, inbox
        self._slots = threading.Semaphore(window)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._read, name="batch: looking ahead", daemon=True)

    def start(self) -> None:
        """Start reading."""
        self._thread.start()

    def settled(self) -> None:
        """Free the slot of an item that is settled."""
        self._slots.release()

    def stop(self) -> None:
        """Stop reading."""
        self._stopped.set()
        self._slots.release()

    def _read(self) -> None:
        error: BaseException | None = None
        try:
            for item in self._stream:
                self._inbox.put(ItemArrived(item=item))
                self._slots.acquire()
                if self._stopped.is_set():
                    break
        except BaseException as caught:  # noqa: BLE001  raised again by the run, in its own thread
            error = caught
        self._inbox.put(StreamEnded(error=error))


class WorkerThreads:
    """The workers, each with its own thread."""

    def __init__(
        self,
        workers: Sequence[Worker],
        dispatcher: Dispatcher,
        inbox: Inbox,
        *,
        begin: Begin,
        on_event: Callable[[BatchTask, Event], None],
    ) -> None:
        self._dispatcher, self._inbox, self._begin, self._on_event = dispatcher, inbox, begin, on_event
        self._threads = [
            threading.Thread(target=self._work, args=(number, worker), name=f"batch: worker {number}", daemon=True)
            for number, worker in enumerate(workers)
        ]

    def start(self) -> None:
        """Start taking tasks."""
        for thread in self._threads:
            thread.start()

    def _work(self, number: int, worker: Worker) -> None:
        error: BaseException | None = None
        try:
            while error is None and self._dispatcher.wait():
                worker.ready()
                if not (tasks := self._dispatcher.take(number, worker.batch_size)):
                    break
                error = self._make(worker, tasks)
        finally:
            try:
                worker.close()
            finally:
                self._inbox.put(WorkerLeft(error=error))

    def _make(self, worker: Worker, tasks: list[BatchTask]) -> WorkerUnusable | None:
        """Report the outcome of each task; return the error if the worker has become unusable."""
        started = time.monotonic()
        outcomes: Sequence[GenerateResult | BaseException] = []
        failure: BaseException | None = None
        try:
            outcomes = self._made(worker, tasks)
        except BaseException as caught:  # noqa: BLE001  a failing task must not stop the others
            failure = caught
            outcomes = [caught] * len(tasks)
        is_shared = failure is not None and len(tasks) > 1
        if failure is not None and is_shared:
            self._inbox.put(BatchFailed(tasks=len(tasks), error=failure))
        seconds = (time.monotonic() - started) / len(tasks)
        for task, outcome in zip(tasks, outcomes, strict=True):
            self._inbox.put(_ended(task, outcome, seconds, is_shared))
        return failure if isinstance(failure, WorkerUnusable) else None

    def _made(self, worker: Worker, tasks: list[BatchTask]) -> Sequence[GenerateResult | BaseException]:
        if worker.in_this_process:
            for task in tasks:
                self._begin(task, len(tasks) > 1)
        if len(tasks) == 1:
            return [worker.make(tasks[0].request, lambda event: self._on_event(tasks[0], event))]
        return worker.make_many(
            [task.request for task in tasks], lambda index, event: self._on_event(tasks[index], event)
        )


def _ended(task: BatchTask, outcome: GenerateResult | BaseException, seconds: float, is_shared: bool) -> TaskEnded:
    if isinstance(outcome, BaseException):
        return TaskEnded(task=task, result=None, error=outcome, seconds=seconds, is_shared=is_shared)
    return TaskEnded(task=task, result=outcome, error=None, seconds=seconds)
