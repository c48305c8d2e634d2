"""What the runner does to the queue, on the store's thread: each function is one whole change."""

from dataclasses import dataclass

from mezzotint.jobs.store import Held, JobStore, Lease, Recovered

DEVICE = "auto"  # the device that the lease is for: that which the engine takes by itself


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """The lease is ours, and what an earlier process left has been seen to."""

    lease: Lease
    recovered: Recovered


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How the queue stands."""

    version: int
    paused: bool
    stops: bool  # after the current task
    waits: bool  # whether there is something to make


def take(store: JobStore, what: str) -> Taken | Held:
    """The right to make images, or who has it."""
    lease = Lease.acquire(DEVICE, what=what)
    if isinstance(lease, Held):
        return lease
    try:
        return Taken(lease=lease, recovered=store.recover())
    except BaseException:
        lease.release()
        raise


def look(store: JobStore) -> Look:
    """What anybody may have changed."""
    return Look(
        version=store.version(),
        paused=store.paused(),
        stops=store.stops_after_current(),
        waits=store.waits(),
    )


def release(store: JobStore, lease: Lease, because: str) -> None:
    """Let others make images."""
    try:
        store.release(lease.owner, because=because)
    finally:
        lease.release()
