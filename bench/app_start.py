"""Start the program as `python -m mezzotint_app` does, and exit when the first frame is painted; used by app.py."""

import json
import os
import sys
import time

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication

import mezzotint_app.main
from mezzotint_app.windows.main_window import MainWindow

_BEGUN = float(sys.argv[1])  # monotonic clock before this interpreter was started


class Watched(QApplication):
    """Detects the first frame: an exposed window is painted and flushed once Qt has handled the event."""

    def notify(self, receiver: QObject, event: QEvent) -> bool:
        """Forward to Qt, and exit after the first expose event."""
        handled = super().notify(receiver, event)
        if event.type() == QEvent.Type.Expose:
            _end(any(isinstance(one, MainWindow) and one.isVisible() for one in self.topLevelWidgets()))
        return handled


def _end(there: bool) -> None:
    """Exit immediately: only startup is measured. A window other than ours is an error message."""
    told = {"shown": time.monotonic() - _BEGUN, "worked": time.process_time(), "torch": "torch" in sys.modules}
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()
    os._exit(0 if there else 1)


if __name__ == "__main__":
    mezzotint_app.main.QApplication = Watched
    mezzotint_app.main.main([])
