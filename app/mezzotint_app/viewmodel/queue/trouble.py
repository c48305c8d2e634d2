"""Problems that stall the queue, each reported once even if it recurs."""

from PySide6.QtCore import QObject, Signal

from mezzotint_app.clock import Clock

AGAIN = 5.0  # seconds until the next attempt


class QueueTrouble(QObject):
    """While there is a problem, no task is started."""

    told = Signal(str)  # message for the user
    over = Signal(str)  # the message no longer applies
    changed = Signal()  # problem()

    def __init__(self, clock: Clock, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._clock = clock
        self._problem = self._told = ""

    def problem(self) -> str:
        """Return the problem as text, or "" if there is none or it is being retried."""
        return self._problem

    def happened(self, error: Exception, *, waits: bool) -> None:
        """Report a problem; with `waits`, it is retried automatically after `AGAIN` seconds."""
        if str(error) != self._told:
            self._say_over()
            self._told = str(error)
            self.told.emit(str(error))
        self._set(str(error))
        if waits:
            self._clock.after(AGAIN, self.try_again)

    def try_again(self) -> None:
        """Clear the problem for another attempt, without reporting it as resolved."""
        self._set("")

    def is_over(self) -> None:
        """Clear the problem and report it as resolved."""
        self._say_over()
        self._set("")

    def _say_over(self) -> None:
        told, self._told = self._told, ""
        if told:
            self.over.emit(told)

    def _set(self, problem: str) -> None:
        if problem != self._problem:
            self._problem = problem
            self.changed.emit()
