"""Rebuild the queue from what is readable of a damaged database and of its backups."""

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from mezzotint import codec
from mezzotint.errors import MezzotintError
from mezzotint.jobs.expectation import key_id, record_timing
from mezzotint.jobs.requests import apply_diff
from mezzotint.jobs.storage.database import Database, Row, Value, connect
from mezzotint.jobs.tasks import PhaseSeconds, RunKey
from mezzotint.protocol import GenerateRequest

_TABLES = {
    "entries": ("id", "position", "title", "kind", "model", "created", "started", "finished", "error"),
    "requests": ("entry", "request"),
    "run_keys": ("id", "model", "quantization", "width", "height", "device"),
    "timings": ("key", "load", "encode", "step", "decode", "save", "steps"),
    "tasks": (
        *("id", "entry", "number", "changes", "seed", "drawn", "count", "steps", "key", "state", "attempts"),
        *("error_kind", "error", "seconds"),
    ),
    "images": ("task", "number", "path", "width", "height", "seed", "sha256"),
}
_REALS = {"position", "created", "started", "finished", "load", "encode", "step", "decode", "save", "seconds"}
_TEXTS = {"title", "kind", "model", "error", "request", "quantization", "device", "changes", "state", "error_kind"}
_TEXTS |= {"path", "sha256"}
_MAY_BE_UNKNOWN = {"started", "finished", "error", "error_kind", "seconds"}
_ENDED = ("done", "failed", "cancelled", "set_aside")  # tasks in other states become interrupted
_MOST = 10_000_000  # rows of one table, in case damage creates a cycle


def rebuild(database: Database, sources: Sequence[Path]) -> int:
    """Fill an empty queue from the first source, and with entries that only later ones have; return how many.

    Unfinished tasks become `interrupted`, and the queue is paused: a backup may not know that they are done.
    """
    entries = 0
    with database.writing():
        for source in sources:
            entries += _take_over(database, source)
        database.change("INSERT OR REPLACE INTO settings (name, value) VALUES ('paused', 1)")
    return entries


def _take_over(database: Database, source: Path) -> int:
    if not source.exists():
        return 0
    with contextlib.closing(connect(source)) as connection:
        tables = {name: list(_readable(connection, name, columns)) for name, columns in _TABLES.items()}
    known = {line[0] for line in database.connection.execute("SELECT id FROM entries")}
    tables["entries"] = [line for line in tables["entries"] if line[0] not in known]
    return _fill(database, tables)


def _readable(connection: sqlite3.Connection, table: str, columns: tuple[str, ...]) -> Iterator[Row]:
    """Yield rows up to the damage, and then from the end back to it."""
    question = f"SELECT {', '.join(columns)} FROM {table} NOT INDEXED ORDER BY {{}}"  # noqa: S608  our own constants
    key = "task {0}, number {0}" if table == "images" else "rowid {0}"
    seen: set[Row] = set()
    for direction in ("ASC", "DESC"):
        with contextlib.suppress(sqlite3.Error, UnicodeDecodeError):
            cursor = connection.execute(question.format(key.format(direction)))
            for _ in range(_MOST):
                line = cursor.fetchone()
                if line is None:
                    return
                if line not in seen and all(map(_fits, columns, line)):
                    seen.add(line)
                    yield line


def _fits(column: str, value: Value) -> bool:
    if column in _REALS:
        return isinstance(value, int | float) or (value is None and column in _MAY_BE_UNKNOWN)
    if column in _TEXTS:
        return isinstance(value, str) or (value is None and column in _MAY_BE_UNKNOWN)
    return isinstance(value, int)


def _fill(database: Database, tables: dict[str, list[Row]]) -> int:
    """Insert rows that belong together and are valid; return the number of entries."""
    keys = _keys(database, tables)
    requests: dict[int, object] = dict(tables["requests"])
    tasks = _grouped(tables["tasks"], by=1)
    images = _grouped(tables["images"], by=0)
    entries = 0
    for line in tables["entries"]:
        entry = line[0]
        base = _request(requests.get(entry))
        fitting = [task for task in tasks.get(entry, ()) if base is not None and _is_task(base, task, keys)]
        if fitting and _insert(database, "entries", line):
            _insert(database, "requests", (entry, requests[entry]))
            for task in fitting:
                _task(database, task, keys, images.get(task[0], []))
            entries += 1
    return entries


def _task(database: Database, line: Row, keys: dict[int, int], images: list[Row]) -> None:
    values = dict(zip(_TABLES["tasks"], line, strict=True))
    values["key"] = keys[values["key"]]
    values["state"] = values["state"] if values["state"] in _ENDED else "interrupted"
    if _insert(database, "tasks", tuple(values.values())):
        for image in images:
            _insert(database, "images", image)


def _insert(database: Database, table: str, line: Row) -> bool:
    names, marks = ", ".join(_TABLES[table]), ", ".join("?" * len(line))
    return database.change(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})", *line) == 1  # noqa: S608


def _keys(database: Database, tables: dict[str, list[Row]]) -> dict[int, int]:
    """Map key ids of the old database to the new one, and copy the timings."""
    keys = {}
    for number, model, quantization, width, height, device in tables["run_keys"]:
        key = RunKey(model=model, quantization=quantization, width=width, height=height, device=device)
        keys[number] = key_id(database, key)
    for key_number, *times, steps in tables["timings"]:
        if key_number in keys:
            load, encode, step, decode, save = times
            seconds = PhaseSeconds(load=load, encode=encode, step=step, decode=decode, save=save, steps=steps)
            record_timing(database, keys[key_number], seconds)
    return keys


def _grouped(lines: list[Row], *, by: int) -> dict[int, list[Row]]:
    groups: dict[int, list[Row]] = {}
    for line in lines:
        groups.setdefault(line[by], []).append(line)
    return groups


def _request(written: object) -> GenerateRequest | None:
    try:
        return codec.from_json(GenerateRequest, written) if isinstance(written, str) else None
    except MezzotintError:
        return None


def _is_task(base: GenerateRequest, line: Row, keys: dict[int, int]) -> bool:
    values = dict(zip(_TABLES["tasks"], line, strict=True))
    try:
        request = apply_diff(base, values["changes"])
    except (MezzotintError, TypeError):
        return False
    return values["key"] in keys and (request.seed, request.count) == (values["seed"], values["count"])
