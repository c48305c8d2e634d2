"""The threads of a run: one that looks ahead in the stream of tasks, one for each worker. They tell one inbox."""

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mezzotint.batch.dispatch import Dispatcher
from mezzotint.batch.tasks import BatchTask, Skipped
from mezzotint.batch.workers import Worker, WorkerUnusable
from mezzotint.protocol import Event, GenerateResult

WINDOW = 256  # tasks that are looked at ahead: their inputs are read and hashed while pictures are made


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
    """A worker has a picture, or an error."""

    task: BatchTask
    result: GenerateResult | None
    error: BaseException | None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLeft:
    """A worker takes no more."""

    error: BaseException | None


Message = Came | StreamEnded | TaskEnded | WorkerLeft
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
        begin: Callable[[BatchTask], None],
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
            while (task := self._dispatcher.take(number)) is not None:
                ended = self._make(worker, task)
                self._inbox.put(ended)
                if isinstance(ended.error, WorkerUnusable):
                    error = ended.error
                    break
        finally:
            try:
                worker.close()
            finally:
                self._inbox.put(WorkerLeft(error=error))

    def _make(self, worker: Worker, task: BatchTask) -> TaskEnded:
        started = time.monotonic()
        result: GenerateResult | None = None
        error: BaseException | None = None
        try:
            if worker.in_this_process:
                self._begin(task)
            result = worker.make(task.request, lambda event: self._tell(task, event))
        except BaseException as caught:  # noqa: BLE001  one task that cannot be made does not keep the others from it
            error = caught
        return TaskEnded(task=task, result=result, error=error, seconds=time.monotonic() - started)
