"""What can happen to the queue's file while it is used, and what a person is told."""

import sqlite3

import pytest

from mezzotint.errors import StorageError
from mezzotint.jobs.storage import database
from mezzotint.jobs.store import JobStore, PhaseSeconds

SECONDS = PhaseSeconds(load=1, encode=1, step=1, decode=1, save=1, steps=20)

WRITES = {
    "add": lambda store, request: store.add([request]),
    "claim": lambda store, _: store.claim("me"),
    "cancel": lambda store, _: store.cancel([1]),
    "pause": lambda store, _: store.pause(),
    "duplicate": lambda store, _: store.duplicate([1]),
    "move": lambda store, _: store.move([1], None),
    "remove": lambda store, _: store.remove([1]),
    "clear": lambda store, _: store.clear_finished(),
    "finish": lambda store, _: store.finish(1, SECONDS),
    "fail": lambda store, _: store.fail(1, "failed", "x"),
    "put back": lambda store, _: store.requeue(1, because="x"),
    "died": lambda store, _: store.on_engine_death(1, because="x"),
    "recover": lambda store, _: store.recover(lambda _: False),
    "resume interrupted": lambda store, _: store.resume_interrupted(),
}


class Failing:
    """A connection that fails at one statement, as a disk may."""

    def __init__(self, connection, at, code):
        self.connection, self.at, self.code, self.asked = connection, at, code, 0

    def __getattr__(self, name):
        return getattr(self.connection, name)

    def _ask(self, name, *arguments):
        self.asked += 1
        if self.asked == self.at:
            error = sqlite3.OperationalError("injected")
            error.sqlite_errorcode = self.code
            raise error
        return getattr(self.connection, name)(*arguments)

    def execute(self, *arguments):
        return self._ask("execute", *arguments)

    def executemany(self, *arguments):
        return self._ask("executemany", *arguments)


def content(store):
    return [store.entry(row.id) for row in store.rows()], store.paused()


@pytest.mark.parametrize("code", [sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR | (3 << 8), sqlite3.SQLITE_BUSY])
@pytest.mark.parametrize("name", WRITES)
def test_a_write_that_fails_anywhere_changes_nothing_and_the_queue_goes_on(store, request_of, image_of, name, code):
    store.add([request_of(count=2), request_of()])
    store.claim("me")
    store.saved(1, image_of(request_of()))
    whole = store._database.connection
    for at in range(1, 40):
        before = content(store)
        store._database.connection = failing = Failing(whole, at, code)
        try:
            WRITES[name](store, request_of())
        except StorageError as error:
            assert "the queue" in str(error)
            store._database.connection = whole
            assert not whole.in_transaction
            assert content(store) == before
        else:
            assert failing.asked < at  # it was never reached: all points have been tried
            break
        finally:
            store._database.connection = whole
    else:
        pytest.fail("it asks without end")
    assert at > 1
    store.add([request_of()])


def test_a_full_disk_is_told_and_nothing_is_lost(store, request_of):
    """SQLite's own full: the file may not grow any more."""
    store.add([request_of("small")])
    pages = store._database.connection.execute("PRAGMA page_count").fetchone()[0]
    store._database.connection.execute(f"PRAGMA max_page_count = {pages}")
    before = content(store)
    with pytest.raises(StorageError, match="the disk is full: free some space and try again"):
        store.add([request_of("large " * 10_000)])
    assert content(store) == before
    store.pause()
    store._database.connection.execute("PRAGMA max_page_count = 1000000")
    store.add([request_of("large " * 10_000)])
    assert store.count() == 2


def test_every_known_code_has_words_and_a_bug_has_none(path):
    for name in (
        "BUSY",
        "LOCKED",
        "READONLY",
        "PERM",
        "AUTH",
        "IOERR",
        "CORRUPT",
        "NOTADB",
        "FULL",
        "CANTOPEN",
        "PROTOCOL",
    ):
        code = getattr(sqlite3, f"SQLITE_{name}")
        for detail in (0, 5 << 8):
            error = sqlite3.OperationalError("x")
            error.sqlite_errorcode = code | detail
            with pytest.raises(StorageError, match=r"the queue .*queue\.sqlite: ..."), database.sqlite_errors(path):
                raise error
    for bug in (
        sqlite3.OperationalError("no such table"),
        sqlite3.ProgrammingError("closed"),
        sqlite3.IntegrityError("x"),
    ):
        with pytest.raises(type(bug)), database.sqlite_errors(path):
            raise bug


def test_a_bug_inside_a_transaction_takes_it_back(store, request_of):
    store.add([request_of()])
    with pytest.raises(ZeroDivisionError), store._database.writing():
        store._database.change("DELETE FROM entries")
        raise ZeroDivisionError
    assert store.count() == 1


def test_what_is_done_is_on_the_disk_when_it_is_said(path, store, request_of):
    """Read by another connection, from the files alone."""
    entry = store.add([request_of()])
    with JobStore.open(path).store as other:
        assert other.row(entry).state == "waiting"
        store.claim("me")
        assert other.row(entry).state == "running"
        assert other.entry(entry).tasks[0].attempts == 1


def test_reading_keeps_no_past_alive(path, store, opened, request_of):
    other = opened().store
    other.row(other.add([request_of()]))
    other.claim("me")
    store._database.connection.execute("PRAGMA busy_timeout = 0")
    assert store._database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
