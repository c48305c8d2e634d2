"""Claiming the next task for a process."""

from dataclasses import replace

from mezzotint.jobs.editing import Clock, settle_entries
from mezzotint.jobs.expectation import key_id
from mezzotint.jobs.listing import TASK
from mezzotint.jobs.recovery import readable_tasks, take_found
from mezzotint.jobs.remaining import remaining_request
from mezzotint.jobs.requests import SizeOf, no_size, run_key
from mezzotint.jobs.storage.database import Database, Row
from mezzotint.jobs.switches import PAUSED, STOPPING, setting, switch
from mezzotint.jobs.tasks import Task


def claim(database: Database, owner: str, now: Clock, size_of: SizeOf = no_size) -> Task | None:
    """Claim the next task for one process; the claim is on disk before this returns.

    Its time is recorded under the size that `size_of` returns: the process that added it may read no images.
    """
    _look_before_next(database)
    with database.writing():
        if setting(database, STOPPING):
            switch(database, paused=True, stop_after_current=False)
        if setting(database, PAUSED):
            return None
        task = _next_unmade(database, now)
        if task is None:
            return None
        made = {image.index for image in task.images}
        left_out = skipped_images(database, task.id) - made
        part = remaining_request(task.request, made | left_out)
        begun = now()
        database.change(
            "UPDATE tasks SET state = 'running', attempts = attempts + 1, owner = ?, claimed = ?, left_after = ?, "
            "cancel = 0, error = NULL, error_kind = NULL, key = ? WHERE id = ?",
            owner,
            begun,
            part.missing_after + len(left_out),
            key_id(database, run_key(task.request, size_of)),
            task.id,
        )
        database.change("UPDATE entries SET started = coalesce(started, ?) WHERE id = ?", begun, task.entry)
        settle_entries(database, [task.entry], now)
    return replace(task, request=part.request, state="running", attempts=task.attempts + 1, error=None, error_kind=None)


def _look_before_next(database: Database) -> None:
    """Look for images of a retried task: its dead process may have finished some after the last check."""
    found = _next(database)
    if found is not None and found[5]:
        take_found(database, found)


def skipped_images(database: Database, task: int) -> set[int]:
    """Return the indices of the task's images that are skipped."""
    return {number for (number,) in database.rows("SELECT number FROM skipped WHERE task = ?", task)}


def is_skipped(database: Database, task: int, seed: int) -> bool:
    """Whether the image with that seed is skipped."""
    found = database.row(
        "SELECT 1 FROM skipped WHERE task = ?1 AND number = ?2 - (SELECT seed FROM tasks WHERE id = ?1)", task, seed
    )
    return found is not None


def has_waiting(database: Database) -> bool:
    """Whether any entry has a waiting task."""
    return database.row("SELECT 1 FROM entries WHERE waiting > 0 LIMIT 1") is not None


def _next_unmade(database: Database, now: Clock) -> Task | None:
    """Return the next task that lacks an image: the last one may have arrived after its task was requeued."""
    while (found := _next(database)) is not None:
        (task,) = readable_tasks(database, [found], now) or (None,)
        if task is None:
            continue
        made = {image.index for image in task.images}
        if len(made | skipped_images(database, task.id)) < task.request.count:
            return task
        state = "done" if len(made) == task.request.count else "cancelled"
        database.change("UPDATE tasks SET state = ?, error = NULL, error_kind = NULL WHERE id = ?", state, task.id)
        settle_entries(database, [task.entry], now)
    return None


def _next(database: Database) -> Row | None:
    entry = database.row("SELECT id FROM entries WHERE waiting > 0 ORDER BY position, id LIMIT 1")
    if entry is None:
        return None
    return database.row(
        f"SELECT {TASK} FROM tasks WHERE state = 'waiting' AND entry = ? ORDER BY number LIMIT 1",  # noqa: S608
        *entry,
    )
