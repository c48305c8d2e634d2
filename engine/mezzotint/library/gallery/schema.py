"""The gallery's database: schema, validation on opening, and replacement if damaged."""

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar

from mezzotint.atomic import retry_sharing
from mezzotint.errors import StorageError, UsageError
from mezzotint.paths import make_private
from mezzotint.trouble import shown, storage_error

APPLICATION_ID = 0x4D5A_5447  # "MZTG"
VERSION = 3  # older ones are dropped and rebuilt: all but stars, boards and tags can be read from the images

TABLES = """
CREATE TABLE images (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT NOT NULL UNIQUE,
    changed INTEGER NOT NULL,            -- nanoseconds; with the bytes it tells whether a file must be read again
    bytes INTEGER NOT NULL,
    readable INTEGER NOT NULL,           -- 0: looked at, and no image
    made REAL NOT NULL,
    width INTEGER NOT NULL,
    height INTEGER NOT NULL,
    model TEXT NOT NULL,
    seed TEXT,                           -- up to 64 bits without a sign, which SQLite's numbers do not hold
    rating INTEGER NOT NULL,
    content TEXT NOT NULL,               -- by which an image is known wherever its file goes
    prompt TEXT NOT NULL,
    words TEXT NOT NULL                  -- what searches look through, in lower case
);
CREATE INDEX images_newest ON images (made, id) WHERE readable;
CREATE INDEX images_best ON images (rating, made, id) WHERE readable;
CREATE INDEX images_model ON images (model, made, id) WHERE readable;
CREATE INDEX images_content ON images (content);
CREATE TABLE ratings (content TEXT PRIMARY KEY, rating INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE labels (
    content TEXT NOT NULL,
    kind TEXT NOT NULL,                  -- board, tag
    folded TEXT NOT NULL,                -- the name, by which searches find it
    name TEXT NOT NULL,                  -- after the key's columns: SQLite's check takes it for NULL before them
    PRIMARY KEY (content, kind, folded)
) WITHOUT ROWID;
CREATE INDEX labels_folded ON labels (kind, folded, content);
CREATE TABLE boards (name TEXT PRIMARY KEY, folded TEXT NOT NULL, search TEXT) WITHOUT ROWID;
CREATE TABLE looks (content TEXT PRIMARY KEY, look BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE facts (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
"""

_BUSY_SECONDS = 5.0
_BESIDE = ("", "-wal", "-shm")  # suffixes of the files of a database
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_MEANINGS = {
    sqlite3.SQLITE_FULL: "the disk is full: free some space and try again",
    sqlite3.SQLITE_BUSY: "another program has locked it: try again in a moment",
    sqlite3.SQLITE_LOCKED: "another program has locked it: try again in a moment",
    sqlite3.SQLITE_READONLY: "it may not be written to: allow that, or set MEZZOTINT_STATE to another folder",
    sqlite3.SQLITE_PERM: "it may not be opened: allow that, or set MEZZOTINT_STATE to another folder",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened: check the folder, or set MEZZOTINT_STATE to another one",
    sqlite3.SQLITE_IOERR: "the disk reports a fault: check the disk, or set MEZZOTINT_STATE to a folder on another one",
    sqlite3.SQLITE_PROTOCOL: "this disk has no proper locks: set MEZZOTINT_STATE to a folder on a local disk",
}

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]


class _DamagedError(Exception):
    """The file is not a database, or is damaged."""


class GalleryDatabase:
    """One connection shared by threads under a lock; each unit of work is one short transaction."""

    def __init__(self, path: Path, on_open: Callable[[sqlite3.Connection], None] = lambda _: None) -> None:
        self._path = path
        self._on_open = on_open
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._notices: list[str] = []

    def run(self, work: Work[T]) -> T:
        """Run `work` in a transaction; retried on a new database if this one is damaged. Raises StorageError."""
        with self._lock:
            try:
                return self._transaction(work)
            except _DamagedError as damage:
                self._move_aside(damage)
            try:
                return self._transaction(work)
            except _DamagedError as damage:
                raise StorageError(f"the gallery {shown(self._path)} is damaged again already: {damage}") from damage

    def notices(self) -> tuple[str, ...]:
        """Return notices about this database for the user."""
        return tuple(self._notices)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._disconnect()

    def _transaction(self, work: Work[T]) -> T:
        with self._storage_errors():
            connection = self._connection or self._open()
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = work(connection)
                connection.execute("COMMIT")
                return result
            except BaseException:
                if connection.in_transaction:  # a full disk may have rolled it back already
                    with contextlib.suppress(sqlite3.Error):
                        connection.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def _storage_errors(self) -> Iterator[None]:
        try:
            yield
        except UnicodeEncodeError as error:
            raise UsageError("a name is not valid Unicode: give another") from error
        except UnicodeDecodeError as error:  # in SQLite's description of the schema
            raise _DamagedError("its table names are not valid text") from error
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            # An SQL error while opening means an unexpected schema, not a bug in our statements.
            if code in _DAMAGE or (code == sqlite3.SQLITE_ERROR and self._connection is None):
                raise _DamagedError(str(error)) from error
            meaning = _MEANINGS.get(code)
            if meaning is None:
                raise
            raise StorageError(f"the gallery {shown(self._path)}: {meaning}") from error

    def _open(self) -> sqlite3.Connection:
        try:
            make_private(self._path.parent)
        except OSError as error:
            raise storage_error("create the folder", self._path.parent, error) from error
        connection = sqlite3.connect(
            self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=32
        )
        try:
            connection.text_factory = lambda data: data.decode("utf-8", "replace")  # tolerate flipped bits
            connection.execute("PRAGMA trusted_schema = OFF")
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        version = self._version(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # commits survive a power failure
        connection.execute("BEGIN IMMEDIATE")
        if version != VERSION:
            _make_tables(connection)
        self._on_open(connection)
        connection.execute("COMMIT")

    def _version(self, connection: sqlite3.Connection) -> int:
        """Return the schema version; 0 if there are no tables. Raises for a newer, foreign or damaged file."""
        application, version, tables = (
            int(connection.execute(question).fetchone()[0])
            for question in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_schema")
        )
        if application != APPLICATION_ID and (application or version or tables):
            raise StorageError(f"{shown(self._path)} is not a Mezzotint gallery: move it to another folder")
        if version > VERSION:
            raise StorageError(
                f"the gallery {shown(self._path)} is from a newer Mezzotint (version {version}, this one reads up to "
                f"{VERSION}): get the newer one, or move the file away, and it is rebuilt from the images"
            )
        problem = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if problem != "ok":
            raise _DamagedError(" ".join(str(problem).split())[:200])
        if version == VERSION and _tables_of(connection) != _tables():
            raise _DamagedError("its tables do not match the schema")
        return version

    def _move_aside(self, damage: _DamagedError) -> None:
        self._disconnect()
        stamp = time.strftime("%Y-%m-%d-%H%M%S")
        aside = self._path.with_name(f"{self._path.stem}-damaged-{stamp}-{time.monotonic_ns() % 10**6}.db")
        for ending in _BESIDE:
            source = Path(f"{self._path}{ending}")
            try:
                if source.exists():
                    retry_sharing(os.replace, source, Path(f"{aside}{ending}"))
            except OSError as error:
                raise storage_error("move aside", source, error) from error
        self._notices.append(
            f"The gallery's index was damaged ({damage}) and is rebuilt from the images; stars are kept, as are boards "
            f"and tags. The damaged file is {shown(aside)}"
        )

    def _disconnect(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None


def _tables_of(connection: sqlite3.Connection) -> list[tuple[object, ...]]:
    return connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name").fetchall()


@cache
def _tables() -> list[tuple[object, ...]]:
    """Return the schema of an intact database, since flipped bits in names pass SQLite's own check."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        _make_tables(connection)
        return _tables_of(connection)


def _make_tables(connection: sqlite3.Connection) -> None:
    for (name,) in connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    ).fetchall():
        connection.execute(f'DROP TABLE "{name}"')  # our own tables: the application id was checked
    for statement in TABLES.split(";\n"):
        if statement.strip():
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
