"""Which task is next, and for whom."""

from collections.abc import Collection
from dataclasses import replace

from mezzotint.jobs.editing import Clock, settle_entries
from mezzotint.jobs.listing import TASK, id_list
from mezzotint.jobs.narrowing import narrowed
from mezzotint.jobs.recovery import readable_tasks, take_found
from mezzotint.jobs.storage.database import Database, Row
from mezzotint.jobs.switches import PAUSED, STOPPING, setting, switch
from mezzotint.jobs.tasks import Task

Skipped = dict[int, set[int]]  # by task: seeds of images that are left out


def claim(database: Database, owner: str, now: Clock, skipped: Skipped | None = None) -> Task | None:
    """The next task, for one process alone; that it was begun is on the disk before it is known here."""
    skipped = {} if skipped is None else skipped
    _look_before_next(database)
    with database.writing():
        if setting(database, STOPPING):
            switch(database, paused=True, stop_after_current=False)
        if setting(database, PAUSED):
            return None
        task = _next_unmade(database, now, skipped)
        if task is None:
            return None
        made = {image.index for image in task.images}
        left_out = _left_out(task, skipped) - made
        part = narrowed(task.request, made | left_out)
        begun = now()
        database.change(
            "UPDATE tasks SET state = 'running', attempts = attempts + 1, owner = ?, claimed = ?, left_after = ?, "
            "cancel = 0, error = NULL, error_kind = NULL WHERE id = ?",
            owner,
            begun,
            part.left_after + len(left_out),
            task.id,
        )
        database.change("UPDATE entries SET started = coalesce(started, ?) WHERE id = ?", begun, task.entry)
        settle_entries(database, [task.entry], now)
    return replace(task, request=part.request, state="running", attempts=task.attempts + 1, error=None, error_kind=None)


def _look_before_next(database: Database) -> None:
    """A process that died with it may have ended only after the last look."""
    found = _next(database)
    if found is not None and found[5]:
        take_found(database, found)


def tasks_of(database: Database, entries: Collection[int]) -> tuple[int, ...]:
    """The ids of all tasks of these entries."""
    found = database.rows("SELECT id FROM tasks WHERE entry IN (SELECT value FROM json_each(?))", id_list(entries))
    return tuple(task for (task,) in found)


def _left_out(task: Task, skipped: Skipped) -> set[int]:
    """Which of its images were skipped."""
    return {seed - (task.request.seed or 0) for seed in skipped.get(task.id, ())}


def _next_unmade(database: Database, now: Clock, skipped: Skipped) -> Task | None:
    """The next that lacks an image: the last one may have come after its task was put back."""
    while (found := _next(database)) is not None:
        (task,) = readable_tasks(database, [found], now) or (None,)
        if task is None:
            continue
        made = {image.index for image in task.images}
        if len(made | _left_out(task, skipped)) < task.request.count:
            return task
        skipped.pop(task.id, None)
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
