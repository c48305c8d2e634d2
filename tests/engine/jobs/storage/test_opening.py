"""A queue that is new, old, newer, another program's, damaged, or not to be had."""

import contextlib
import hashlib
import random
import shutil
import sqlite3
import sys
from pathlib import Path

import pytest

from mezzotint.errors import StorageError
from mezzotint.jobs import editing
from mezzotint.jobs.locked_file import LockedFile
from mezzotint.jobs.storage import opening
from mezzotint.jobs.storage.opening import open_database
from mezzotint.jobs.storage.schema import APPLICATION_ID, MIGRATIONS
from mezzotint.jobs.store import JobStore, PhaseSeconds
from mezzotint.protocol import GenerateRequest

MORE = (*MIGRATIONS, "ALTER TABLE entries ADD COLUMN colour TEXT;\nCREATE INDEX by_colour ON entries (colour);\n")
BROKEN = (*MORE, "CREATE TABLE half (x);\nINSERT INTO nowhere VALUES (1);\n")


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def pragma(path, name):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"PRAGMA {name}").fetchone()[0]


def columns(path):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return [line[1] for line in connection.execute("PRAGMA table_info(entries)")]


@pytest.fixture
def filled(opened, request_of, path, image_of):
    """A queue with three entries, closed: done, waiting, failed."""
    store = opened().store
    for prompt in ("done", "waits", "failed"):
        store.add([request_of(prompt, count=2)], title=prompt)
    store.move([3], before=2)
    task = store.claim("me")
    for number in range(2):
        store.saved(task.id, image_of(task.request, number))
    store.finish(task.id, PhaseSeconds(load=1, encode=1, step=1, decode=1, save=1, steps=10))
    store.fail(store.claim("me").id, "failed", "no")
    store.close()
    return path


def test_a_new_one_is_ours_and_safe(opened, path):
    connection = opened().store._database.connection
    ask = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")}
    assert ask == {"journal_mode": "wal", "synchronous": 2}
    assert connection.execute("PRAGMA foreign_keys").fetchone()[0] == 1
    assert connection.execute("PRAGMA busy_timeout").fetchone()[0] == 5000
    assert (pragma(path, "application_id"), pragma(path, "user_version")) == (APPLICATION_ID, len(MIGRATIONS))


def test_an_empty_file_is_taken_for_a_new_one(opened, path):
    path.touch()
    assert opened().notice is None


@pytest.mark.parametrize("lost", ["emptied", "deleted"])
def test_a_lost_one_is_restored_from_the_backup(filled, opened, lost):
    for backup in filled.parent.glob("backups/*"):
        backup.unlink()
    opened().store.close()  # makes today's backup
    for ending in ("-wal", "-shm"):
        (filled.parent / f"{filled.name}{ending}").unlink(missing_ok=True)
    filled.write_bytes(b"") if lost == "emptied" else filled.unlink()

    result = opened()

    assert "3 entries of" in result.notice
    assert "queue is paused" in result.notice
    assert [row.title for row in result.store.rows()] == ["done", "failed", "waits"]
    assert result.store.paused()
    assert opened().notice is None  # it is told once


def test_a_new_one_beside_backups_without_entries_is_just_new(opened, path):
    opened().store.close()
    path.unlink()
    result = opened()
    assert result.notice is None
    assert not result.store.paused()


def test_a_newer_one_is_left_as_it_is(filled):
    with contextlib.closing(sqlite3.connect(filled)) as connection:
        connection.execute("PRAGMA user_version = 99")
    before, there = digest(filled), sorted(filled.parent.iterdir())
    with pytest.raises(StorageError, match=r"newer Mezzotint \(version 99.*install the newer one"):
        JobStore.open(filled)
    assert digest(filled) == before
    assert sorted(filled.parent.iterdir()) == there


def test_a_newer_one_is_known_while_another_program_has_it_open(filled, clock):
    """Then its version may stand in the log beside it alone."""
    newer = open_database(filled, now=clock, migrations=MORE).database
    with pytest.raises(StorageError, match="newer Mezzotint"):
        JobStore.open(filled)
    newer.connection.close()
    with pytest.raises(StorageError, match="newer Mezzotint"):
        JobStore.open(filled)


def test_one_of_another_program_is_left_as_it_is(path):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE bookmarks (url)")
    before = digest(path)
    with pytest.raises(StorageError, match="is not a Mezzotint queue"):
        JobStore.open(path)
    assert digest(path) == before


def test_an_older_one_is_brought_up_to_date_after_a_copy(filled, clock):
    opened = open_database(filled, now=clock, migrations=MORE)
    opened.database.connection.close()
    assert opened.notice is None
    assert pragma(filled, "user_version") == len(MORE)
    assert "colour" in columns(filled)
    (copy,) = filled.parent.glob("backups/queue-before-version-*")
    assert pragma(copy, "user_version") == len(MIGRATIONS)
    assert "colour" not in columns(copy)
    with contextlib.closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT count(*) FROM entries").fetchone() == (3,)


def test_a_queue_of_the_first_version_goes_on(path, clock, opened, request_of):
    database = open_database(path, now=clock, migrations=MIGRATIONS[:1]).database
    editing.add(database, [request_of(count=2)], title=None, front=False, before=None, now=clock)
    database.connection.close()
    assert pragma(path, "user_version") == 1
    store = opened().store
    store.skip_image(1, 7)
    assert store.claim("me").request.seed == 8


def test_a_migration_that_breaks_off_changes_nothing(filled, clock):
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):  # a bug of ours, shown as one
        open_database(filled, now=clock, migrations=BROKEN)
    assert pragma(filled, "user_version") == len(MIGRATIONS)
    assert "colour" not in columns(filled)
    with JobStore.open(filled).store as store:
        assert store.count() == 3


def test_no_migration_without_its_copy(filled, clock, monkeypatch):
    def fails(*_):
        raise StorageError("the disk is full")

    monkeypatch.setattr(opening.backups, "back_up", fails)
    with pytest.raises(StorageError, match="the disk is full"):
        open_database(filled, now=clock, migrations=MORE)
    assert pragma(filled, "user_version") == len(MIGRATIONS)


@pytest.mark.parametrize("damage", ["text", "cut", "zeros", "header"])
def test_a_damaged_one_is_moved_aside_and_what_can_be_had_is_kept(filled, opened, damage):
    data = bytearray(filled.read_bytes())
    if damage == "text":
        data = bytearray(b"this is no database, but long enough to be one " * 100)
    elif damage == "cut":
        data = data[: len(data) // 2]
    elif damage == "zeros":
        data[4096 : len(data) // 2] = bytes(len(data) // 2 - 4096)
    else:
        data[:100] = random.Random(0).randbytes(100)
    filled.write_bytes(data)
    result = opened()
    (aside,) = filled.parent.glob("queue-damaged-*.sqlite")
    assert aside.read_bytes() == data
    assert str(aside) in result.notice
    assert "was damaged" in result.notice
    store = result.store
    assert store._database.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert store.paused()
    assert (
        store.add([store.entry(row.id).tasks[0].request for row in store.rows()] or [GenerateRequest(prompt="x")]) > 0
    )
    assert opened().notice is None  # it is told once


def test_the_copy_of_the_day_fills_what_the_damaged_file_has_lost(filled, opened, clock):
    """What was done, failed or learned stays; what was to be done is asked about, for it may have been done since."""
    for copy in filled.parent.glob("backups/*"):
        copy.unlink()
    opened().store.close()  # makes today's copy
    filled.write_bytes(b"garbage" * 1000)
    for ending in ("-wal", "-shm"):
        (filled.parent / f"{filled.name}{ending}").unlink(missing_ok=True)
    result = opened()
    assert "3 of its entries" in result.notice
    rows = result.store.rows()
    assert [(row.title, row.state) for row in rows] == [
        ("done", "done"),
        ("failed", "failed"),
        ("waits", "interrupted"),
    ]
    assert rows[0].first_image == "/out/7.png"
    assert result.store.claim("me") is None
    result.store.resume_interrupted()
    assert result.store.claim("me").request.prompt == "waits"
    assert result.store.expected_queue() is not None


@pytest.mark.parametrize("seed", range(25))
def test_any_damage_is_survived(filled, opened, seed):
    chance = random.Random(seed)
    data = bytearray(filled.read_bytes())
    for _ in range(chance.choice([1, 20, 400])):
        data[chance.randrange(len(data))] = chance.randrange(256)
    filled.write_bytes(data[: chance.choice([len(data), chance.randrange(len(data))])])
    try:
        store = opened().store
    except StorageError as error:  # the damage says that it is newer, or another program's
        assert "newer" in str(error) or "not a Mezzotint queue" in str(error)
        return
    assert store._database.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    for row in store.rows():
        store.row(row.id)


def test_what_belongs_to_a_damaged_one_goes_with_it(filled, clock):
    """The log of one database, read into another, would damage that, too."""
    for ending in ("-wal", "-shm"):
        filled.with_name(f"{filled.name}{ending}").write_text(ending)
    aside = opening._move_aside(filled, clock)
    assert [aside.with_name(f"{aside.name}{ending}").read_text() for ending in ("-wal", "-shm")] == ["-wal", "-shm"]
    assert not list(filled.parent.glob("queue.sqlite*m")), "nothing of it is left"


def test_two_damaged_ones_in_a_second_are_both_kept(filled, opened, monkeypatch):
    monkeypatch.setattr(opening.time, "strftime", lambda *_: "2026-01-01-000000")
    for garbage in (b"first" * 100, b"second" * 100):
        filled.write_bytes(garbage)
        opened().store.close()
    assert {path.read_bytes()[:5] for path in filled.parent.glob("queue-damaged-*.sqlite")} == {b"first", b"secon"}


def test_damage_that_sqlite_does_not_see_costs_one_task(filled, opened):
    data = filled.read_bytes()
    assert data.count(b'"prompt": "waits"') == 1
    filled.write_bytes(data.replace(b'"prompt": "waits"', b'"prompt": \xffwaits"'))
    store = opened().store
    store.add([GenerateRequest(prompt="x")])
    assert store.claim("me").request.prompt == "x"
    assert "can no longer read it" in store.row(2).error


def test_a_copy_that_cannot_be_made_is_told_and_no_more(opened, path, monkeypatch):
    def fails(*_):
        raise StorageError("the disk is full")

    monkeypatch.setattr(opening.backups, "back_up_daily", fails)
    result = opened()
    assert "backup of the queue could not be made: the disk is full" in result.notice
    assert result.store.count() == 0


def test_a_queue_that_another_program_writes_to_for_long(filled, monkeypatch):
    monkeypatch.setattr("mezzotint.jobs.storage.database.BUSY_SECONDS", 0.01)
    with contextlib.closing(sqlite3.connect(filled, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StorageError, match="another program has been writing to it for a long time"):
            JobStore.open(filled)
    with JobStore.open(filled).store as store:
        assert store.count() == 3


def test_programs_open_it_one_after_the_other(filled, monkeypatch):
    monkeypatch.setattr(opening, "BUSY_SECONDS", 0.0)
    monkeypatch.setattr(opening, "_WAIT", 0.0)
    other = LockedFile.take(filled.with_name("queue.sqlite.opening"))
    with pytest.raises(StorageError, match="another program has been opening it"):
        JobStore.open(filled)
    other.release()
    JobStore.open(filled).store.close()


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot create the folder"):
        JobStore.open(tmp_path / "file" / "queue.sqlite")


def test_a_folder_in_place_of_the_file(path):
    path.mkdir()
    with pytest.raises(StorageError, match=r"it is a folder, not a file|no permission"):
        JobStore.open(path)


def test_a_file_that_sqlite_says_is_read_only(filled, monkeypatch):
    def connect(path):
        return sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)

    monkeypatch.setattr(opening, "connect", connect)
    with pytest.raises(StorageError, match="is not writable: change its permissions, or set MEZZOTINT_STATE"):
        open_database(filled, migrations=MORE)


def test_all_is_let_go_of_after_a_failure(filled, clock):
    """On Windows what is open could not be moved."""
    with contextlib.suppress(sqlite3.OperationalError):
        open_database(filled, now=clock, migrations=BROKEN)
    if sys.platform.startswith("linux"):
        links = [link for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
        assert not [link for link in links if str(filled.parent) in str(link.readlink())]
    shutil.rmtree(filled.parent)
