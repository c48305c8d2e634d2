"""Detects a process that is slow to start, so that the user can be told and offered a restart."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal, SignalInstance

from mezzotint_app.clock import Clock, SystemClock, TimerHandle

LATE = 20.0  # seconds; a start usually takes two or three


class LateStart(QObject):
    """Runs a timer only while the process is starting."""

    changed = Signal()

    def __init__(
        self,
        state: Callable[[], str],
        changed: SignalInstance,
        clock: Clock | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._state, self._clock = state, clock or SystemClock(self)
        self._wait: TimerHandle | None = None
        self._late = False
        changed.connect(self._look)
        self._look()

    def is_late(self) -> bool:
        """Whether the process has been starting for more than `LATE` seconds."""
        return self._late

    def _look(self) -> None:
        if self._state() == "starting":
            if self._wait is None:
                self._wait = self._clock.after(LATE, self._now_late)
            return
        if self._wait is not None:
            self._wait.stop()
            self._wait = None
        self._set(False)

    def _now_late(self) -> None:
        self._set(True)

    def _set(self, late: bool) -> None:
        if late != self._late:
            self._late = late
            self.changed.emit()
