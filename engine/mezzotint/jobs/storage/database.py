"""A connection to the queue's database: whole transactions, and readable errors."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mezzotint.errors import StorageError
from mezzotint.trouble import shown

BUSY_SECONDS = 5.0

_MEANINGS = {
    sqlite3.SQLITE_BUSY: "another program has been writing to it for a long time: try again in a moment",
    sqlite3.SQLITE_LOCKED: "another program has been writing to it for a long time: try again in a moment",
    sqlite3.SQLITE_FULL: "the disk is full: free some space and try again",
    sqlite3.SQLITE_READONLY: "it is not writable: change its permissions, or set MEZZOTINT_STATE to another folder",
    sqlite3.SQLITE_PERM: "access to it is denied: change its permissions, or set MEZZOTINT_STATE to another folder",
    sqlite3.SQLITE_AUTH: "access to it is denied: change its permissions, or set MEZZOTINT_STATE to another folder",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened: check the folder, or set MEZZOTINT_STATE to another one",
    sqlite3.SQLITE_IOERR: "the disk reports an error: check it, or set MEZZOTINT_STATE to a folder on another one",
    sqlite3.SQLITE_PROTOCOL: "this disk does not support file locks: set MEZZOTINT_STATE to a folder on a local disk",
    sqlite3.SQLITE_NOLFS: "this disk does not support files that large: set MEZZOTINT_STATE to a folder on another one",
    sqlite3.SQLITE_CORRUPT: "it is damaged: restart the program, which keeps what can be read of it",
    sqlite3.SQLITE_NOTADB: "it is damaged: restart the program, which keeps what can be read of it",
}
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

Value = str | int | float | None
Row = tuple[Any, ...]


def primary_code(error: sqlite3.Error) -> int:
    """Return SQLite's primary error code, without the extended code in the upper bits."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Raise errors caused by the disk or other programs as StorageError; anything else is a bug and stays as it is."""
    try:
        yield
    except sqlite3.Error as error:
        meaning = _MEANINGS.get(primary_code(error))
        if meaning is None:
            raise
        raise StorageError(f"the queue {shown(path)}: {meaning}") from error


class Database:
    """The queue's database, open in one thread."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self.connection = connection

    def rows(self, sql: str, *values: Value) -> list[Row]:
        """Return all rows of a query."""
        with sqlite_errors(self.path):
            return self.connection.execute(sql, values).fetchall()

    def row(self, sql: str, *values: Value) -> Row | None:
        """Return the first row of a query, or None."""
        with sqlite_errors(self.path):
            cursor = self.connection.execute(sql, values)
            found: Row | None = cursor.fetchone()
            cursor.close()  # an open cursor would pin an old snapshot for this connection
            return found

    def change(self, sql: str, *values: Value) -> int:
        """Change rows, inside `writing()`; return how many."""
        return self.connection.execute(sql, values).rowcount

    def insert(self, sql: str, *values: Value) -> int:
        """Insert a row, inside `writing()`; return its id."""
        return self.connection.execute(sql, values).lastrowid or 0

    def insert_many(self, sql: str, rows: Sequence[Row]) -> None:
        """Run a statement for each of the rows, inside `writing()`."""
        self.connection.executemany(sql, rows)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Run a transaction: all changes made inside are on disk when it ends, or none."""
        with sqlite_errors(self.path):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:  # a full disk may have ended it already
                    self.connection.execute("ROLLBACK")
                raise


def connect(path: Path) -> sqlite3.Connection:
    """Open a connection with the queue's settings; reads nothing of the file yet."""
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    connection.text_factory = _text
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def _text(data: bytes) -> str:
    """Decode leniently: damage that SQLite does not notice must not make the rest unreadable."""
    return data.decode("utf-8", "replace")
