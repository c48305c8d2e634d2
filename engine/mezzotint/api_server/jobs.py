"""One job at a time; the others wait in order, and only so many of them."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future

from mezzotint.api_server.progress import Progress
from mezzotint.api_server.refusal import Refusal, busy, refusal_of
from mezzotint.errors import Cancelled, DeviceLost, MezzotintError, OutOfMemory
from mezzotint.protocol import IsCancelled, OnEvent
from mezzotint.rpc.server import Lane

Answer = dict[str, object]
Work = Callable[[OnEvent, IsCancelled], Answer]

IGNORED = "ignored_fields"  # in an answer

_log = logging.getLogger("mezzotint.api")


class ApiJob:
    """A job from its request to its answer."""

    def __init__(self, name: str, images: int, work: Work) -> None:
        self.name, self.progress = name, Progress(images)
        self.ignored: tuple[str, ...] = ()  # fields of its request that were not used
        self.answer: Future[Answer] = Future()  # raises Refusal if it is an error
        self._work, self._stop = work, threading.Event()

    def run(self) -> Answer:
        """Do the work, unless it was cancelled before."""
        if self._stop.is_set():
            raise Cancelled("the job was cancelled before it began")
        self.progress.begin()
        return self._work(self.progress.on_event, self._stop.is_set)

    def finish(self, outcome: "Answer | Refusal") -> None:
        """Give the answer to who waits for it."""
        if isinstance(outcome, Refusal):
            self.answer.set_exception(outcome)
        else:
            self.answer.set_result(outcome | {IGNORED: list(self.ignored)})

    @property
    def cancelled(self) -> bool:
        """Whether it is to end early."""
        return self._stop.is_set()

    def cancel(self) -> None:
        """Have it end within a step."""
        self._stop.set()


class ApiJobs:
    """The queue of jobs."""

    def __init__(self, most_waiting: int) -> None:
        self._most, self._lane = most_waiting, Lane("api jobs")
        self._lock = threading.Lock()
        self._unfinished: list[ApiJob] = []
        self._ending = False
        self.lost: DeviceLost | None = None  # why no job can run here any more

    @property
    def running(self) -> ApiJob | None:
        """The job that runs, if one does."""
        with self._lock:
            return self._unfinished[0] if self._unfinished else None

    @property
    def waiting(self) -> int:
        """The number of jobs behind it."""
        with self._lock:
            return max(0, len(self._unfinished) - 1)

    def submit(self, job: ApiJob) -> None:
        """Queue a job; raises Refusal (503) if too many wait already."""
        with self._lock:
            if self._ending or len(self._unfinished) > self._most:
                raise busy("the server is stopping" if self._ending else f"{self._most} jobs are waiting already")
            self._unfinished.append(job)
            self._lane.submit(lambda: self._run(job), job)

    def interrupt(self) -> None:
        """Cancel the job that runs."""
        job = self.running
        if job is not None:
            job.cancel()

    def close(self, seconds: float) -> bool:
        """Cancel everything; returns whether it ended within `seconds`."""
        with self._lock:
            self._ending = True
            for job in self._unfinished:
                job.cancel()
        return self._lane.stop(seconds)

    def _run(self, job: ApiJob) -> None:
        outcome = self._outcome(job)
        with self._lock:
            self._unfinished.remove(job)  # first: the client may send its next job as soon as it has the answer
        job.finish(outcome)

    def _outcome(self, job: ApiJob) -> Answer | Refusal:
        try:
            return job.run()
        except Refusal as refusal:
            return refusal
        except MezzotintError as error:
            self.lost = error if isinstance(error, DeviceLost) else self.lost
            return refusal_of(error)
        except MemoryError:
            return refusal_of(OutOfMemory("the machine's memory is used up; a smaller image needs less"))
        except BaseException as error:  # noqa: BLE001  the log has it; a Rust panic is no Exception
            _log.exception("bug in %s", job.name)
            return bug(error)


def bug(error: BaseException) -> Refusal:
    """The answer to what should not have happened; the traceback stays in the server's log."""
    return Refusal(500, "bug", f"unexpected {type(error).__name__}; the server's log has the details, please report it")
