"""Open the queue's database: create it, migrate it, or replace a damaged one."""

import contextlib
import os
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mezzotint.atomic import retry_sharing
from mezzotint.errors import StorageError
from mezzotint.jobs.locked_file import LockedFile
from mezzotint.jobs.storage import backups
from mezzotint.jobs.storage.database import BUSY_SECONDS, DAMAGED, Database, connect, primary_code, sqlite_errors
from mezzotint.jobs.storage.rebuilding import rebuild
from mezzotint.jobs.storage.schema import APPLICATION_ID, MIGRATIONS
from mezzotint.paths import make_private
from mezzotint.trouble import shown, storage_error

_WAIT = 0.05  # seconds between tries while another process opens it
_HEADER = 100  # bytes of the header of an SQLite file
_LONGEST_PROBLEM = 200  # characters
_PAUSED = "The queue is paused, so that you can look at it first."
_BESIDE = ("", "-wal", "-shm")  # the files of a database, which must stay together


class _DamagedError(Exception):
    """The file is not a database, or a damaged one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedDatabase:
    """An opened queue, and a notice for the user about it."""

    database: Database
    notice: str | None


def open_database(
    path: Path, *, now: Callable[[], float] = time.time, migrations: Sequence[str] = MIGRATIONS
) -> OpenedDatabase:
    """Open the queue, one process at a time. Raises StorageError, and leaves a file of a newer version as it is."""
    try:
        make_private(path.parent)
    except OSError as error:
        raise storage_error("create the folder", path.parent, error) from error
    lock = _alone(path)
    try:
        return _open(path, now, migrations)
    finally:
        lock.release()


def _alone(path: Path) -> LockedFile:
    end = time.monotonic() + BUSY_SECONDS
    while (lock := LockedFile.take(path.with_name(f"{path.name}.opening"))) is None:
        if time.monotonic() > end:
            raise StorageError(
                f"the queue {shown(path)}: another program has been opening it for a long time: try again"
            )
        time.sleep(_WAIT)
    return lock


def _open(path: Path, now: Callable[[], float], migrations: Sequence[str]) -> OpenedDatabase:
    try:
        database, version = _checked(path, now, migrations)
        notice = None if version else _restored(database)
    except _DamagedError as damage:
        aside = _move_aside(path, now)
        database, _ = _checked(path, now, migrations)
        entries = rebuild(database, [aside, *backups.newest_first(path)])
        kept = f"{entries} of its entries could be read and were kept" if entries else "Nothing in it could be read"
        notice = f"the queue was damaged ({damage}). {kept}. The damaged file is kept as {shown(aside)}. {_PAUSED}"
    try:
        backups.back_up_daily(database, now)
    except StorageError as error:
        notice = f"{notice} " if notice else ""
        notice += f"today's backup of the queue could not be made: {error}"
    return OpenedDatabase(database=database, notice=notice)


def _restored(database: Database) -> str | None:
    """Fill a new queue from the newest backup: its file was lost, or cut to nothing. Return a notice if it had any."""
    newest = backups.newest_first(database.path)[:1]
    if not any(map(backups.has_entries, newest)):
        return None
    entries = rebuild(database, newest)
    return f"the queue was missing or empty; {entries} entries of {shown(newest[0])} were restored. {_PAUSED}"


def _checked(path: Path, now: Callable[[], float], migrations: Sequence[str]) -> tuple[Database, int]:
    """Return the database, checked and migrated, and its version before (0: new).

    Raises StorageError or _DamagedError.
    """
    _refuse_newer(path, _version_in_header(path), len(migrations))
    with _as_damage(), sqlite_errors(path):
        connection = connect(path)
        try:
            version = _version(path, connection, migrations)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")  # commits survive a power loss
            database = Database(path, connection)
            if version < len(migrations):
                _migrate(database, version, migrations, now)
            return database, version
        except BaseException:
            connection.close()
            raise


def _version_in_header(path: Path) -> int:
    """Read the version from the file's header, without SQLite: a newer file is not even opened."""
    try:
        with open(path, "rb") as file:
            header = file.read(_HEADER)
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise storage_error("read", path, error) from error
    ours = header[68:72] == APPLICATION_ID.to_bytes(4, "big")
    return int.from_bytes(header[60:64], "big") if ours else 0


def _refuse_newer(path: Path, version: int, newest: int) -> None:
    if version > newest:
        raise StorageError(
            f"the queue {shown(path)} is from a newer Mezzotint (version {version}, this one reads up to {newest}): "
            "install the newer one, or set MEZZOTINT_STATE to another folder"
        )


def _version(path: Path, connection: sqlite3.Connection, migrations: Sequence[str]) -> int:
    """Return the version of the tables; 0 if there are none. Refuses files of other programs or newer versions."""

    def read(question: str) -> int:
        return int(connection.execute(question).fetchone()[0])

    application, version = read("PRAGMA application_id"), read("PRAGMA user_version")
    if application != APPLICATION_ID and (application or version or read("SELECT count(*) FROM sqlite_schema")):
        raise StorageError(
            f"{shown(path)} is not a Mezzotint queue: move it away, or set MEZZOTINT_STATE to another folder"
        )
    _refuse_newer(path, version, len(migrations))
    problem = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]  # includes the indices
    if problem != "ok":
        raise _DamagedError(" ".join(str(problem).split())[:_LONGEST_PROBLEM])
    if _tables(connection) != _tables_of(migrations[:version]):
        raise _DamagedError("its tables do not match its version")
    return version


def _tables(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return every table, index and trigger with its SQL, except SQLite's own."""
    return connection.execute(
        "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name"
    ).fetchall()


def _tables_of(migrations: Sequence[str]) -> list[tuple[str, str]]:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for step in migrations:
            connection.executescript(step)
        return _tables(connection)


def _migrate(database: Database, version: int, migrations: Sequence[str], now: Callable[[], float]) -> None:
    """Run all migrations to the newest version, or none."""
    if version:
        backups.back_up(database, f"before-version-{len(migrations)}", now)
    with database.writing():
        for step in migrations[version:]:
            for statement in _statements(step):
                database.change(statement)
        database.change(f"PRAGMA application_id = {APPLICATION_ID}")
        database.change(f"PRAGMA user_version = {len(migrations)}")


def _statements(script: str) -> Iterator[str]:
    """Yield the statements of a script one by one, since `executescript` would end the transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


@contextlib.contextmanager
def _as_damage() -> Iterator[None]:
    """Distinguish damage, which can be repaired, from errors that the user has to fix."""
    try:
        yield
    except UnicodeDecodeError as error:  # in SQLite's message about the damage
        raise _DamagedError("it contains bytes that are not valid text") from error
    except StorageError as error:
        cause = error.__cause__
        if isinstance(cause, sqlite3.Error) and primary_code(cause) in DAMAGED:
            raise _DamagedError(str(cause)) from cause
        raise


def _move_aside(path: Path, now: Callable[[], float]) -> Path:
    """Rename the damaged database with its companion files, to a name with the time."""
    stamp = time.strftime("%Y-%m-%d-%H%M%S", time.localtime(now()))
    aside = path.with_name(f"{path.stem}-damaged-{stamp}{path.suffix}")
    while aside.exists():
        aside = aside.with_name(f"{path.stem}-damaged-{stamp}-{secrets.token_hex(2)}{path.suffix}")
    for ending in _BESIDE:
        source, target = Path(f"{path}{ending}"), Path(f"{aside}{ending}")
        try:
            if source.exists():
                retry_sharing(os.replace, source, target)
        except OSError as error:
            raise storage_error("move aside", source, error) from error
    return aside
