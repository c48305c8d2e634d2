"""A fake engine with the real one's interface, whose state the test controls."""

from fake_service import FakeService
from PySide6.QtCore import QObject, Signal


class Changes(QObject):
    changed = Signal()
    died = Signal(object)
    logged = Signal(str)


class FakeSupervised(FakeService):
    """Ready from the start; `become` changes its state, `die` also fails all open calls."""

    def __init__(self):
        super().__init__()
        self._changes = Changes()
        self.changed, self.died, self.logged = self._changes.changed, self._changes.died, self._changes.logged
        self.now = "ready"
        self.words = ""
        self.restarts = 0
        self.known = None

    def state(self):
        return self.now

    def reason(self):
        return self.words

    def info(self):
        return self.known

    def last_log(self):
        return ("a line",)

    def restart(self):
        self.restarts += 1

    def start(self):
        self.become("starting")

    def stop(self):
        self.become("stopped")

    def become(self, state):
        self.now = state
        self.changed.emit()

    def die(self, message="The engine crashed (signal 11).", state="restarting"):
        """Crash in the supervisor's order: the state changes before callers are told."""
        self.words = message
        self.become(state)
        for one in self.open():
            self.fail("gone", message, call=one.call)
