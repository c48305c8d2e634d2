"""Tasks whose process has died: find their images, and retry, interrupt (the user decides) or set aside the rest."""

import contextlib
from collections.abc import Callable, Collection, Sequence

from mezzotint.codec import to_json
from mezzotint.errors import ProtocolError
from mezzotint.jobs.editing import Clock, settle_entries
from mezzotint.jobs.found_images import found_images
from mezzotint.jobs.listing import TASK, id_list, tasks
from mezzotint.jobs.running import requeue, saved, settle_task
from mezzotint.jobs.storage.database import Database, Row
from mezzotint.jobs.switches import switch
from mezzotint.jobs.tasks import DEATHS_TO_SET_ASIDE, Recovered, Task, TaskState
from mezzotint.jobs.texts import decode_text, encode_text, readable

PROGRAM_ENDED = "the program ended while generating this"
SET_ASIDE = f"the program ended {DEATHS_TO_SET_ASIDE} times while generating this: it is not retried automatically"


def on_engine_death(database: Database, task: int, because: str, now: Clock) -> TaskState | None:
    """Handle the death of the engine during a task: retry it once, then set it aside."""
    for line in database.rows(f"SELECT {TASK} FROM tasks WHERE state = 'running' AND id = ?", task):  # noqa: S608
        take_found(database, line)
    with database.writing():
        found = database.row("SELECT attempts FROM tasks WHERE id = ? AND state = 'running'", task)
        if found is None:
            return None
        again: TaskState = "waiting" if found[0] < DEATHS_TO_SET_ASIDE else "set_aside"
        return _after_death(database, task, again, because, now)


def recover(database: Database, is_alive: Callable[[str], bool], now: Clock) -> Recovered:
    """Handle tasks whose process has died; pauses the queue if any of them is interrupted or set aside."""
    for line in _of_the_dead(database, is_alive):
        take_found(database, line)
    ended: dict[TaskState | None, list[int]] = {}
    with database.writing():
        for task, _, _, _, _, attempts, *_ in _of_the_dead(database, is_alive):
            again: TaskState = "interrupted" if attempts < DEATHS_TO_SET_ASIDE else "set_aside"
            state = _after_death(database, task, again, PROGRAM_ENDED, now)
            ended.setdefault(state, []).append(task)
        if ended.get("interrupted") or ended.get("set_aside"):
            switch(database, paused=True)
    return Recovered(
        done=tuple(ended.get("done", ())),
        interrupted=tuple(ended.get("interrupted", ())),
        set_aside=tuple(ended.get("set_aside", ())),
        cancelled=tuple(ended.get("cancelled", ())),
    )


def abandoned(database: Database, is_alive: Callable[[str], bool]) -> frozenset[int]:
    """Return the entries with running tasks whose process has died, which `recover` has not handled yet."""
    return frozenset(line[1] for line in _of_the_dead(database, is_alive))


def interrupt(database: Database, task: int, now: Clock) -> TaskState | None:
    """Mark a task as interrupted, so that the user is asked about it, although it ended cleanly."""

    def ended(missing: int, _left: int) -> tuple[TaskState, str | None, str | None]:
        return ("interrupted", "died", PROGRAM_ENDED) if missing else ("done", None, None)

    with database.writing():
        state = settle_task(database, task, ended, now)
        if state == "interrupted":
            switch(database, paused=True)
    return state


def release(database: Database, owner: str, because: str, now: Clock) -> None:
    """Requeue all tasks claimed by a process that stops cleanly."""
    for line in _of_owner(database, owner):
        take_found(database, line)
        requeue(database, line[0], because, now)


def on_owner_death(database: Database, owner: str, because: str, now: Clock) -> tuple[TaskState | None, ...]:
    """Handle the death of the engine for all tasks of an owner: retry each once, then set it aside."""
    return tuple(on_engine_death(database, line[0], because, now) for line in _of_owner(database, owner))


def _of_owner(database: Database, owner: str) -> list[Row]:
    return database.rows(f"SELECT {TASK} FROM tasks WHERE state = 'running' AND owner = ?", owner)  # noqa: S608


def _of_the_dead(database: Database, is_alive: Callable[[str], bool]) -> list[Row]:
    """Return running tasks whose owner has died."""
    owners = database.rows("SELECT DISTINCT coalesce(owner, '') FROM tasks WHERE state = 'running'")
    dead = [owner for (owner,) in owners if not is_alive(owner)]
    return database.rows(
        f"SELECT {TASK} FROM tasks WHERE state = 'running' "  # noqa: S608  our own constants
        "AND coalesce(owner, '') IN (SELECT value FROM json_each(?)) ORDER BY entry, number",
        to_json(dead),
    )


def _after_death(database: Database, task: int, again: TaskState, because: str, now: Clock) -> TaskState | None:
    def ended(missing: int, _left: int) -> tuple[TaskState, str | None, str | None]:
        if missing == 0:
            return "done", None, None
        return again, "died", because if again != "set_aside" else f"{SET_ASIDE} ({because})"

    return settle_task(database, task, ended, now, in_good_order=False)


def take_found(database: Database, line: Row) -> None:
    """Record images of a task that its process did not live to report."""
    begun = database.row("SELECT started FROM entries WHERE id = ?", line[1])
    if begun is None or begun[0] is None:
        return
    with contextlib.suppress(ProtocolError):
        (task,) = tasks(database, [line])
        for image in found_images(task, begun[0], lambda paths: _known(database, paths)):
            saved(database, task.id, image)


def _known(database: Database, paths: Collection[str]) -> set[str]:
    listed = to_json([encode_text(path) for path in paths])
    found = database.rows("SELECT path FROM images WHERE path IN (SELECT value FROM json_each(?))", listed)
    return {decode_text(path) for (path,) in found}


def interrupted(database: Database, now: Clock) -> tuple[Task, ...]:
    """Return the tasks for which the user must decide whether to resume them."""
    found = database.rows(f"SELECT {TASK} FROM tasks WHERE state = 'interrupted' ORDER BY entry, number")  # noqa: S608
    with database.writing():
        return readable_tasks(database, found, now)


def readable_tasks(database: Database, lines: Sequence[Row], now: Clock) -> tuple[Task, ...]:
    """Return the tasks that can be parsed; damaged ones are marked as failed, and do not block the others."""
    try:
        return tasks(database, lines)
    except ProtocolError as error:
        if len(lines) > 1:
            return tuple(task for line in lines for task in readable_tasks(database, [line], now))
        told = readable(f"the queue can no longer read it ({error}): add it again")
        database.change(
            "UPDATE tasks SET state = 'failed', error_kind = ?, error = ? WHERE id = ?", error.kind, told, lines[0][0]
        )
        settle_entries(database, [lines[0][1]], now)
        return ()


def resume_interrupted(database: Database, entries: Collection[int] | None, now: Clock) -> None:
    """Requeue interrupted tasks of `entries` (None: all) in their places, and resume the queue."""
    with database.writing():
        if entries is None:
            entries = [entry for (entry,) in database.rows("SELECT id FROM entries WHERE interrupted > 0")]
        database.change(
            "UPDATE tasks SET state = 'waiting', error = NULL, error_kind = NULL "
            "WHERE state = 'interrupted' AND entry IN (SELECT value FROM json_each(?))",
            id_list(entries),
        )
        settle_entries(database, entries, now)
        switch(database, paused=False)
