"""How long the engine still takes to start, from how long it took the last time."""

from typing import Protocol

from PySide6.QtCore import QObject, Signal, SignalInstance

from mezzotint_app.clock import Clock, Every
from mezzotint_app.stored import Stored
from mezzotint_app.window_state import WindowState

_TICK = 1.0  # seconds between two looks at the clock
_LONGEST = 600.0  # seconds of a start that is worth remembering


class StartedEngine(Protocol):
    """The engine as this knows it."""

    changed: SignalInstance

    def state(self) -> str:
        """starting, ready, restarting, given_up or stopped."""
        ...


class EngineStart(QObject):
    """A start lasts until `done` is called: a process that answers may still be reading its libraries."""

    changed = Signal()  # once a second while it starts

    def __init__(
        self,
        engine: StartedEngine,
        clock: Clock,
        past: Stored[WindowState] | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._clock, self._past = clock, past
        self._since: float | None = None
        self._every = Every(clock, _TICK, self.changed.emit)
        self._engine = engine
        engine.changed.connect(self._look)

    def goes_on(self) -> bool:
        """Whether it has begun and is not done."""
        return self._since is not None

    def seconds_left(self) -> float | None:
        """None: it never started before, or takes longer than the last time."""
        usual = self._past.value().engine_seconds if self._past is not None else 0.0
        if self._since is None or usual <= 0:
            return None
        left = usual - (self._clock.now() - self._since)
        return left if left > 0 else None

    def done(self, *, worked: bool = True) -> None:
        """The engine knows what it runs on; not `worked`: it could not tell."""
        if self._since is not None and worked and self._past is not None:
            took = round(self._clock.now() - self._since, 1)
            if 0 < took <= _LONGEST:
                self._past.change(engine_seconds=took)
        self._end()

    def _look(self) -> None:
        state = self._engine.state()
        if state in ("starting", "restarting"):
            self._since = self._clock.now() if self._since is None else self._since
            self._every.start()
        elif state != "ready":
            self._end()

    def _end(self) -> None:
        self._since = None
        self._every.stop()
