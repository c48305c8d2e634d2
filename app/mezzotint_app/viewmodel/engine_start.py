"""Estimates the engine's remaining start-up time from the previous start."""

from typing import Protocol

from PySide6.QtCore import QObject, Signal, SignalInstance

from mezzotint_app.clock import Clock, RepeatingTimer
from mezzotint_app.stored import Stored
from mezzotint_app.window_state import WindowState

_TICK = 1.0  # seconds between updates
_LONGEST = 600.0  # seconds; longer starts are not recorded


class StartedEngine(Protocol):
    """The part of the engine's interface used here."""

    changed: SignalInstance

    def state(self) -> str:
        """starting, ready, restarting, given_up or stopped."""
        ...


class EngineStart(QObject):
    """Start-up has two phases: until the devices are known, and, with the first job, until its libraries are loaded."""

    changed = Signal()  # once a second during start-up

    def __init__(
        self,
        engine: StartedEngine,
        clock: Clock,
        past: Stored[WindowState] | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._clock, self._past = clock, past
        self._since: float | None = None  # start time of the current phase
        self._knows = self._has_read = True
        self._has_job = False
        self._every = RepeatingTimer(clock, _TICK, self.changed.emit)
        self._engine = engine
        engine.changed.connect(self._look)

    def goes_on(self) -> bool:
        """Whether a start-up phase is in progress."""
        return self._since is not None

    def seconds_left(self) -> float | None:
        """Return the estimated seconds left; None without an earlier start, or if it takes longer than the last."""
        if self._since is None or self._past is None:
            return None
        past = self._past.value()
        usual = past.engine_seconds if not self._knows else past.libraries_seconds
        left = usual - (self._clock.now() - self._since)
        if usual <= 0 or left <= 0:
            return None
        return left + (past.libraries_seconds if self._has_job and not self._knows else 0.0)

    def devices_known(self, *, worked: bool = True) -> None:
        """End the first phase; pass `worked=False` if the engine could not report its devices."""
        if self._since is not None and not self._knows and worked:
            self._learn(engine_seconds=self._took())
        if not self._knows:
            self._knows = True
            self._end()
        if self._has_job and not self._has_read:
            self._begin()

    def job_began(self) -> None:
        """Note that a job has begun: the first one makes the engine load its libraries."""
        self._has_job = True
        if self._since is None and not self._has_read:
            self._begin()

    def job_told(self) -> None:
        """Note the first event of a job, which ends the second phase."""
        if self._has_job and self._knows and not self._has_read:
            if self._since is not None:
                self._learn(libraries_seconds=self._took())
            self._end()
        self._has_read = True

    def job_ended(self) -> None:
        """Note that a job has ended, successfully or not."""
        self._has_job = False
        if self._knows:
            self._end()

    def _look(self) -> None:
        state = self._engine.state()
        if state in ("starting", "restarting"):
            if self._knows:
                self._knows = self._has_read = self._has_job = False
                self._end()
                self._begin()
        elif state != "ready":
            self._knows = True
            self._end()

    def _begin(self) -> None:
        self._since = self._clock.now()
        self._every.start()

    def _end(self) -> None:
        self._since = None
        self._every.stop()

    def _took(self) -> float:
        return round(self._clock.now() - (self._since or 0.0), 1)

    def _learn(self, **seconds: float) -> None:
        if self._past is not None and all(0 < one <= _LONGEST for one in seconds.values()):
            self._past.change(**seconds)
