"""The queue: what is to be made, in which order, how far it is. It outlives every program that looks at it."""

import contextlib
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from mezzotint import paths
from mezzotint.errors import StorageError
from mezzotint.jobs import claiming, editing, elsewhere, expectation, listing, order, recovery, running, switches
from mezzotint.jobs.expectation import seconds_of as seconds_of
from mezzotint.jobs.lease import Held as Held
from mezzotint.jobs.lease import Lease as Lease
from mezzotint.jobs.lease import owner_is_alive as owner_is_alive
from mezzotint.jobs.matrix import alternatives as alternatives
from mezzotint.jobs.matrix import expand as expand
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
from mezzotint.jobs.tasks import RunKey as RunKey
from mezzotint.jobs.tasks import Task as Task
from mezzotint.jobs.tasks import TaskCounts as TaskCounts
from mezzotint.jobs.tasks import TaskState as TaskState
from mezzotint.protocol import GeneratedImage, GenerateRequest


def queue_path() -> Path:
    """The path of the queue's database."""
    return paths.state_folder() / "queue.sqlite"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A queue that can be used, and what a person should know: what was moved aside, what was rebuilt."""

    store: "JobStore"
    notice: str | None


class JobStore:
    """The queue's file, open in one thread. Every method may raise StorageError, and the queue is as it was then.

    Whatever a method says is done is on the disk when it returns.
    """

    def __init__(self, database: Database, now: Callable[[], float] = time.time) -> None:
        self._database, self._now = database, now
        self._last_backup = ""  # the day

    @classmethod
    def open(cls, path: Path | None = None, *, now: Callable[[], float] = time.time) -> Opened:
        """Open the queue in this thread; a damaged one is moved aside, and what can be read of it is kept."""
        opened = opening.open_database(path or queue_path(), now=now)
        return Opened(store=cls(opened.database, now), notice=opened.notice)

    def close(self) -> None:
        """Close the database."""
        self._database.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- what there is

    def rows(
        self, *, offset: int = 0, limit: int = 500, states: Collection[TaskState] | None = None
    ) -> tuple[EntryRow, ...]:
        """A page of the entries, in the order of the queue."""
        return listing.rows(self._database, offset=offset, limit=limit, states=states)

    def count(self, states: Collection[TaskState] | None = None) -> int:
        """How many entries there are."""
        return listing.count(self._database, states)

    def row(self, entry: int) -> EntryRow:
        """One entry as lists show it. Raises UsageError when it was removed."""
        return listing.row(self._database, entry)

    def request_images(self) -> frozenset[str]:
        """The paths of all images that entries begin from, whatever became of them."""
        return listing.request_images(self._database)

    def entry(self, entry: int) -> Entry:
        """One entry with all of its tasks. Raises UsageError when it was removed."""
        return listing.entry(self._database, entry)

    def version(self) -> int:
        """Another number after any change, also by another process; for as long as this store is open."""
        by_others = self._database.row("PRAGMA data_version")
        return (int(by_others[0]) if by_others else 0) << 40 | self._database.connection.total_changes

    # ---- what a person does

    def add(
        self,
        requests: Sequence[GenerateRequest],
        *,
        title: str | None = None,
        front: bool = False,
        before: int | None = None,
    ) -> int:
        """One entry of these requests, last, first or before another: its id. Seeds and paths are fixed now."""
        return editing.add(self._database, requests, title=title, front=front, before=before, now=self._now)

    def move(self, entries: Collection[int], before: int | None) -> None:
        """Put entries before another, or last, in the order that they are in."""
        order.move(self._database, entries, before)

    def pause(self) -> None:
        """Let nothing be begun, and have what runs put back: whoever runs it stops it. Its finished images stay."""
        self._switch(paused=True)

    def resume(self) -> None:
        """Resume."""
        self._switch(paused=False, stop_after_current=False)

    def paused(self) -> bool:
        """Whether the queue is paused."""
        return switches.setting(self._database, switches.PAUSED)

    def stop_after_current(self, stop: bool) -> None:
        """Pause as soon as what runs is done; or do not, after all."""
        self._switch(stop_after_current=stop)

    def stops_after_current(self) -> bool:
        """Whether the queue pauses as soon as what runs is done."""
        return switches.setting(self._database, switches.STOPPING)

    def _switch(self, **values: bool) -> None:
        with self._database.writing():
            switches.switch(self._database, **values)

    def cancel(self, entries: Collection[int]) -> None:
        """What waits ends at once; what runs is marked, so that whoever runs it stops it."""
        editing.cancel(self._database, entries, self._now)

    def cancel_task(self, task: int) -> None:
        """Cancel one task."""
        editing.cancel_task(self._database, task, self._now)

    def skip_image(self, task: int, seed: int) -> None:
        """Leave out the image of that seed until its entry is retried; a task that lacks no other is cancelled then."""
        editing.skip_image(self._database, task, seed)

    def is_skipped(self, task: int, seed: int) -> bool:
        """Whether the image of that seed is left out."""
        return claiming.is_skipped(self._database, task, seed)

    def retry(self, entries: Collection[int]) -> None:
        """What failed, was cancelled, set aside or interrupted waits again; images that are there stay."""
        editing.retry(self._database, entries, self._now)

    def go_elsewhere(self, old: str, new: str) -> int:
        """What waits to be made into templates that begin with `old` goes to `new` instead: how many entries."""
        return elsewhere.go_elsewhere(self._database, old, new)

    def duplicate(self, entries: Collection[int]) -> tuple[int, ...]:
        """The same once more, last; a seed that was drawn is drawn again. The new ids."""
        return editing.duplicate(self._database, entries, self._now)

    def remove(self, entries: Collection[int]) -> tuple[int, ...]:
        """Take entries out; those that run are cancelled and stay until they have stopped: their ids."""
        return editing.remove(self._database, entries, self._now)

    def clear_finished(self) -> int:
        """Take out all that is done or was cancelled: how many. Images stay, and so does what failed."""
        return editing.clear_finished(self._database)

    # ---- what whoever makes the images does

    def claim(self, owner: str) -> Task | None:
        """The next task, asked for those of its images that are missing; None: paused, or nothing waits.

        `owner` is that of a lease. That it was begun is on the disk when it returns.
        """
        with contextlib.suppress(StorageError):  # told when the queue is opened next; no reason not to work
            self._last_backup = backups.back_up_daily(self._database, self._now, after=self._last_backup)
        return claiming.claim(self._database, owner, self._now)

    def saved(self, task: int, image: GeneratedImage) -> None:
        """An image is safely on the disk; telling it twice does no harm."""
        running.saved(self._database, task, image)

    def finish(self, task: int, seconds: PhaseSeconds | None = None) -> TaskState | None:
        """The engine is done with it: what has become of it; None: it was not running."""
        return running.finish(self._database, task, seconds, self._now)

    def fail(self, task: int, kind: str, message: str) -> TaskState | None:
        """It could not be made, for a reason of errors.py; of kind `cancelled`, it was stopped."""
        return running.fail(self._database, task, kind, message, self._now)

    def put_back(self, task: int, *, because: str) -> TaskState | None:
        """It was given up in good order and waits again in its place, unless it was cancelled meanwhile."""
        return running.put_back(self._database, task, because, self._now)

    def died(self, task: int, *, because: str) -> TaskState | None:
        """The engine's process ended while it made this: it waits again; after the second time it is set aside."""
        return recovery.died(self._database, task, because, self._now)

    def interrupt(self, task: int) -> TaskState | None:
        """Whoever wanted it has died: a person is asked whether to go on, and it is not the task's fault."""
        return recovery.interrupt(self._database, task, self._now)

    def release(self, owner: str, *, because: str) -> None:
        """All that was claimed under a lease waits again; its images that are there are counted."""
        recovery.release(self._database, owner, because, self._now)

    def owner_died(self, owner: str, *, because: str) -> tuple[TaskState | None, ...]:
        """The engine's process ended that worked under a lease, which goes on: as `died`, for what it was making."""
        return recovery.owner_died(self._database, owner, because, self._now)

    def waits(self) -> bool:
        """Whether there is something to claim, once the queue is not paused."""
        return claiming.waits(self._database)

    def cancellation_asked(self, task: int) -> bool:
        """Whether a task that runs is to be stopped, also since its entry was removed."""
        found = self._database.row("SELECT cancel FROM tasks WHERE id = ?", task)
        return found is None or bool(found[0])

    # ---- after a crash

    def recover(self, is_alive: Callable[[str], bool] = owner_is_alive) -> Recovered:
        """At start: see to tasks whose process has died. The queue is paused if any is left to be asked about."""
        return recovery.recover(self._database, is_alive, self._now)

    def interrupted(self) -> tuple[Task, ...]:
        """Tasks that a person is asked about."""
        return recovery.interrupted(self._database, self._now)

    def resume_interrupted(self, entries: Collection[int] | None = None) -> None:
        """They (None: all) wait again in their places, and the queue goes on."""
        recovery.resume_interrupted(self._database, entries, self._now)

    # ---- how long it takes

    def record(self, key: RunKey, seconds: PhaseSeconds) -> None:
        """Learn from a run; `finish` does so by itself."""
        with self._database.writing():
            expectation.remember(self._database, expectation.key_id(self._database, key), seconds)

    def learn_pace(self, request: GenerateRequest, step: float) -> None:
        """Learn from a run that was cancelled in its steps: seconds a step."""
        with self._database.writing():
            expectation.remember_pace(self._database, request, step)

    def expected(self, request: GenerateRequest, *, loaded: bool = False) -> Expected:
        """How long a request will take; `loaded`: its model is where it works."""
        return expectation.expected(self._database, request, loaded=loaded)

    def expected_entry(self, entry: int) -> float | None:
        """Seconds for what is left of an entry; None: nothing like it was run."""
        return expectation.expected_queue(self._database, entry)

    def expected_queue(self) -> float | None:
        """Seconds for all that waits and runs; None: nothing like some of it was run."""
        return expectation.expected_queue(self._database)
