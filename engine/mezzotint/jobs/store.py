"""The queue: what to generate, in which order, and its progress. It outlives every program that uses it."""

import contextlib
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from mezzotint import paths
from mezzotint.errors import StorageError
from mezzotint.jobs import claiming, editing, expectation, listing, order, output_redirect, recovery, running, switches
from mezzotint.jobs.expectation import seconds_of as seconds_of
from mezzotint.jobs.lease import Held as Held
from mezzotint.jobs.lease import Lease as Lease
from mezzotint.jobs.lease import owner_is_alive as owner_is_alive
from mezzotint.jobs.matrix import alternatives as alternatives
from mezzotint.jobs.matrix import expand as expand
from mezzotint.jobs.requests import SizeOf, no_size
from mezzotint.jobs.requests import enlarging_request as enlarging_request
from mezzotint.jobs.requests import run_key as run_key
from mezzotint.jobs.requests import title_of as title_of
from mezzotint.jobs.space import is_full as is_full
from mezzotint.jobs.storage import backups, opening
from mezzotint.jobs.storage.database import Database
from mezzotint.jobs.tasks import Entry as Entry
from mezzotint.jobs.tasks import EntryRow as EntryRow
from mezzotint.jobs.tasks import Expected as Expected
from mezzotint.jobs.tasks import PhaseSeconds as PhaseSeconds
from mezzotint.jobs.tasks import Recovered as Recovered
from mezzotint.jobs.tasks import Task as Task
from mezzotint.jobs.tasks import TaskCounts as TaskCounts
from mezzotint.jobs.tasks import TaskState as TaskState
from mezzotint.protocol import GeneratedImage, GenerateRequest


def queue_path() -> Path:
    """The path of the queue's database."""
    return paths.state_folder() / "queue.sqlite"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An opened queue, and a notice for the user: what was moved aside, what was rebuilt."""

    store: "JobStore"
    notice: str | None


class JobStore:
    """The queue's database, open in one thread. Every method may raise StorageError, and then leaves it unchanged.

    Whatever a method does is on disk when it returns.
    """

    def __init__(self, database: Database, now: Callable[[], float] = time.time, size_of: SizeOf = no_size) -> None:
        """`size_of`: the size that an input image gives a request; by default no image is read."""
        self._database, self._now, self._size_of = database, now, size_of
        self._last_backup = ""  # its day

    @classmethod
    def open(
        cls, path: Path | None = None, *, now: Callable[[], float] = time.time, size_of: SizeOf = no_size
    ) -> Opened:
        """Open the queue in this thread; a damaged one is moved aside, and what is readable of it is kept."""
        opened = opening.open_database(path or queue_path(), now=now)
        return Opened(store=cls(opened.database, now, size_of), notice=opened.notice)

    def close(self) -> None:
        """Close the database."""
        self._database.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- queries

    def rows(
        self, *, offset: int = 0, limit: int = 500, states: Collection[TaskState] | None = None
    ) -> tuple[EntryRow, ...]:
        """Return a page of the entries, in the order of the queue."""
        return listing.rows(self._database, offset=offset, limit=limit, states=states)

    def count(self, states: Collection[TaskState] | None = None) -> int:
        """How many entries there are."""
        return listing.count(self._database, states)

    def row(self, entry: int) -> EntryRow:
        """Return one entry as lists show it. Raises UsageError if it was removed."""
        return listing.row(self._database, entry)

    def request_images(self) -> frozenset[str]:
        """Return the paths of all input images of entries, in any state."""
        return listing.request_images(self._database)

    def entry(self, entry: int) -> Entry:
        """Return one entry with all of its tasks. Raises UsageError if it was removed."""
        return listing.entry(self._database, entry)

    def version(self) -> int:
        """Return a number that differs after any change, also by another process, while this store is open."""
        by_others = self._database.row("PRAGMA data_version")
        return (int(by_others[0]) if by_others else 0) << 40 | self._database.connection.total_changes

    # ---- user actions

    def add(
        self,
        requests: Sequence[GenerateRequest],
        *,
        title: str | None = None,
        front: bool = False,
        before: int | None = None,
    ) -> int:
        """Add an entry at the end, the front or before another; return its id. Seeds and paths are fixed now."""
        return editing.add(self._database, requests, title=title, front=front, before=before, now=self._now)

    def move(self, entries: Collection[int], before: int | None) -> None:
        """Move entries before another, or to the end, keeping their order."""
        order.move(self._database, entries, before)

    def pause(self) -> None:
        """Start nothing more, and have the running task stopped and requeued. Its finished images stay."""
        self._switch(paused=True)

    def resume(self) -> None:
        """Resume the queue."""
        self._switch(paused=False, stop_after_current=False)

    def paused(self) -> bool:
        """Whether the queue is paused."""
        return switches.setting(self._database, switches.PAUSED)

    def stop_after_current(self, stop: bool) -> None:
        """Set whether to pause as soon as the running task is done."""
        self._switch(stop_after_current=stop)

    def stops_after_current(self) -> bool:
        """Whether the queue pauses as soon as the running task is done."""
        return switches.setting(self._database, switches.STOPPING)

    def _switch(self, **values: bool) -> None:
        with self._database.writing():
            switches.switch(self._database, **values)

    def cancel(self, entries: Collection[int]) -> None:
        """Cancel waiting tasks at once; mark running ones, so that their process stops them."""
        editing.cancel(self._database, entries, self._now)

    def cancel_task(self, task: int) -> None:
        """Cancel one task."""
        editing.cancel_task(self._database, task, self._now)

    def skip_image(self, task: int, seed: int) -> None:
        """Skip the image with that seed until its entry is retried; a task that lacks no other becomes cancelled."""
        editing.skip_image(self._database, task, seed)

    def is_skipped(self, task: int, seed: int) -> bool:
        """Whether the image with that seed is skipped."""
        return claiming.is_skipped(self._database, task, seed)

    def retry(self, entries: Collection[int]) -> None:
        """Requeue what failed, was cancelled, set aside or interrupted; finished images stay."""
        editing.retry(self._database, entries, self._now)

    def redirect_output(self, old: str, new: str) -> int:
        """Redirect waiting entries whose output template begins with `old` to `new`; return how many."""
        return output_redirect.redirect_output(self._database, old, new)

    def duplicate(self, entries: Collection[int]) -> tuple[int, ...]:
        """Add copies at the end, with new seeds where they were random; return their ids."""
        return editing.duplicate(self._database, entries, self._now)

    def remove(self, entries: Collection[int]) -> tuple[int, ...]:
        """Remove entries; running ones are cancelled, and stay until they have stopped. Return the ids of these."""
        return editing.remove(self._database, entries, self._now)

    def clear_finished(self) -> int:
        """Remove done and cancelled entries; return how many. Images stay, and so do failed entries."""
        return editing.clear_finished(self._database)

    # ---- processing

    def claim(self, owner: str) -> Task | None:
        """Claim the next task, narrowed to its missing images; None if the queue is paused or nothing waits.

        `owner` is that of a lease. The claim is on disk when this returns.
        """
        with contextlib.suppress(StorageError):  # reported when the queue is opened next; work can go on
            self._last_backup = backups.back_up_daily(self._database, self._now, after=self._last_backup)
        return claiming.claim(self._database, owner, self._now, self._size_of)

    def saved(self, task: int, image: GeneratedImage) -> None:
        """Record an image that is safely on disk; recording it twice does no harm."""
        running.saved(self._database, task, image)

    def finish(self, task: int, seconds: PhaseSeconds | None = None) -> TaskState | None:
        """Record that the engine is done with a task; return its state, or None if it was not running."""
        return running.finish(self._database, task, seconds, self._now)

    def fail(self, task: int, kind: str, message: str) -> TaskState | None:
        """Record that a task failed, with a kind from errors.py; `cancelled`: it was stopped."""
        return running.fail(self._database, task, kind, message, self._now)

    def requeue(self, task: int, *, because: str) -> TaskState | None:
        """Requeue a task that was given up cleanly, in its place, unless it was cancelled meanwhile."""
        return running.requeue(self._database, task, because, self._now)

    def on_engine_death(self, task: int, *, because: str) -> TaskState | None:
        """Handle the death of the engine process during a task: requeue it, or set it aside after the second time."""
        return recovery.on_engine_death(self._database, task, because, self._now)

    def interrupt(self, task: int) -> TaskState | None:
        """Interrupt a task whose client has died: the user is asked whether to resume; the task is not at fault."""
        return recovery.interrupt(self._database, task, self._now)

    def release(self, owner: str, *, because: str) -> None:
        """Requeue all tasks claimed under a lease; their finished images are counted."""
        recovery.release(self._database, owner, because, self._now)

    def on_owner_death(self, owner: str, *, because: str) -> tuple[TaskState | None, ...]:
        """Handle the death of an engine process whose lease goes on: for all tasks claimed under it."""
        return recovery.on_owner_death(self._database, owner, because, self._now)

    def has_waiting(self) -> bool:
        """Whether there is a task to claim, disregarding a pause."""
        return claiming.has_waiting(self._database)

    def is_cancel_requested(self, task: int) -> bool:
        """Whether a running task is to be stopped, also because its entry was removed."""
        found = self._database.row("SELECT cancel FROM tasks WHERE id = ?", task)
        return found is None or bool(found[0])

    # ---- after a crash

    def recover(self, is_alive: Callable[[str], bool] = owner_is_alive) -> Recovered:
        """Handle tasks whose process has died; call at start. Pauses the queue if the user must decide about any."""
        return recovery.recover(self._database, is_alive, self._now)

    def abandoned(self, is_alive: Callable[[str], bool] = owner_is_alive) -> frozenset[int]:
        """Return the entries that seem to be running, but whose process has died."""
        return recovery.abandoned(self._database, is_alive)

    def interrupted(self) -> tuple[Task, ...]:
        """Return the tasks for which the user must decide whether to resume them."""
        return recovery.interrupted(self._database, self._now)

    def resume_interrupted(self, entries: Collection[int] | None = None) -> None:
        """Requeue interrupted tasks of `entries` (None: all) in their places, and resume the queue."""
        recovery.resume_interrupted(self._database, entries, self._now)

    # ---- timings

    def learn_pace(self, request: GenerateRequest, step: float) -> None:
        """Record the seconds per step of a run that was cancelled during its steps."""
        with self._database.writing():
            expectation.record_step_time(self._database, request, step, self._size_of)

    def expected(self, request: GenerateRequest, *, loaded: bool = False) -> Expected:
        """Estimate the time of a request; `loaded`: its model is already on the device."""
        return expectation.expected(self._database, request, loaded=loaded, size_of=self._size_of)

    def expected_entry(self, entry: int) -> float | None:
        """Estimate the seconds left for an entry; None if nothing like it was run."""
        return expectation.expected_queue(self._database, entry)

    def expected_queue(self) -> float | None:
        """Estimate the seconds for all waiting and running tasks; None if nothing like some of them was run."""
        return expectation.expected_queue(self._database)
