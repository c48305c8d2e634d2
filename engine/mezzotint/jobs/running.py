"""What whoever makes the pictures does to the queue: claim, save, finish, give back."""

from collections.abc import Callable, Collection
from dataclasses import replace

from mezzotint.jobs.database import Database, Row
from mezzotint.jobs.editing import Clock, settle_entries
from mezzotint.jobs.expectation import remember
from mezzotint.jobs.listing import TASK, tasks
from mezzotint.jobs.narrowing import narrowed, number_of
from mezzotint.jobs.tasks import DEATHS_TO_SET_ASIDE, PhaseSeconds, Recovered, Task, TaskState
from mezzotint.protocol import GeneratedImage

PAUSED, STOPPING = "paused", "stop_after_current"
SET_ASIDE = f"the program ended {DEATHS_TO_SET_ASIDE} times while it made this: it is not begun again by itself"


def setting(database: Database, name: str) -> bool:
    """Whether a switch of the queue is on."""
    found = database.row("SELECT value FROM settings WHERE name = ?", name)
    return bool(found and found[0])


def switch(database: Database, **values: bool) -> None:
    """Set switches of the queue; inside `writing()`."""
    for name, value in values.items():
        database.change("INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", name, int(value))


def claim(database: Database, owner: str, now: Clock) -> Task | None:
    """The next task, for one process alone; that it was begun is on the disk before it is known here."""
    with database.writing():
        if setting(database, STOPPING):
            switch(database, paused=True, stop_after_current=False)
        if setting(database, PAUSED):
            return None
        task = _next_unmade(database, now)
        if task is None:
            return None
        part = narrowed(task.request, {image.index for image in task.images})
        begun = now()
        database.change(
            "UPDATE tasks SET state = 'running', attempts = attempts + 1, owner = ?, claimed = ?, left_after = ?, "
            "cancel = 0, error = NULL, error_kind = NULL WHERE id = ?",
            owner,
            begun,
            part.left_after,
            task.id,
        )
        database.change("UPDATE entries SET started = coalesce(started, ?) WHERE id = ?", begun, task.entry)
        settle_entries(database, [task.entry], now)
    return replace(task, request=part.request, state="running", attempts=task.attempts + 1, error=None, error_kind=None)


def _next_unmade(database: Database, now: Clock) -> Task | None:
    """The next that lacks a picture: the last one may have come after its task was put back."""
    while (found := _next(database)) is not None:
        (task,) = tasks(database, [found])
        if len(task.images) < task.request.count:
            return task
        database.change("UPDATE tasks SET state = 'done', error = NULL, error_kind = NULL WHERE id = ?", task.id)
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


def saved(database: Database, task: int, image: GeneratedImage) -> None:
    """A picture is on the disk. Told twice, it is kept once; of a task that was removed it is not kept."""
    with database.writing():
        found = database.row("SELECT seed, count FROM tasks WHERE id = ?", task)
        number = None if found is None else number_of(image.seed, found[0], found[1])
        if number is not None:
            database.change(
                "INSERT INTO images (task, number, path, width, height, seed, sha256) VALUES (?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT DO NOTHING",
                *(task, number, image.path, image.width, image.height, image.seed, image.sha256),
            )


def finish(database: Database, task: int, seconds: PhaseSeconds | None, now: Clock) -> TaskState | None:
    """The engine is done with it; the task is, too, when all of its pictures are there."""

    def ended(missing: int, left_after: int) -> tuple[TaskState, str | None, str | None]:
        if missing == 0:
            return "done", None, None
        if missing <= left_after:
            return "waiting", None, None
        return "failed", "failed", f"{missing} of its pictures did not come: try again"

    return _end(database, task, ended, now, seconds)


def fail(database: Database, task: int, kind: str, message: str, now: Clock) -> TaskState | None:
    """It could not be made; of kind `cancelled`, it was not to be."""
    state: TaskState = "cancelled" if kind == "cancelled" else "failed"
    error = (None, None) if state == "cancelled" else (kind, message)
    return _end(database, task, lambda _missing, _left: (state, *error), now)


def put_back(database: Database, task: int, because: str, now: Clock) -> TaskState | None:
    """It was given up in good order, and waits again in its place; if it was cancelled meanwhile, it is."""

    def ended(missing: int, _left: int) -> tuple[TaskState, str | None, str | None]:
        return ("done", None, None) if missing == 0 else ("waiting", "put_back", because or None)

    return _end(database, task, ended, now)


def died(database: Database, task: int, because: str, now: Clock) -> TaskState | None:
    """The engine ended while it made this: once more, and then it is set aside."""
    with database.writing():
        found = database.row("SELECT attempts FROM tasks WHERE id = ? AND state = 'running'", task)
        if found is None:
            return None
        again: TaskState = "waiting" if found[0] < DEATHS_TO_SET_ASIDE else "set_aside"
        return _after_death(database, task, again, because, now)


def recover(database: Database, is_alive: Callable[[str], bool], now: Clock) -> Recovered:
    """See to tasks whose process has died; the queue is paused if any of them is not done."""
    ended: dict[TaskState | None, list[int]] = {}
    with database.writing():
        running = database.connection.execute(
            "SELECT id, coalesce(owner, ''), attempts FROM tasks WHERE state = 'running' ORDER BY entry, number"
        ).fetchall()
        alive = {owner: is_alive(owner) for owner in {owner for _, owner, _ in running}}
        for task, owner, attempts in running:
            if not alive[owner]:
                again: TaskState = "interrupted" if attempts < DEATHS_TO_SET_ASIDE else "set_aside"
                state = _after_death(database, task, again, "the program ended while it made this", now)
                ended.setdefault(state, []).append(task)
        if ended.get("interrupted") or ended.get("set_aside"):
            switch(database, paused=True)
    return Recovered(
        done=tuple(ended.get("done", ())),
        interrupted=tuple(ended.get("interrupted", ())),
        set_aside=tuple(ended.get("set_aside", ())),
        cancelled=tuple(ended.get("cancelled", ())),
    )


def _after_death(database: Database, task: int, again: TaskState, because: str, now: Clock) -> TaskState | None:
    def ended(missing: int, _left: int) -> tuple[TaskState, str | None, str | None]:
        if missing == 0:
            return "done", None, None
        return again, "died", because if again != "set_aside" else f"{SET_ASIDE} ({because})"

    return _settle(database, task, ended, now, in_good_order=False)


Ended = Callable[[int, int], tuple[TaskState, str | None, str | None]]


def _end(
    database: Database, task: int, ended: Ended, now: Clock, seconds: PhaseSeconds | None = None
) -> TaskState | None:
    with database.writing():
        if seconds is not None:
            key = database.row("SELECT key FROM tasks WHERE id = ? AND state = 'running'", task)
            if key is not None:
                remember(database, key[0], seconds)
        return _settle(database, task, ended, now)


def _settle(database: Database, task: int, ended: Ended, now: Clock, *, in_good_order: bool = True) -> TaskState | None:
    """A running task to the state it ends in, and no other; None when it does not run."""
    found = database.row(
        "SELECT entry, count - (SELECT count(*) FROM images WHERE task = tasks.id), left_after, cancel "
        "FROM tasks WHERE id = ? AND state = 'running'",
        task,
    )
    if found is None:
        return None
    entry, missing, left_after, cancel = found
    state, kind, error = ended(missing, left_after)
    if cancel and missing and state != "failed":
        state, kind, error = "cancelled", None, None
    database.change(
        "UPDATE tasks SET state = ?, error_kind = ?, error = ?, owner = NULL, cancel = 0, attempts = attempts - ?, "
        "seconds = coalesce(seconds, 0) + max(0, ? - claimed) WHERE id = ?",
        *(state, kind, error, int(in_good_order), now(), task),
    )
    settle_entries(database, [entry], now)
    return state


def release(database: Database, owner: str, because: str, now: Clock) -> None:
    """All that a process has claimed waits again: it stops in good order."""
    for (task,) in database.rows("SELECT id FROM tasks WHERE state = 'running' AND owner = ?", owner):
        put_back(database, task, because, now)


def interrupted(database: Database) -> tuple[Task, ...]:
    """Tasks that a person is asked about: on with them, or not?"""
    found = database.rows(
        f"SELECT {TASK} FROM tasks WHERE state = 'interrupted' ORDER BY entry, number"  # noqa: S608
    )
    return tasks(database, found)


def resume_interrupted(database: Database, entries: Collection[int] | None, now: Clock) -> None:
    """They wait again, in their places; the queue goes on."""
    with database.writing():
        chosen = database.connection.execute("SELECT DISTINCT entry FROM tasks WHERE state = 'interrupted'").fetchall()
        numbers = {number for (number,) in chosen} & (set(entries) if entries is not None else {n for (n,) in chosen})
        for number in numbers:
            database.change(
                "UPDATE tasks SET state = 'waiting', error = NULL, error_kind = NULL "
                "WHERE state = 'interrupted' AND entry = ?",
                number,
            )
        settle_entries(database, numbers, now)
        switch(database, paused=False)
