"""Problems that stall the queue, each reported once even if it recurs."""

from PySide6.QtCore import QObject, Signal

from mezzotint_app.clock import Clock

RETRY_DELAY = 5.0  # seconds until the next attempt


class QueueTrouble(QObject):
    """While there is a problem, no task is started."""

    message = Signal(str)  # message for the user
    resolved = Signal(str)  # the message no longer applies
    changed = Signal()  # problem()

    def __init__(self, clock: Clock, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._clock = clock
        self._problem = self._reported = ""

    def problem(self) -> str:
        """Return the problem as text, or "" if there is none or it is being retried."""
        return self._problem

    def report(self, error: Exception, *, waits: bool) -> None:
        """Report a problem; with `waits`, it is retried automatically after `RETRY_DELAY` seconds."""
        if str(error) != self._reported:
            self._emit_resolved()
            self._reported = str(error)
            self.message.emit(str(error))
        self._set(str(error))
        if waits:
            self._clock.after(RETRY_DELAY, self.try_again)

    def try_again(self) -> None:
        """Clear the problem for another attempt, without reporting it as resolved."""
        self._set("")

    def resolve(self) -> None:
        """Clear the problem and report it as resolved."""
        self._emit_resolved()
        self._set("")

    def _emit_resolved(self) -> None:
        reported, self._reported = self._reported, ""
        if reported:
            self.resolved.emit(reported)

    def _set(self, problem: str) -> None:
        if problem != self._problem:
            self._problem = problem
            self.changed.emit()
