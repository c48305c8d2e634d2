"""Updates of the queue by the process that generates: save, finish, fail, requeue."""

from collections.abc import Callable

from mezzotint.jobs.editing import Clock, settle_entries
from mezzotint.jobs.expectation import record_timing
from mezzotint.jobs.remaining import index_of_seed
from mezzotint.jobs.storage.database import Database
from mezzotint.jobs.tasks import PhaseSeconds, TaskState
from mezzotint.jobs.texts import encode_text, readable
from mezzotint.protocol import GeneratedImage


def saved(database: Database, task: int, image: GeneratedImage) -> None:
    """Record an image on disk: once, even if reported twice, and not if its task was removed."""
    with database.writing():
        found = database.row("SELECT seed, count FROM tasks WHERE id = ?", task)
        number = None if found is None else index_of_seed(image.seed, found[0], found[1])
        if number is not None:
            database.change(
                "INSERT INTO images (task, number, path, width, height, seed, sha256) VALUES (?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT DO NOTHING",
                *(task, number, encode_text(image.path), image.width, image.height, image.seed, image.sha256),
            )


# Takes the number of missing images, and of those not requested yet; returns state, kind of error, error.
Ended = Callable[[int, int], tuple[TaskState, str | None, str | None]]


def finish(database: Database, task: int, seconds: PhaseSeconds | None, now: Clock) -> TaskState | None:
    """Record that the engine is done with a request; the task is done once all of its images exist."""

    def ended(missing: int, left_after: int) -> tuple[TaskState, str | None, str | None]:
        if missing == 0:
            return "done", None, None
        if missing <= left_after:
            return "waiting", None, None
        return "failed", "failed", f"{missing} of its images are missing: try again"

    return _end(database, task, ended, now, seconds)


def fail(database: Database, task: int, kind: str, message: str, now: Clock) -> TaskState | None:
    """Record that a task failed, or was cancelled if `kind` is `cancelled`."""
    state: TaskState = "cancelled" if kind == "cancelled" else "failed"
    error = (None, None) if state == "cancelled" else (kind, message)
    return _end(database, task, lambda _missing, _left: (state, *error), now)


def requeue(database: Database, task: int, because: str, now: Clock) -> TaskState | None:
    """Requeue a task that was given up cleanly, in its place, or cancel it if that was requested meanwhile."""

    def ended(missing: int, _left: int) -> tuple[TaskState, str | None, str | None]:
        return ("done", None, None) if missing == 0 else ("waiting", "put_back", because or None)

    return _end(database, task, ended, now)


def _end(
    database: Database, task: int, ended: Ended, now: Clock, seconds: PhaseSeconds | None = None
) -> TaskState | None:
    with database.writing():
        if seconds is not None:
            key = database.row("SELECT key FROM tasks WHERE id = ? AND state = 'running'", task)
            if key is not None:
                record_timing(database, key[0], seconds)
        return settle_task(database, task, ended, now)


def settle_task(
    database: Database, task: int, ended: Ended, now: Clock, *, in_good_order: bool = True
) -> TaskState | None:
    """Move a running task to the state it ends in, and return that; None if it is not running."""
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
        *(state, kind, None if error is None else readable(error), int(in_good_order), now(), task),
    )
    settle_entries(database, [entry], now)
    return state
