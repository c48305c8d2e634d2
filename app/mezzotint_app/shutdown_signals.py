"""Turns system signals, such as SIGTERM at logout, into a Qt signal, so that the window can close properly."""

import signal
import socket
from collections.abc import Sequence

from PySide6.QtCore import QObject, QSocketNotifier, Signal

# SIGHUP: the terminal was closed; SIGBREAK: Ctrl-Break on Windows.
SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK") if hasattr(signal, name))


class ShutdownSignals(QObject):
    """Receives signal numbers through a socket watched by Qt, as Python runs no handler while Qt's event loop waits."""

    received = Signal()

    def __init__(self, parent: QObject | None = None, *, signals: Sequence[int] = SIGNALS) -> None:
        super().__init__(parent)
        self._reader, self._writer = socket.socketpair()
        for end in (self._reader, self._writer):
            end.setblocking(False)
        heeded = [one for one in signals if signal.getsignal(one) != signal.SIG_IGN]  # such as under nohup
        self._before = {one: signal.signal(one, _nothing) for one in heeded}
        self._wakeup = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        self._released = False
        self._notifier = QSocketNotifier(self._reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_readable)

    def release(self) -> None:
        """Restore the previous signal handlers."""
        if self._released:
            return
        self._released = True
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._wakeup)  # even if no signal is handled: Python would write to the closed socket
        for one, handler in self._before.items():
            signal.signal(one, handler)
        self._reader.close()
        self._writer.close()

    def _on_readable(self) -> None:
        """Request an orderly shutdown on the first signal; a second one ends the process at once."""
        heard = set(self._reader.recv(4096)) & {int(one) for one in self._before}
        if heard:
            for one in self._before:
                signal.signal(one, signal.SIG_DFL)
            self.received.emit()


def _nothing(_signal: int, _frame: object) -> None:
    """A handler that does nothing: only the wakeup socket is used."""
