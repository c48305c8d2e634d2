"""Copies of the queue."""

import contextlib
import sqlite3
from functools import partial

import pytest

from mezzotint.atomic import TEMPORARY_PREFIX
from mezzotint.errors import StorageError
from mezzotint.jobs.storage import backups
from mezzotint.jobs.store import JobStore

DAY = 86_400


def test_one_a_day_and_seven_are_kept(path, request_of):
    for day in range(10):
        for hour in (0, 3600):
            now = partial(float, 1_000_000 + day * DAY + hour)
            with JobStore.open(path, now=now).store as store:
                store.add([request_of()])
    found = backups.newest_first(path)
    assert len(found) == 7
    assert found == sorted(found, reverse=True)
    with contextlib.closing(sqlite3.connect(found[0])) as newest:
        assert newest.execute("SELECT count(*) FROM entries").fetchone() == (18,)  # when the day's first program began


def test_the_newest_is_the_one_made_last_whatever_the_clock_said(path, request_of):
    for number, day in enumerate((9, 40_000, 10, 11)):  # the clock was wrong on the second day
        with JobStore.open(path, now=partial(float, day * DAY + 1000)).store as store:
            store.add([request_of()] * (number + 1))
            for _ in range(number):
                store.claim("me")
    ordered = backups.newest_first(path)
    assert [backup.stem.rpartition("queue-")[2] for backup in ordered] == [
        *("1970-01-12", "1970-01-11", "2079-07-08", "1970-01-10")
    ]


def test_a_clock_that_was_wrong_does_not_cost_the_newest(path, request_of):
    for day in (40_000, *range(9, 18)):
        with JobStore.open(path, now=partial(float, day * DAY + 1000)).store as store:
            store.add([request_of()])
    assert backups.newest_first(path)[0].stem.endswith("1970-01-18")
    assert len(backups.newest_first(path)) == 7


def test_backups_of_former_versions_are_older_and_ordered_by_their_tasks(path, request_of):
    folder = path.parent / "backups"
    for day, entries in (("2026-05-01", 2), ("2026-04-01", 3)):
        with JobStore.open(path.with_name(f"{entries}.sqlite"), now=lambda: DAY * 2.0).store as store:
            for _ in range(entries):
                store.add([request_of()])
            with contextlib.closing(sqlite3.connect(folder / f"queue-{day}.sqlite")) as copy:
                store._database.connection.backup(copy)
    JobStore.open(path, now=lambda: DAY * 3.0).store.close()
    found = [backup.stem for backup in backups.newest_first(path)]
    assert found == ["queue-1970-01-04", "queue-2026-04-01", "queue-2026-05-01"]


def test_a_damaged_backup_is_the_oldest(path, store):
    damaged = path.parent / "backups" / "queue-2030-01-01.sqlite"
    damaged.write_bytes(b"garbage" * 1000)
    assert backups.newest_first(path)[-1] == damaged
    assert not backups.has_entries(damaged)


def test_a_program_that_works_for_days_makes_copies_too(path, request_of):
    day = [1]
    with JobStore.open(path, now=lambda: day[0] * DAY + 1000.0).store as store:
        store.add([request_of()] * 4)
        for _ in range(3):
            store.claim("me")
            day[0] += 1
        assert len(backups.newest_first(path)) == 3


def test_a_copy_that_cannot_be_made_keeps_no_task_from_being_begun(path, request_of, monkeypatch):
    def fails(*_):
        raise OSError(28, "No space left on device")

    with JobStore.open(path, now=lambda: DAY * 3.0).store as store:
        store.add([request_of()])
        monkeypatch.setattr(backups, "retry_sharing", fails)
        store._now = lambda: DAY * 9.0
        assert store.claim("me") is not None


def test_a_copy_is_whole_while_another_program_writes(path, store, request_of):
    store.add([request_of()])
    with JobStore.open(path).store as other:
        other._database.connection.execute("BEGIN IMMEDIATE")
        other._database.connection.execute("DELETE FROM entries")
        copy = backups.back_up(store._database, "now", lambda: 0.0)
        other._database.connection.execute("ROLLBACK")
    with contextlib.closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("SELECT count(*) FROM entries").fetchone() == (1,)


def test_a_copy_that_fails_leaves_nothing(store, path, monkeypatch):
    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backups, "retry_sharing", fails)
    with pytest.raises(StorageError, match="the disk is full"):
        backups.back_up(store._database, "now", lambda: 0.0)
    assert not list(path.parent.rglob(f"{TEMPORARY_PREFIX}*"))


def test_other_files_are_no_copies(path, store):
    (path.parent / "backups" / "queue-notes.sqlite").touch()
    (path.parent / "backups" / "queue-before-version-2-20260101-000000.sqlite").touch()
    assert len(backups.newest_first(path)) == 1
