"""Backups of the queue: one a day, and one before each migration."""

import contextlib
import os
import re
import secrets
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from mezzotint.atomic import TEMPORARY_PREFIX, TEMPORARY_SUFFIX, retry_sharing
from mezzotint.jobs.storage.database import Database, sqlite_errors
from mezzotint.paths import make_private
from mezzotint.trouble import storage_error

KEPT = 7

_DAILY = re.compile(r".+-\d{4}-\d{2}-\d{2}")


def back_up_daily(database: Database, now: Callable[[], float], after: str = "") -> str:
    """Make today's backup unless it exists or `after` is today; return the day. Keeps seven. Raises StorageError."""
    day = time.strftime("%Y-%m-%d", time.localtime(now()))
    path = _backup(database.path, day)
    if day == after or path.exists():
        return day
    _copy(database, path)
    for old in _daily(database.path)[KEPT:]:
        with contextlib.suppress(OSError):
            old.unlink()
    return day


def back_up(database: Database, name: str, now: Callable[[], float]) -> Path:
    """Make a permanent backup with its own name; return its path. Raises StorageError."""
    path = _backup(database.path, f"{name}-{time.strftime('%Y%m%d-%H%M%S', time.localtime(now()))}")
    _copy(database, path)
    return path


def newest_first(path: Path) -> list[Path]:
    """Return the daily backups of a queue, newest first, by what they hold: a clock may have been wrong."""
    return _daily(path)


def _backup(path: Path, name: str) -> Path:
    return path.parent / "backups" / f"{path.stem}-{name}{path.suffix}"


def _daily(path: Path) -> list[Path]:
    found = (path.parent / "backups").glob(f"{path.stem}-*{path.suffix}")
    return sorted((one for one in found if _DAILY.fullmatch(one.stem)), key=_age, reverse=True)


def has_entries(backup: Path) -> bool:
    """Whether a backup has anything to restore."""
    return _number(backup, "SELECT count(*) FROM entries") > 0


def _age(backup: Path) -> tuple[int, int, str]:
    """The number of a backup, then its last task, then its date; backups of former versions have no number."""
    number = _number(backup, "SELECT value FROM settings WHERE name = 'backup_number'")
    return number, _number(backup, "SELECT seq FROM sqlite_sequence WHERE name = 'tasks'"), backup.name


def _number(backup: Path, question: str) -> int:
    """The answer of a backup, which may be damaged or lack it; then 0."""
    with contextlib.suppress(sqlite3.Error), contextlib.closing(_reading(backup)) as connection:
        found = connection.execute(question).fetchone()
        return int(found[0]) if found else 0
    return 0


def _reading(backup: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{backup.absolute().as_uri()}?mode=ro", uri=True)


def _copy(database: Database, path: Path) -> None:
    """Copy with SQLite's backup API: a consistent snapshot, whatever other processes do meanwhile."""
    temporary = path.parent / f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}{TEMPORARY_SUFFIX}"
    try:
        make_private(path.parent)
        number = 1 + max((_age(one)[0] for one in _daily(database.path)), default=0)
        with sqlite_errors(path), contextlib.closing(sqlite3.connect(temporary)) as copy:
            database.connection.backup(copy)
            copy.execute("INSERT OR REPLACE INTO settings (name, value) VALUES ('backup_number', ?)", (number,))
            copy.commit()
        retry_sharing(os.replace, temporary, path)
    except OSError as error:
        raise storage_error("write", path, error) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
