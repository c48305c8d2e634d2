"""What keeps the queue from going on: told once, however often it comes again."""

from PySide6.QtCore import QObject, Signal

from mezzotint_app.clock import Clock

AGAIN = 5.0  # seconds until something is tried again that did not go


class QueueTrouble(QObject):
    """While there is a problem nothing is begun."""

    told = Signal(str)  # something a person should read
    over = Signal(str)  # the same, which is true no more
    changed = Signal()  # problem()

    def __init__(self, clock: Clock, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._clock = clock
        self._problem = self._told = ""

    def problem(self) -> str:
        """In words; empty: nothing is wrong, or it is being tried anew."""
        return self._problem

    def happened(self, error: Exception, *, waits: bool) -> None:
        """`waits`: whether it is tried anew a moment later by itself."""
        if str(error) != self._told:
            self._say_over()
            self._told = str(error)
            self.told.emit(str(error))
        self._set(str(error))
        if waits:
            self._clock.after(AGAIN, self.try_again)

    def try_again(self) -> None:
        """It is not known whether it is over."""
        self._set("")

    def is_over(self) -> None:
        """The trouble is over."""
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
