"""The desktop tells when the queue is done, and only then, and only to one who looks elsewhere."""

from typing import Any

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QSystemTrayIcon, QWidget

from mezzotint_app.notifications import Notifications, Tray
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored

pytestmark = pytest.mark.requires_package("PySide6")


class Runner(QObject):
    drained = Signal(int, int)
    message = Signal(str)


class Window(QWidget):
    active = False

    def isActiveWindow(self):
        return self.active


@pytest.fixture
def told(qtbot, tmp_path, inline):
    window: Any = Window()
    qtbot.addWidget(window)
    runner, shown = Runner(), []
    settings = Stored(tmp_path / "settings.json", Settings(), inline)
    made = Notifications(window, runner, settings, lambda title, text: shown.append((title, text)))
    window.notifications = made
    return window, runner, settings, shown


def test_the_end_of_the_queue_is_told_with_its_numbers(told):
    _, runner, _, shown = told
    runner.drained.emit(3, 0)
    runner.drained.emit(3, 2)
    assert shown[0][1] == "Images generated: 3."
    assert "Failed: 2." in shown[1][1]


def test_what_stops_the_queue_is_told(told):
    _, runner, _, shown = told
    runner.message.emit("The queue is paused: the disk is full")
    assert shown == [("Mezzotint", "The queue is paused: the disk is full")]


def test_the_end_of_a_batch_is_told(told):
    window, _, _, shown = told
    window.notifications.batch_ended("Rome", "4 of 4 generated. All done.")
    assert shown == [("Rome", "4 of 4 generated. All done.")]


def test_one_who_looks_at_the_window_is_told_nothing_more(told):
    window, runner, _, shown = told
    window.active = True
    runner.drained.emit(1, 0)
    assert shown == []


def test_nor_one_who_does_not_want_it(told):
    _, runner, settings, shown = told
    settings.change(notify=False)
    runner.drained.emit(1, 0)
    assert shown == []


@pytest.mark.parametrize("available", [True, False])
def test_a_desktop_without_messages_is_left_alone(qtbot, monkeypatch, available):
    shown = []
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", staticmethod(lambda: available))
    monkeypatch.setattr(QSystemTrayIcon, "supportsMessages", staticmethod(lambda: available))
    monkeypatch.setattr(QSystemTrayIcon, "showMessage", lambda self, *words: shown.append(words[:2]))
    window = QWidget()
    qtbot.addWidget(window)
    tray = Tray(window)
    tray.show("a", "b")
    tray.show("c", "d")
    assert shown == ([("a", "b"), ("c", "d")] if available else [])
