"""The queue's parts together, on the threads that the window gives them."""

import threading

from PySide6.QtCore import QCoreApplication
from queue_made import FakeRunner, request

from mezzotint.jobs.store import JobStore
from mezzotint_app.background import Background, Pool
from mezzotint_app.viewmodel.queue.access import QueueAccess
from mezzotint_app.viewmodel.queue.parts import Queue
from mezzotint_app.viewmodel.thumbnails import Thumbnails


class Watched:
    """A store that remembers on which threads it was asked."""

    def __init__(self, store, threads):
        self._store, self._threads = store, threads

    def __getattr__(self, name):
        self._threads.add(threading.get_ident())
        return getattr(self._store, name)


def test_the_store_is_never_asked_on_the_windows_thread(tmp_path, qtbot, service, monkeypatch):
    threads = set()
    for name in ("version", "interrupted", "clear_finished"):
        method = getattr(JobStore, name)
        monkeypatch.setattr(
            JobStore, name, lambda self, method=method: threads.add(threading.get_ident()) or method(self)
        )

    def opened():
        found = JobStore.open(tmp_path / "queue.sqlite")
        object.__setattr__(found, "store", Watched(found.store, threads))
        return found

    background, pool = Background(), Pool()
    access = QueueAccess(background, opened)
    queue = Queue(access, FakeRunner(), Thumbnails(service, pool), background)
    access.open()
    with qtbot.waitSignal(access.changed):
        access.change(lambda store: [store.add([request()]) for _ in range(5)])
    queue.model.show_rows(0, 10)
    qtbot.waitUntil(lambda: queue.model.rowCount() == 5)
    queue.model.move_rows([4], 0)
    queue.actions.clear_finished()
    queue.details.set_current(queue.model.peek(0).id)
    qtbot.waitUntil(lambda: queue.details.entry() is not None)
    queue.watch.stop()
    access.close()
    for _ in range(4):  # answers on their way find what asked for them, and so do those that they ask for
        assert background.finish()
        QCoreApplication.processEvents()
    assert threads
    assert threading.get_ident() not in threads


def test_nothing_is_asked_before_the_queue_is_open(tmp_path, qtbot, service, inline):
    access = QueueAccess(inline, lambda: JobStore.open(tmp_path / "queue.sqlite"))
    runner = FakeRunner()
    queue = Queue(access, runner, Thumbnails(service, inline), inline)
    told = []
    for failed in (queue.model.failed, queue.actions.failed, queue.watch.failed):
        failed.connect(told.append)
    queue.model.show_rows(0, 10)
    runner.changed.emit()
    qtbot.wait(1)
    assert told == []
    access.open()
    qtbot.waitUntil(queue.model.is_loaded)
    assert told == []
    access.close()
