"""The gallery's database: damage is moved aside, what is newer or another's is left alone, disks are told of."""

import shutil
import sqlite3
import threading
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.errors import StorageError, UsageError
from mezzotint.library.gallery.scanning import row_of, upsert
from mezzotint.library.gallery.schema import APPLICATION_ID, VERSION, GalleryDatabase
from mezzotint.library.gallery.walk import FileStamp


def count(connection):
    return connection.execute("SELECT count(*) FROM images").fetchone()[0]


def add(database, number=1):
    rows = [row_of(f"/p/{one}.png", FileStamp(changed=one, bytes=1), None) for one in range(number)]
    database.run(lambda connection: upsert(connection, rows))


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A database of a few pages."""
    path = tmp_path_factory.mktemp("filled") / "gallery.db"
    database = GalleryDatabase(path)
    add(database, 500)
    database.close()
    return path


def test_a_new_one(tmp_path):
    database = GalleryDatabase(tmp_path / "a" / "b" / "gallery.db")
    assert database.run(count) == 0 and database.notices() == ()

    def pragma(name, connection):
        return connection.execute(f"PRAGMA {name}").fetchone()[0]

    names = ("journal_mode", "synchronous", "application_id", "user_version")
    modes = [database.run(partial(pragma, name)) for name in names]
    assert modes == ["wal", 2, APPLICATION_ID, VERSION]
    database.close()


def test_work_is_whole_or_not_at_all(tmp_path):
    database = GalleryDatabase(tmp_path / "gallery.db")

    def half(connection):
        upsert(connection, [row_of("/p/a.png", FileStamp(changed=1, bytes=1), None)])
        raise KeyError("half way")

    with pytest.raises(KeyError):
        database.run(half)
    assert database.run(count) == 0
    add(database)
    assert database.run(count) == 1
    database.close()


@pytest.mark.parametrize(
    "content", [b"no database at all, but long enough" * 40, b"SQLite format 3\0" + b"\xff" * 4000]
)
def test_what_is_no_database_is_moved_aside(tmp_path, content):
    path = tmp_path / "gallery.db"
    path.write_bytes(content)
    (tmp_path / "gallery.db-wal").write_bytes(b"beside it")
    database = GalleryDatabase(path)
    add(database)
    assert database.run(count) == 1
    (notice,) = database.notices()
    assert "damaged" in notice and "stars are kept" in notice and "\n" not in notice
    aside = next(tmp_path.glob("gallery-damaged-*.db"))
    assert aside.read_bytes() == content
    database.close()


@given(st.integers(0, 40_000), st.binary(min_size=1, max_size=600))
def test_no_damage_ends_it(filled, tmp_path_factory, place, bytes_there):
    path = tmp_path_factory.mktemp("damaged") / "gallery.db"
    data = bytearray(filled.read_bytes())
    place %= len(data)
    data[place : place + len(bytes_there)] = bytes_there
    path.write_bytes(data)
    database = GalleryDatabase(path)
    try:
        add(database, 3)
        assert database.run(count) in (3, 500)
    except StorageError as error:  # its first bytes may now say that it is another program's
        assert "\n" not in str(error)
        assert path.read_bytes()[:100] == bytes(data[:100])
    database.close()


def test_damage_that_is_met_while_it_is_open(filled, tmp_path):
    path = shutil.copy(filled, tmp_path / "gallery.db")
    database = GalleryDatabase(path)
    assert database.run(count) == 500
    failed = []

    def work(connection):
        if not failed:
            failed.append(True)
            error = sqlite3.DatabaseError("database disk image is malformed")
            error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise error
        return count(connection)

    assert database.run(work) == 0
    assert len(database.notices()) == 1 and list(tmp_path.glob("gallery-damaged-*"))
    database.close()


def test_a_newer_one_is_refused_and_left(filled, tmp_path):
    path = shutil.copy(filled, tmp_path / "gallery.db")
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StorageError, match="newer Mezzotint"):
        GalleryDatabase(path).run(count)
    assert path.read_bytes() == before


def test_an_older_one_is_filled_again(filled, tmp_path):
    path = shutil.copy(filled, tmp_path / "gallery.db")
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 0")
    connection.close()
    database = GalleryDatabase(path)
    assert database.run(count) == 0 and database.notices() == ()
    database.close()


def test_another_programs_file_is_left(tmp_path):
    path = tmp_path / "gallery.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (a)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StorageError, match="not a Mezzotint gallery"):
        GalleryDatabase(path).run(count)
    assert path.read_bytes() == before


def test_a_full_disk_is_told_and_what_was_there_stays(tmp_path):
    database = GalleryDatabase(tmp_path / "gallery.db")
    add(database)
    database.run(lambda connection: connection.execute("PRAGMA max_page_count = 1"))  # the least: what there is now
    with pytest.raises(StorageError, match="the disk is full"):
        add(database, 20_000)
    assert database.run(count) == 1
    database.close()


def test_who_may_not_write_is_told(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="create the folder"):
        GalleryDatabase(tmp_path / "file" / "gallery.db").run(count)
    (tmp_path / "gallery.db").mkdir()
    with pytest.raises(StorageError, match="cannot be opened"):
        GalleryDatabase(tmp_path / "gallery.db").run(count)


def test_one_that_another_program_holds(tmp_path, monkeypatch):
    monkeypatch.setattr("mezzotint.library.gallery.schema._BUSY_SECONDS", 0.01)
    database = GalleryDatabase(tmp_path / "gallery.db")
    add(database)
    other = sqlite3.connect(tmp_path / "gallery.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match="another program"):
        add(database)
    other.execute("ROLLBACK")
    other.close()
    add(database)
    database.close()


def test_halves_of_characters(tmp_path):
    database = GalleryDatabase(tmp_path / "gallery.db")
    with pytest.raises(UsageError, match="not valid Unicode"):
        database.run(lambda connection: connection.execute("SELECT ?", ("\ud800",)))
    database.close()


def test_threads_take_turns(tmp_path):
    database = GalleryDatabase(tmp_path / "gallery.db")

    def work(number):
        for one in range(20):
            row = row_of(f"/p/{number}-{one}.png", FileStamp(changed=1, bytes=1), None)
            database.run(lambda connection: upsert(connection, [row]))  # noqa: B023

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert database.run(count) == 80
    database.close()
