"""The runner's operations on the queue, run on the store's thread; each function is one complete change."""

from dataclasses import dataclass

from mezzotint.jobs.store import Held, JobStore, Lease, Recovered, TaskState

States = tuple[TaskState | None, ...]  # final states of tasks; None: removed

DEVICE = "auto"  # device of the lease: the one the engine selects by default


@dataclass(frozen=True, slots=True, kw_only=True)
class AcquiredLease:
    """The acquired lease, and what was recovered from an earlier process."""

    lease: Lease
    recovered: Recovered


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStatus:
    """The state of the queue."""

    version: int
    paused: bool
    stops_after_current: bool  # after the current task
    has_waiting: bool  # whether there are tasks to run


def take(store: JobStore, what: str) -> AcquiredLease | Held:
    """Acquire the lease and recover interrupted tasks, or return the current holder."""
    lease = Lease.acquire(DEVICE, what=what)
    if isinstance(lease, Held):
        return lease
    try:
        return AcquiredLease(lease=lease, recovered=store.recover())
    except BaseException:
        lease.release()
        raise


def read_status(store: JobStore) -> QueueStatus:
    """Read the state, which other programs may have changed."""
    return QueueStatus(
        version=store.version(),
        paused=store.paused(),
        stops_after_current=store.stops_after_current(),
        has_waiting=store.has_waiting(),
    )


def engine_ended(store: JobStore, *, owner: str, because: str, died: bool) -> States:
    """Requeue the tasks of an engine that has ended; a task that crashed it twice is set aside."""
    if died:
        return store.on_owner_death(owner, because=because)
    store.release(owner, because=because)
    return ()


def release(store: JobStore, lease: Lease, because: str) -> None:
    """Requeue what was claimed under the lease and release it."""
    try:
        store.release(lease.owner, because=because)
    finally:
        lease.release()
