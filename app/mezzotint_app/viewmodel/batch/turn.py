"""Mutual exclusion: a batch and the queue never generate images at the same time."""

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, Signal, SignalInstance

from mezzotint_app.clock import Clock, SystemClock
from mezzotint_app.viewmodel.queue.access import QueueAccess


class LeaseLender(Protocol):
    """The worker of the queue, as implemented by `QueueRunner`."""

    started: SignalInstance
    changed: SignalInstance

    @property
    def state(self) -> str:
        """idle, working, paused, elsewhere or stopping."""
        ...

    def held_by(self) -> str:
        """Return which other program holds the queue, or "" if none does."""
        ...

    def lend(self, then: Callable[[], None]) -> None:
        """Lend the queue's lease as soon as it has nothing left to do."""
        ...

    def take_back(self) -> None:
        """Let the queue continue."""
        ...


class RestartableEngine(Protocol):
    """The window's engine, as implemented by `Supervisor`."""

    changed: SignalInstance

    def state(self) -> str:
        """starting, ready, restarting, given_up or stopped."""
        ...

    def restart(self) -> None:
        """Restart the engine, which frees its memory."""
        ...


class GpuTurn(QObject):
    """Waits for the queue, makes the engine free its memory, and returns the turn afterwards."""

    changed = Signal()  # words()

    def __init__(
        self,
        runner: LeaseLender,
        engine: RestartableEngine,
        access: QueueAccess,
        clock: Clock | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._runner, self._engine = runner, engine
        self._clock = clock or SystemClock(self)
        self._then: Callable[[], None] | None = None
        self._acquired = self._holds_models = self._no_queue = False
        runner.started.connect(self._on_started)
        runner.changed.connect(self.changed)
        engine.changed.connect(self.changed)
        access.unusable.connect(self._on_unusable)
        access.opened.connect(self._on_opened)

    def is_acquired(self) -> bool:
        """Whether a batch may generate images now."""
        return self._acquired

    def take(self, then: Callable[[], None]) -> None:
        """Call `then` once the queue is done or paused."""
        self._then = then
        self._runner.lend(self._lent)
        if self._no_queue:
            self._clock.after(0, self._lent)

    def give_back(self) -> None:
        """Let the queue continue; also cancels a pending `take`."""
        self._then, self._acquired = None, False
        self._runner.take_back()

    def words(self) -> str:
        """Return what a waiting batch is waiting for."""
        if self._runner.state == "elsewhere" and self._runner.held_by():
            return self.tr("Waiting: {who} is using the device.").format(who=self._runner.held_by())
        if self._runner.state in ("working", "stopping"):
            return self.tr("Waiting for the queue to finish. Pause the queue to start now.")
        if self._engine.state() in ("starting", "restarting"):
            return self.tr("Waiting for the engine to start.")
        return self.tr("Starting…")

    def _lent(self) -> None:
        then, self._then = self._then, None
        if then is None:
            return
        self._acquired = True
        if self._holds_models:
            self._holds_models = False
            self._engine.restart()
        then()

    def _on_started(self) -> None:
        self._holds_models = True

    def _on_unusable(self) -> None:
        """Without a queue there is nothing to wait for."""
        self._no_queue = True
        if self._then is not None:
            self._clock.after(0, self._lent)

    def _on_opened(self) -> None:
        self._no_queue = False
