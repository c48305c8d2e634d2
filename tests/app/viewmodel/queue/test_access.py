"""The store is asked on its own thread, and whoever listens hears of changes."""

import threading

import pytest
from fake_clock import FakeClock

from mezzotint.errors import StorageError
from mezzotint.jobs.store import JobStore
from mezzotint_app.background import Background
from mezzotint_app.viewmodel.queue.access import QueueAccess

pytestmark = pytest.mark.requires_package("PySide6")


def failing():
    raise StorageError("the queue cannot be opened: the disk is full")


def test_nothing_of_the_store_happens_on_the_window_s_thread(qtbot):
    background = Background()
    threads = []

    def opened():
        threads.append(threading.current_thread())
        return JobStore.open()

    access = QueueAccess(background, opened)
    told = []
    with qtbot.waitSignal(access.opened):
        access.open()
    with qtbot.waitSignal(access.changed):
        access.change(lambda store: threads.append(threading.current_thread()) or store.paused(), told.append)
    assert told == [False] and len(threads) == 2
    assert threading.current_thread() not in threads
    access.close()
    assert background.finish()


def test_a_question_changes_nothing(inline):
    access = QueueAccess(inline, JobStore.open)
    access.open()
    changes, told = [], []
    access.changed.connect(lambda: changes.append(1))
    access.ask(JobStore.paused, told.append)
    assert (told, changes) == ([False], [])
    access.change(JobStore.pause)
    access.ask(JobStore.paused, told.append)
    assert (told, changes) == ([False, True], [1])
    access.close()


def test_a_queue_that_cannot_be_opened_is_told(inline):
    access = QueueAccess(inline, failing)
    told = []
    access.unusable.connect(told.append)
    access.open()
    assert len(told) == 1
    assert "the queue cannot be opened: the disk is full" in told[0]
    errors = []
    access.ask(JobStore.paused, None, errors.append)
    assert str(errors[0]) == "the queue cannot be opened: the disk is full"


def test_a_queue_that_could_not_be_opened_is_opened_as_soon_as_it_can_be(inline):
    clock, full = FakeClock(), [True]
    access = QueueAccess(inline, lambda: failing() if full[0] else JobStore.open(), clock=clock)
    troubles, opened, told, over = [], [], [], []
    access.resolved.connect(over.append)
    access.unusable.connect(troubles.append)
    access.opened.connect(opened.append)
    access.open()
    clock.advance(60)
    assert len(troubles) == 1 and not opened
    full[0] = False
    clock.advance(10)
    assert opened == [None]
    assert over == troubles
    access.ask(JobStore.paused, told.append)
    assert told == [False]
    access.close()


def test_once_closed_it_is_not_tried_again(inline):
    clock, tries = FakeClock(), []

    def refused():
        tries.append(1)
        failing()

    access = QueueAccess(inline, refused, clock=clock)
    access.open()
    access.close()
    clock.advance(60)
    access.open()
    assert tries == [1]


@pytest.mark.slow
def test_a_change_that_fails_is_told_to_who_asked_and_changes_nothing(inline):
    access = QueueAccess(inline, JobStore.open)
    access.open()
    changes, errors = [], []
    access.changed.connect(lambda: changes.append(1))
    access.change(lambda _store: failing(), changes.append, errors.append)
    assert changes == [] and isinstance(errors[0], StorageError)
    access.close()


def test_to_ask_before_it_is_opened_is_a_bug(inline):
    access = QueueAccess(inline, JobStore.open)
    with pytest.raises(RuntimeError, match="opened"):
        access.ask(JobStore.paused)


def test_once_it_is_closed_nothing_is_asked_and_a_change_is_a_bug(inline):
    access, told = QueueAccess(inline, JobStore.open), []
    access.open()
    assert access.is_open
    access.close()
    access.ask(JobStore.paused, told.append, told.append)
    assert told == [] and not access.is_open
    with pytest.raises(RuntimeError, match="closed"):
        access.change(JobStore.paused)
