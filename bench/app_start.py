"""Starts the program as `python -m mezzotint_app` does, and ends it when its first frame is painted; for app.py."""

import json
import os
import sys
import time

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication

import mezzotint_app.main
from mezzotint_app.windows.main_window import MainWindow

_BEGUN = float(sys.argv[1])  # of the monotonic clock, before this interpreter was started


class Watched(QApplication):
    """An exposed window is painted and flushed by the time that Qt has handled the event."""

    def notify(self, receiver: QObject, event: QEvent) -> bool:
        """As Qt does."""
        handled = super().notify(receiver, event)
        if event.type() == QEvent.Type.Expose:
            _end(any(isinstance(one, MainWindow) and one.isVisible() for one in self.topLevelWidgets()))
        return handled


def _end(there: bool) -> None:
    """At once: only the start is measured. Another window than ours is a message that it could not be opened."""
    told = {"shown": time.monotonic() - _BEGUN, "worked": time.process_time(), "torch": "torch" in sys.modules}
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()
    os._exit(0 if there else 1)


if __name__ == "__main__":
    mezzotint_app.main.QApplication = Watched
    mezzotint_app.main.main([])
