"""The queue worked through, in this process: claim, make, save, and so on to its end."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mezzotint.errors import Cancelled, DeviceLost, MezzotintError, OutOfMemory, StorageError
from mezzotint.jobs.lease import Lease
from mezzotint.jobs.space import is_for_want_of_space
from mezzotint.jobs.store import JobStore, Task, TaskState, seconds_of
from mezzotint.protocol import Event, GenerateResult, IsCancelled, OnEvent, Saved

if TYPE_CHECKING:
    from mezzotint.engine import Engine

Stopped = Literal["empty", "paused", "cancelled", "disk_full"]

_LOOK = 0.25  # seconds between looks at what others did to the queue
_log = logging.getLogger("mezzotint.jobs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What became of one task."""

    task: Task
    state: TaskState | None  # None: it was removed meanwhile
    result: GenerateResult | None
    error: Exception | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    """Why the work ended, and how many tasks became what."""

    stopped: Stopped
    done: int
    failed: int


def drain(
    store: JobStore,
    lease: Lease,
    engine: "Engine",
    on_event: OnEvent,
    cancelled: IsCancelled,
    *,
    until_empty: bool = True,
    on_begun: Callable[[Task], None] = lambda _: None,
    on_ended: Callable[[Ended], None] = lambda _: None,
    wait: Callable[[float], None] = time.sleep,
) -> Drained:
    """Make what waits, task by task, as the holder of the lease; without `until_empty` wait for more.

    Raises StorageError when the queue itself cannot be written, and DeviceLost when this process can do no more.
    """
    done = failed = 0
    while not cancelled():
        task = store.claim(lease.owner)
        if task is None:
            if until_empty:
                return Drained(stopped="paused" if store.paused() else "empty", done=done, failed=failed)
            wait(_LOOK)
            continue
        on_begun(task)
        ended = _Run(store, task, on_event, cancelled).run(engine)
        done, failed = done + (ended.state == "done"), failed + (ended.state in ("failed", "set_aside"))
        on_ended(ended)
        if isinstance(ended.error, DeviceLost):
            raise ended.error
        if isinstance(ended.error, StorageError) and ended.state == "waiting":
            return Drained(stopped="disk_full", done=done, failed=failed)
    return Drained(stopped="cancelled", done=done, failed=failed)


class _Run:
    """One task on its way."""

    def __init__(self, store: JobStore, task: Task, on_event: OnEvent, cancelled: IsCancelled) -> None:
        self._store, self._task, self._on_event, self._cancelled = store, task, on_event, cancelled
        self._thread = threading.get_ident()
        self._asked, self._next_look = False, 0.0

    def run(self, engine: "Engine") -> Ended:
        """Make it, and tell the queue."""
        try:
            result = engine.generate(self._task.request, self._event, self._is_to_stop)
        except BrokenPipeError:  # whoever listened has gone: the command ends, and nothing is wrong with the task
            self._store.put_back(self._task.id, because="nobody listens any more")
            raise
        except Exception as error:  # noqa: BLE001  one task that cannot be made does not keep the others from it
            return Ended(task=self._task, state=self._settle(error), result=None, error=error)
        except BaseException:
            self._store.put_back(self._task.id, because="the program was stopped")
            raise
        state = self._store.finish(self._task.id, seconds_of(result))
        return Ended(task=self._task, state=state, result=result, error=None)

    def _event(self, event: Event) -> None:
        if isinstance(event, Saved):
            self._store.saved(self._task.id, event.image)
        self._on_event(event)

    def _is_to_stop(self) -> bool:
        """Asked between any two blocks, from whichever thread; the queue only now and then, and from its own."""
        now = time.monotonic()
        if not self._asked and now >= self._next_look and threading.get_ident() == self._thread:
            self._next_look = now + _LOOK
            self._asked = self._store.cancellation_asked(self._task.id) or self._store.paused()
        return self._asked or self._cancelled()

    def _settle(self, error: Exception) -> TaskState | None:
        task = self._task.id
        if isinstance(error, Cancelled):
            if self._store.cancellation_asked(task):
                return self._store.fail(task, "cancelled", str(error))
            return self._store.put_back(task, because="" if self._store.paused() else str(error))
        if isinstance(error, DeviceLost):
            return self._store.died(task, because=str(error))
        if isinstance(error, StorageError) and is_for_want_of_space(error, self._task.request):
            self._store.pause()
            return self._store.put_back(task, because=str(error))
        if isinstance(error, MezzotintError):
            return self._store.fail(task, error.kind, str(error))
        if isinstance(error, MemoryError):
            return self._store.fail(
                task, OutOfMemory.kind, "the machine's memory is used up; a smaller size needs less"
            )
        _log.error("a bug in task %s", task, exc_info=error)
        return self._store.fail(task, "bug", f"unexpected {type(error).__name__}: this is a bug, please report it")
