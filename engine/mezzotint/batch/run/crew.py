"""The threads of a run: one that looks ahead in the stream of tasks, one for each worker. They tell one inbox."""

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mezzotint.batch.run.dispatch import Dispatcher
from mezzotint.batch.run.workers import Worker, WorkerUnusable
from mezzotint.batch.tasks.tasks import BatchTask, Skipped
from mezzotint.protocol import Event, GenerateResult

WINDOW = 256  # tasks that are looked at ahead: their inputs are read and hashed while images are made


@dataclass(frozen=True, slots=True, kw_only=True)
class Came:
    """An item of the stream."""

    item: BatchTask | Skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEnded:
    """There are no more; or the stream broke off."""

    error: BaseException | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEnded:
    """A worker has an image, or an error."""

    task: BatchTask
    result: GenerateResult | None
    error: BaseException | None
    seconds: float  # its share of those that were made together
    is_shared: bool = False  # the error: of several that were made together, nobody knows which of them is to blame


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupBroke:
    """Something ended the making of several tasks together; each of them is told of besides."""

    tasks: int
    error: BaseException


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLeft:
    """A worker takes no more."""

    error: BaseException | None


Message = Came | StreamEnded | TaskEnded | GroupBroke | WorkerLeft
Begin = Callable[[BatchTask, bool], None]  # a task, and whether it is made together with others
Inbox = queue.SimpleQueue[Message]


class Ahead:
    """Reads the stream, so many items at most before the run has settled them."""

    def __init__(self, stream: Iterator[BatchTask | Skipped], inbox: Inbox, window: int = WINDOW) -> None:
        self._stream, self._inbox = stream, inbox
        self._places = threading.Semaphore(window)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._read, name="batch: looking ahead", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def settled(self) -> None:
        """One of the items is done with."""
        self._places.release()

    def stop(self) -> None:
        """Read no further."""
        self._stopped.set()
        self._places.release()

    def _read(self) -> None:
        error: BaseException | None = None
        try:
            for item in self._stream:
                self._inbox.put(Came(item=item))
                self._places.acquire()
                if self._stopped.is_set():
                    break
        except BaseException as caught:  # noqa: BLE001  raised again by the run, in its own thread
            error = caught
        self._inbox.put(StreamEnded(error=error))


class Crew:
    """The workers, each with a thread."""

    def __init__(
        self,
        workers: Sequence[Worker],
        dispatcher: Dispatcher,
        inbox: Inbox,
        *,
        begin: Begin,
        tell: Callable[[BatchTask, Event], None],
    ) -> None:
        self._dispatcher, self._inbox, self._begin, self._tell = dispatcher, inbox, begin, tell
        self._threads = [
            threading.Thread(target=self._work, args=(number, worker), name=f"batch: worker {number}", daemon=True)
            for number, worker in enumerate(workers)
        ]

    def start(self) -> None:
        """Begin to take tasks."""
        for thread in self._threads:
            thread.start()

    def _work(self, number: int, worker: Worker) -> None:
        error: BaseException | None = None
        try:
            while error is None and self._dispatcher.wait():
                worker.ready()
                if not (tasks := self._dispatcher.take(number, worker.most)):
                    break
                error = self._make(worker, tasks)
        finally:
            try:
                worker.close()
            finally:
                self._inbox.put(WorkerLeft(error=error))

    def _make(self, worker: Worker, tasks: list[BatchTask]) -> WorkerUnusable | None:
        """Tell what became of each; why the worker is of no more use, if so."""
        started = time.monotonic()
        outcomes: Sequence[GenerateResult | BaseException] = []
        broke: BaseException | None = None
        try:
            outcomes = self._made(worker, tasks)
        except BaseException as caught:  # noqa: BLE001  what cannot be made does not keep the others from it
            broke = caught
            outcomes = [caught] * len(tasks)
        is_shared = broke is not None and len(tasks) > 1
        if broke is not None and is_shared:
            self._inbox.put(GroupBroke(tasks=len(tasks), error=broke))
        seconds = (time.monotonic() - started) / len(tasks)
        for task, outcome in zip(tasks, outcomes, strict=True):
            self._inbox.put(_ended(task, outcome, seconds, is_shared))
        return broke if isinstance(broke, WorkerUnusable) else None

    def _made(self, worker: Worker, tasks: list[BatchTask]) -> Sequence[GenerateResult | BaseException]:
        if worker.in_this_process:
            for task in tasks:
                self._begin(task, len(tasks) > 1)
        if len(tasks) == 1:
            return [worker.make(tasks[0].request, lambda event: self._tell(tasks[0], event))]
        return worker.make_many([task.request for task in tasks], lambda index, event: self._tell(tasks[index], event))


def _ended(task: BatchTask, outcome: GenerateResult | BaseException, seconds: float, is_shared: bool) -> TaskEnded:
    if isinstance(outcome, BaseException):
        return TaskEnded(task=task, result=None, error=outcome, seconds=seconds, is_shared=is_shared)
    return TaskEnded(task=task, result=outcome, error=None, seconds=seconds)
