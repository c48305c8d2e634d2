"""Unused objects are collected on the window's thread, and on no other."""

import gc
import threading

import pytest
from fake_clock import FakeClock

from mezzotint_app.garbage import Collector

pytestmark = pytest.mark.requires_package("PySide6")


class Unused:
    def __init__(self, deleted):
        self.itself, self.deleted = self, deleted

    def __del__(self):
        self.deleted.append(threading.current_thread())


@pytest.fixture
def clock(monkeypatch):
    gc.freeze()
    monkeypatch.setattr(gc, "unfreeze", lambda: None)  # or all that other tests have made would be looked at
    clock = FakeClock()
    collector = Collector(clock)
    collector.start()
    yield clock
    collector.stop()
    assert gc.isenabled() and clock.waiting() == 0


def litter(deleted):
    for _ in range(3000):
        Unused(deleted)


def test_what_another_thread_leaves_is_deleted_by_the_window_s(clock):
    deleted = []
    thread = threading.Thread(target=litter, args=(deleted,))
    thread.start()
    thread.join()
    assert deleted == []
    clock.advance(1)
    assert len(deleted) == 3000
    assert set(deleted) == {threading.current_thread()}


@pytest.mark.slow
def test_older_objects_are_looked_at_more_rarely(clock, monkeypatch):
    looked = []
    monkeypatch.setattr(gc, "get_count", lambda: (800, 0, 0))
    monkeypatch.setattr(gc, "get_threshold", lambda: (700, 10, 10))
    monkeypatch.setattr(gc, "collect", looked.append)
    clock.advance(1)
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, 0))
    clock.advance(10)
    monkeypatch.setattr(gc, "get_count", lambda: (800, 11, 11))
    clock.advance(0.5)
    assert looked == [0, 0, 2]
