"""What the runner does to the queue, on the store's thread: each function is one whole change."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from mezzotint.jobs.store import Held, JobStore, Lease, Recovered, Task, TaskState, seconds_of
from mezzotint.protocol import GeneratedImage, GenerateResult
from mezzotint_app.errors import is_for_want_of_space
from mezzotint_app.processes.service import GONE, NOT_RUNNING, Failure
from mezzotint_app.viewmodel.queue.leftover_latents import leftover

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
    stops: bool
    cancelled: bool  # the task that runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """The next task, and the latents that it can be finished from."""

    task: Task | None
    latents: str | None
    paused: bool  # why there is none; otherwise nothing waits
    version: int


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


def look(store: JobStore, task: int | None) -> Look:
    """What others may have changed."""
    return Look(
        version=store.version(),
        paused=store.paused(),
        stops=store.stops_after_current(),
        cancelled=task is not None and store.cancellation_asked(task),
    )


def claim(store: JobStore, owner: str, folder: Path, without: Collection[str]) -> Claimed:
    """Begin the next task."""
    task = store.claim(owner)
    latents = None
    if task is not None:
        started = store.row(task.entry).started
        latents = None if started is None else leftover(folder, task.request, started, without)
    return Claimed(task=task, latents=latents, paused=store.paused(), version=store.version())


def finish(store: JobStore, task: int, result: GenerateResult) -> TaskState | None:
    """All is made; images are told once more, in case the disk was full when they came."""
    for image in result.images:
        store.saved(task, image)
    return store.finish(task, seconds_of(result))


def finish_decoded(store: JobStore, task: int, image: GeneratedImage) -> TaskState | None:
    """One image was finished from its latents; the others are still to be made."""
    store.saved(task, image)
    return store.put_back(task, because="")


def settle(store: JobStore, task: int, failure: Failure, *, died: bool) -> TaskState | None:
    """It did not come to its end."""
    if failure.kind == "device_lost" or (failure.kind == GONE and died):
        return store.died(task, because=failure.message)
    if failure.kind in (GONE, NOT_RUNNING, "busy"):
        return store.put_back(task, because=failure.message)
    if failure.kind == "cancelled" and not store.cancellation_asked(task):
        return store.put_back(task, because="" if store.paused() else failure.message)
    if is_for_want_of_space(failure):
        store.pause()
        return store.put_back(task, because=failure.message)
    return store.fail(task, failure.kind, failure.message)


def release(store: JobStore, lease: Lease, because: str) -> None:
    """Let others make images."""
    try:
        store.release(lease.owner, because=because)
    finally:
        lease.release()
