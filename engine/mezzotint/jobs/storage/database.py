"""One connection to the queue's file: whole transactions, and errors in words."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mezzotint.errors import StorageError
from mezzotint.trouble import shown

BUSY_SECONDS = 5.0

_MEANINGS = {
    sqlite3.SQLITE_BUSY: "another program is writing to it for long: try again in a moment",
    sqlite3.SQLITE_LOCKED: "another program is writing to it for long: try again in a moment",
    sqlite3.SQLITE_FULL: "the disk is full: free some space and try again",
    sqlite3.SQLITE_READONLY: "it may not be written to: allow that, or set MEZZOTINT_STATE to another folder",
    sqlite3.SQLITE_PERM: "it may not be opened: allow that, or set MEZZOTINT_STATE to another folder",
    sqlite3.SQLITE_AUTH: "it may not be opened: allow that, or set MEZZOTINT_STATE to another folder",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened: check the folder, or set MEZZOTINT_STATE to another one",
    sqlite3.SQLITE_IOERR: "the disk reports a fault: check the disk, or set MEZZOTINT_STATE to a folder on another one",
    sqlite3.SQLITE_PROTOCOL: "this disk has no proper locks: set MEZZOTINT_STATE to a folder on a local disk",
    sqlite3.SQLITE_NOLFS: "this disk cannot hold a file that large: set MEZZOTINT_STATE to a folder on another one",
    sqlite3.SQLITE_CORRUPT: "it is damaged: start again, and what can be read of it is kept",
    sqlite3.SQLITE_NOTADB: "it is damaged: start again, and what can be read of it is kept",
}
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

Value = str | int | float | None
Row = tuple[Any, ...]


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's own number of an error, without the details in its upper bits."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


@contextmanager
def told(path: Path) -> Iterator[None]:
    """What the disk or another program did to the queue as a StorageError; all else is a bug and stays one."""
    try:
        yield
    except sqlite3.Error as error:
        meaning = _MEANINGS.get(primary_code(error))
        if meaning is None:
            raise
        raise StorageError(f"the queue {shown(path)}: {meaning}") from error


class Database:
    """The queue's file, open in one thread."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self.connection = connection

    def rows(self, sql: str, *values: Value) -> list[Row]:
        """All rows that a question has."""
        with told(self.path):
            return self.connection.execute(sql, values).fetchall()

    def row(self, sql: str, *values: Value) -> Row | None:
        """The first row that a question has."""
        with told(self.path):
            cursor = self.connection.execute(sql, values)
            found: Row | None = cursor.fetchone()
            cursor.close()  # an open question would keep the past alive for this connection
            return found

    def change(self, sql: str, *values: Value) -> int:
        """Change rows, inside `writing()`; how many."""
        return self.connection.execute(sql, values).rowcount

    def insert(self, sql: str, *values: Value) -> int:
        """Add a row, inside `writing()`; its id."""
        return self.connection.execute(sql, values).lastrowid or 0

    def insert_many(self, sql: str, rows: Sequence[Row]) -> None:
        """Add rows, inside `writing()`."""
        self.connection.executemany(sql, rows)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """All changes that are made inside, or none: they are on the disk when it ends."""
        with told(self.path):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:  # a full disk may have ended it already
                    self.connection.execute("ROLLBACK")
                raise


def connect(path: Path) -> sqlite3.Connection:
    """A connection as the queue needs it; nothing of the file is read yet."""
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    connection.text_factory = _text
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def _text(data: bytes) -> str:
    """Damage that SQLite does not notice must not keep the rest from being read."""
    return data.decode("utf-8", "replace")
