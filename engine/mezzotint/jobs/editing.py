"""User actions on the queue: add, order, cancel, repeat, remove."""

import random
from collections.abc import Callable, Collection, Sequence

from mezzotint import codec
from mezzotint.errors import UsageError
from mezzotint.jobs.expectation import key_id
from mezzotint.jobs.listing import id_list
from mezzotint.jobs.order import free_positions, next_waiting
from mezzotint.jobs.remaining import index_of_seed
from mezzotint.jobs.requests import diff, model_of, resolve, run_key, steps_of, title_of
from mezzotint.jobs.storage.database import Database
from mezzotint.jobs.tasks import RunKey
from mezzotint.jobs.texts import readable
from mezzotint.protocol import GenerateRequest

Clock = Callable[[], float]

_NEW_TASK = "INSERT INTO tasks (entry, number, changes, seed, drawn, count, steps, key) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


def add(
    database: Database,
    requests: Sequence[GenerateRequest],
    *,
    title: str | None,
    front: bool,
    before: int | None,
    now: Clock,
) -> int:
    """Add an entry of these requests, with their seeds and paths fixed; return its id."""
    if not requests:
        raise UsageError("an entry of the queue needs at least one request")
    resolved = [resolve(request) for request in requests]
    base = resolved[0].request
    with database.writing():
        entry = database.insert(
            "INSERT INTO entries (position, title, kind, model, created) VALUES (?, ?, 'generate', ?, ?)",
            free_positions(database, 1, before=next_waiting(database) if front else before)[0],
            readable(title or title_of(base)),
            readable(model_of(base)),
            now(),
        )
        database.insert("INSERT INTO requests (entry, request) VALUES (?, ?)", entry, codec.to_json(base))
        keys: dict[RunKey, int] = {}
        lines = []
        for number, one in enumerate(resolved):
            key = run_key(one.request)
            keys[key] = keys.get(key) or key_id(database, key)
            written = diff(base, one.request)
            steps = steps_of(one.request)
            lines.append((entry, number, written, one.seed, int(one.drawn), one.request.count, steps, keys[key]))
        database.insert_many(_NEW_TASK, lines)
    return entry


def cancel(database: Database, entries: Collection[int], now: Clock) -> None:
    """Cancel waiting tasks now; mark running ones, so that their process stops them."""
    with database.writing():
        _cancel(database, entries, now)


def cancel_task(database: Database, task: int, now: Clock) -> None:
    """Cancel one task."""
    with database.writing():
        database.change(
            "UPDATE tasks SET state = 'cancelled' WHERE id = ? AND state IN ('waiting', 'interrupted')", task
        )
        database.change("UPDATE tasks SET cancel = 1 WHERE id = ? AND state = 'running'", task)
        settle_entries(
            database, [entry for (entry,) in database.rows("SELECT entry FROM tasks WHERE id = ?", task)], now
        )


def skip_image(database: Database, task: int, seed: int) -> None:
    """Skip the image with that seed; its task becomes cancelled once all others are made."""
    with database.writing():
        found = database.row("SELECT seed, count FROM tasks WHERE id = ?", task)
        number = None if found is None else index_of_seed(seed, found[0], found[1])
        if number is not None:
            database.change("INSERT INTO skipped (task, number) VALUES (?, ?) ON CONFLICT DO NOTHING", task, number)


def _cancel(database: Database, entries: Collection[int], now: Clock) -> None:
    ids = id_list(entries)
    database.change(
        "UPDATE tasks SET state = 'cancelled' WHERE state IN ('waiting', 'interrupted') "
        "AND entry IN (SELECT value FROM json_each(?))",
        ids,
    )
    database.change(
        "UPDATE tasks SET cancel = 1 WHERE state = 'running' AND entry IN (SELECT value FROM json_each(?))", ids
    )
    settle_entries(database, entries, now)


def retry(database: Database, entries: Collection[int], now: Clock) -> None:
    """Requeue what failed, was cancelled, skipped, set aside or interrupted; finished images stay."""
    with database.writing():
        # An interrupted task may have crashed the program, so its attempts keep counting.
        database.change(
            "UPDATE tasks SET attempts = CASE state WHEN 'interrupted' THEN attempts ELSE 0 END, "
            "state = CASE WHEN count = (SELECT count(*) FROM images WHERE task = tasks.id) THEN 'done' "
            "ELSE 'waiting' END, error = NULL, error_kind = NULL, cancel = 0 "
            "WHERE state IN ('failed', 'cancelled', 'set_aside', 'interrupted') "
            "AND entry IN (SELECT value FROM json_each(?))",
            id_list(entries),
        )
        database.change(
            "DELETE FROM skipped WHERE task IN (SELECT id FROM tasks WHERE entry IN (SELECT value FROM json_each(?)))",
            id_list(entries),
        )
        settle_entries(database, entries, now)


def duplicate(database: Database, entries: Collection[int], now: Clock) -> tuple[int, ...]:
    """Add copies at the end of the queue, with new seeds where they were random; return their ids."""
    made = []
    with database.writing():
        ordered = database.connection.execute(
            "SELECT id FROM entries WHERE id IN (SELECT value FROM json_each(?)) ORDER BY position, id",
            (id_list(entries),),
        ).fetchall()
        for (number,) in ordered:
            made.append(_duplicate(database, number, now()))
    return tuple(made)


def _duplicate(database: Database, entry: int, created: float) -> int:
    position = free_positions(database, 1, before=None)[0]
    copy = database.insert(
        "INSERT INTO entries (position, title, kind, model, created) "
        "SELECT ?, title, kind, model, ? FROM entries WHERE id = ?",
        position,
        created,
        entry,
    )
    database.change(
        "INSERT INTO requests (entry, request) SELECT ?, request FROM requests WHERE entry = ?", copy, entry
    )
    database.change(
        "INSERT INTO tasks (entry, number, changes, seed, drawn, count, steps, key) "
        "SELECT ?1, number, changes, seed, drawn, count, steps, key FROM tasks WHERE entry = ?2 ORDER BY number",
        copy,
        entry,
    )
    _draw_again(database, copy)
    return copy


def _draw_again(database: Database, entry: int) -> None:
    drawn = database.connection.execute("SELECT id FROM tasks WHERE entry = ? AND drawn", (entry,)).fetchall()
    seeds = [(seed := random.randrange(2**32), seed, task) for (task,) in drawn]
    database.insert_many("UPDATE tasks SET seed = ?, changes = json_set(changes, '$.seed', ?) WHERE id = ?", seeds)


def remove(database: Database, entries: Collection[int], now: Clock) -> tuple[int, ...]:
    """Remove entries; running ones are cancelled, and stay until they have stopped. Return the ids of these."""
    with database.writing():
        _cancel(database, entries, now)
        database.change(
            "DELETE FROM entries WHERE running = 0 AND id IN (SELECT value FROM json_each(?))", id_list(entries)
        )
        left = database.connection.execute(
            "SELECT id FROM entries WHERE id IN (SELECT value FROM json_each(?)) ORDER BY position, id",
            (id_list(entries),),
        ).fetchall()
    return tuple(number for (number,) in left)


def clear_finished(database: Database) -> int:
    """Remove done and cancelled entries; return how many. Images stay, and failures are left for the user to see."""
    with database.writing():
        return database.change("DELETE FROM entries WHERE state IN ('done', 'cancelled')")


def settle_entries(database: Database, entries: Collection[int], now: Clock) -> None:
    """Update when entries finished, and the error of their first failed task; call inside `writing()`."""
    database.change(
        "UPDATE entries SET "
        "finished = CASE WHEN waiting + running + interrupted > 0 THEN NULL ELSE coalesce(finished, ?) END, "
        "error = (SELECT error FROM tasks WHERE entry = entries.id AND error IS NOT NULL AND error_kind <> 'put_back' "
        "ORDER BY number LIMIT 1) "
        "WHERE id IN (SELECT value FROM json_each(?))",
        now(),
        id_list(entries),
    )
