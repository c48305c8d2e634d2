"""Signals of the system, such as at a logout, as a signal of Qt: the window then ends in good order."""

import signal
import socket
from collections.abc import Sequence

from PySide6.QtCore import QObject, QSocketNotifier, Signal

# From the system and a terminal: end, Ctrl-C, the terminal was closed, Ctrl-Break on Windows.
SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK") if hasattr(signal, name))


class AskedToEnd(QObject):
    """Python runs no handler while Qt waits, so the signal's number comes through a socket that Qt waits for, too."""

    asked = Signal()

    def __init__(self, parent: QObject | None = None, *, signals: Sequence[int] = SIGNALS) -> None:
        super().__init__(parent)
        self._reader, self._writer = socket.socketpair()
        for end in (self._reader, self._writer):
            end.setblocking(False)
        heeded = [one for one in signals if signal.getsignal(one) != signal.SIG_IGN]  # as nohup has it
        self._before = {one: signal.signal(one, _nothing) for one in heeded}
        self._wakeup = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        self._released = False
        self._notifier = QSocketNotifier(self._reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._hear)

    def release(self) -> None:
        """Signals mean again what they meant before."""
        if self._released:
            return
        self._released = True
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._wakeup)  # also where no signal is heeded: Python would write to what is closed
        for one, handler in self._before.items():
            signal.signal(one, handler)
        self._reader.close()
        self._writer.close()

    def _hear(self) -> None:
        """The first is obeyed in good order; a second ends the process at once, for whom that takes too long."""
        heard = set(self._reader.recv(4096)) & {int(one) for one in self._before}
        if heard:
            for one in self._before:
                signal.signal(one, signal.SIG_DFL)
            self.asked.emit()


def _nothing(_signal: int, _frame: object) -> None:
    """Ignore a second signal."""
