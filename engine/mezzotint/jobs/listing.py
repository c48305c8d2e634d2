"""Queries of the queue, page by page."""

from collections.abc import Collection, Sequence
from typing import Any

from mezzotint import codec
from mezzotint.errors import ProtocolError, UsageError
from mezzotint.jobs.requests import apply_diff
from mezzotint.jobs.storage.database import Database, Row
from mezzotint.jobs.tasks import Entry, EntryRow, Task, TaskCounts, TaskState
from mezzotint.jobs.texts import decode_text
from mezzotint.protocol import GeneratedImage, GenerateRequest

_FIELDS = (
    *("id", "title", "kind", "model", "state", "tasks", "position", "created", "started", "finished", "error"),
    *("first_image", "images", "images_asked"),
)
_COLUMNS = {"images": "pictures", "images_asked": "pictures_asked"}  # the column names since version 1
_ENTRY = ", ".join(
    (
        *(_COLUMNS.get(field, field) for field in _FIELDS),
        "waiting",
        "running",
        "done",
        "failed",
        "cancelled",
        "set_aside",
        "interrupted",
    )
)
TASK = "id, entry, number, changes, state, attempts, error_kind, error, seconds"


def rows(database: Database, *, offset: int, limit: int, states: Collection[TaskState] | None) -> tuple[EntryRow, ...]:
    """Return a page of the entries, in the order of the queue."""
    where, values = _of_states(states)
    found = database.rows(
        f"SELECT {_ENTRY} FROM entries {where} ORDER BY position, id LIMIT ? OFFSET ?",  # noqa: S608  our own constants
        *values,
        limit,
        offset,
    )
    return tuple(map(_entry_row, found))


def count(database: Database, states: Collection[TaskState] | None) -> int:
    """How many entries there are."""
    where, values = _of_states(states)
    found = database.row(f"SELECT count(*) FROM entries {where}", *values)  # noqa: S608
    return int(found[0]) if found else 0


def _of_states(states: Collection[TaskState] | None) -> tuple[str, list[str]]:
    if states is None:
        return "", []
    return f"WHERE state IN ({', '.join('?' * len(states))})", list(states)


def row(database: Database, entry: int) -> EntryRow:
    """Return one entry as lists show it. Raises UsageError if it was removed."""
    found = database.row(f"SELECT {_ENTRY} FROM entries WHERE id = ?", entry)  # noqa: S608
    if found is None:
        raise UsageError(f"the queue has no entry {entry}: it may have been removed")
    return _entry_row(found)


def _entry_row(found: Row) -> EntryRow:
    said: dict[str, Any] = dict(zip(_FIELDS, found, strict=False))
    waiting, running, done, failed, cancelled, set_aside, interrupted = found[len(_FIELDS) :]
    counts = TaskCounts(
        waiting=waiting,
        running=running,
        done=done,
        failed=failed,
        cancelled=cancelled,
        set_aside=set_aside,
        interrupted=interrupted,
    )
    first = said.pop("first_image")
    return EntryRow(**said, first_image=None if first is None else decode_text(first), counts=counts)


def entry(database: Database, number: int) -> Entry:
    """Return one entry with all of its tasks."""
    about = row(database, number)
    found = database.rows(f"SELECT {TASK} FROM tasks WHERE entry = ? ORDER BY number", number)  # noqa: S608
    return Entry(row=about, tasks=tasks(database, found))


def tasks(database: Database, found: Sequence[Row]) -> tuple[Task, ...]:
    """Return tasks with their requests and images, in two queries however many there are."""
    if not found:
        return ()
    bases = _bases(database, {line[1] for line in found})
    images = _images(database, [line[0] for line in found])
    if lost := {line[1] for line in found} - set(bases):
        raise ProtocolError(f"entry {min(lost)} has no request")
    return tuple(_task(line, bases[line[1]], tuple(images.get(line[0], ()))) for line in found)


def _bases(database: Database, entries: Collection[int]) -> dict[int, GenerateRequest]:
    found = database.rows(
        "SELECT entry, request FROM requests WHERE entry IN (SELECT value FROM json_each(?))", id_list(entries)
    )
    return {number: codec.from_json(GenerateRequest, written) for number, written in found}


def request_images(database: Database) -> frozenset[str]:
    """Return the paths of all input images of requests, such as init images, masks and control images."""
    found = database.rows(
        "SELECT json_extract(image.value, '$.path') FROM requests, json_each(requests.request, '$.images') AS image "
        "UNION SELECT json_extract(image.value, '$.path') FROM tasks, json_each(tasks.changes, '$.images') AS image "
        "UNION SELECT json_extract(c.value, '$.image') FROM requests, json_each(requests.request, '$.controls') AS c "
        "UNION SELECT json_extract(c.value, '$.image') FROM tasks, json_each(tasks.changes, '$.controls') AS c "
        "UNION SELECT json_extract(c.value, '$.mask') FROM requests, json_each(requests.request, '$.controls') AS c "
        "UNION SELECT json_extract(c.value, '$.mask') FROM tasks, json_each(tasks.changes, '$.controls') AS c "
        "UNION SELECT json_extract(r.value, '$.mask') FROM requests, json_each(requests.request, '$.regions') AS r "
        "UNION SELECT json_extract(r.value, '$.mask') FROM tasks, json_each(tasks.changes, '$.regions') AS r"
    )
    return frozenset(path for (path,) in found if path)


def _images(database: Database, numbers: Collection[int]) -> dict[int, list[GeneratedImage]]:
    found = database.rows(
        "SELECT task, path, width, height, seed, number, sha256 FROM images "
        "WHERE task IN (SELECT value FROM json_each(?)) ORDER BY task, number",
        id_list(numbers),
    )
    images: dict[int, list[GeneratedImage]] = {}
    for task, path, width, height, seed, number, sha256 in found:
        image = GeneratedImage(
            path=decode_text(path), width=width, height=height, seed=seed, index=number, sha256=sha256
        )
        images.setdefault(task, []).append(image)
    return images


def _task(line: Row, base: GenerateRequest, images: tuple[GeneratedImage, ...]) -> Task:
    number, entry_number, index, changes, state, attempts, error_kind, error, seconds = line
    return Task(
        id=number,
        entry=entry_number,
        index=index,
        request=apply_diff(base, changes),
        state=state,
        attempts=attempts,
        error_kind=error_kind,
        error=error,
        images=images,
        seconds=seconds,
    )


def id_list(ids: Collection[int]) -> str:
    """Return ids as one SQL value: `IN (SELECT value FROM json_each(?))` takes any number of them."""
    return f"[{','.join(str(int(number)) for number in ids)}]"
