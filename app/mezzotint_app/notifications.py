"""Desktop notifications for when the queue has finished and the window is not active."""

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored

_SHOWN = 10_000  # milliseconds

Show = Callable[[str, str], None]  # title, text


class Drains(Protocol):
    """Reports the end of the queue, such as `QueueRunner`."""

    drained: SignalInstance  # images generated, tasks failed
    message: SignalInstance  # a message about something that stopped the queue


class Notifications(QObject):
    """Sends notifications unless the window is active or the setting is off."""

    shown = Signal(str, str)

    def __init__(self, window: QWidget, runner: Drains, settings: Stored[Settings], show: Show | None = None) -> None:
        super().__init__(window)
        self._window, self._settings = window, settings
        self._show = show or Tray(window).show
        runner.drained.connect(self._on_drained)
        runner.message.connect(lambda text: self._notify(self.tr("Mezzotint"), text))

    def _on_drained(self, made: int, failed: int) -> None:
        text = self.tr("Images generated: %n.", "", made)
        if failed:
            text += " " + self.tr("Failed: %n. See the queue for details.", "", failed)
        self._notify(self.tr("Queue finished"), text)

    def batch_ended(self, title: str, text: str) -> None:
        """Report that a batch or a training has finished, or was stopped by an error."""
        self._notify(title, text)

    def _notify(self, title: str, text: str) -> None:
        if self._settings.value().notify and not self._window.isActiveWindow():
            QApplication.alert(self._window)
            self._show(title, text)
            self.shown.emit(title, text)


class Tray:
    """A system tray icon that is visible only as long as its message."""

    def __init__(self, window: QWidget) -> None:
        self._window = window
        self._icon: QSystemTrayIcon | None = None

    def show(self, title: str, text: str) -> None:
        """Show a message if the desktop supports it."""
        if not QSystemTrayIcon.isSystemTrayAvailable() or not QSystemTrayIcon.supportsMessages():
            return
        icon = self._made()
        icon.show()
        icon.showMessage(title, text, QIcon(self._window.windowIcon()), _SHOWN)

    def _made(self) -> QSystemTrayIcon:
        if self._icon is None:
            icon = QSystemTrayIcon(self._window.windowIcon(), self._window)
            hide = QTimer(icon)
            hide.setSingleShot(True)
            hide.setInterval(_SHOWN)
            hide.timeout.connect(icon.hide)
            icon.messageClicked.connect(self._window.activateWindow)
            self._icon, self._hide = icon, hide
        self._hide.start()
        return self._icon
