"""Work is done on another thread, in order, and told on the window's."""

import threading

import pytest
import shiboken6

from mezzotint_app.background import Background, Pool


@pytest.fixture
def background(qtbot):
    made = Background()
    yield made
    assert made.finish()


def test_work_is_done_elsewhere_and_told_here(qtbot, background):
    told = []
    background.run(threading.get_ident, lambda value: told.append((value, threading.get_ident())))
    qtbot.waitUntil(lambda: bool(told))
    worked, heard = told[0]
    assert heard == threading.get_ident()
    assert worked != heard


def test_one_thread_does_all_in_order(qtbot, background):
    order, threads, told = [], set(), []

    def work(number):
        order.append(number)
        threads.add(threading.get_ident())
        return number

    for number in range(50):
        background.run(lambda number=number: work(number), told.append)
    qtbot.waitUntil(lambda: len(told) == 50)
    assert order == told == list(range(50))
    assert len(threads) == 1


def test_an_error_is_told_to_who_asked(qtbot, background):
    failed = []
    background.run(lambda: 1 // 0, failed=failed.append)
    qtbot.waitUntil(lambda: bool(failed))
    assert isinstance(failed[0], ZeroDivisionError)


def test_an_error_that_nobody_asked_about_is_heard(qtbot, background):
    heard = []
    background.on_unhandled(heard.append)
    background.run(lambda: 1 // 0)
    qtbot.waitUntil(lambda: bool(heard))
    assert isinstance(heard[0], ZeroDivisionError)


def test_callbacks_never_come_inside_the_call(qtbot, background):
    told = []
    background.run(lambda: None, lambda _: told.append(True))
    background.finish()
    assert told == []
    qtbot.waitUntil(lambda: bool(told))


def test_a_pool_does_several_at_once(qtbot):
    pool = Pool(threads=2)
    meeting = threading.Barrier(2, timeout=20)
    told = []
    for _ in range(2):
        pool.run(meeting.wait, told.append)
    qtbot.waitUntil(lambda: len(told) == 2)
    assert sorted(told) == [0, 1]
    pool.finish()


def test_what_ends_after_the_program_is_told_to_nobody(qapp, qtbot):
    made, begun, end = Background(), threading.Event(), threading.Event()
    pool, told = made._pool, []
    made.run(lambda: (begun.set(), end.wait(20)), told.append)
    assert begun.wait(20)
    shiboken6.delete(made)
    with qtbot.captureExceptions() as raised:
        end.set()
        assert pool.waitForDone(20_000)
        qapp.processEvents()
    assert (raised, told) == ([], [])
