"""The engine's `drain` call as seen from the window, from start to end."""

from typing import Protocol

from PySide6.QtCore import QObject, Signal, SignalInstance

from mezzotint.queue_protocol import DrainEvent, DrainRequest, DrainResult, DrainSettings, TaskBegun, TaskEnded
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored


class SupervisedEngine(Service, Protocol):
    """The engine that drains the queue, as implemented by `Supervisor`."""

    changed: SignalInstance

    def state(self) -> str:
        """starting, ready, restarting, given_up or stopped."""
        ...

    def restart(self) -> None:
        """Restart the engine."""
        ...

    def stop(self) -> None:
        """Stop the engine."""
        ...


class EngineDrain(QObject):
    """Begins and cancels a drain, keeps it up to date with the user's settings, and relays its events."""

    task_begun = Signal(object)  # Task
    progressed = Signal(object)  # Event
    task_ended = Signal(object)  # TaskEnded
    ended = Signal(object)  # DrainResult
    failed = Signal(object)  # Failure

    def __init__(self, engine: Service, settings: Stored[Settings], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine, self._settings = engine, settings
        self._call: int | None = None
        self._cancelled = False
        self._sent = DrainSettings()
        settings.changed.connect(self._on_settings)

    def runs(self) -> bool:
        """Whether a drain is in progress."""
        return self._call is not None

    def begin(self, owner: str) -> None:
        """Begin to drain the queue as the owner of the lease."""
        self._cancelled, self._sent = False, self._settled()
        self._call = self._engine.ask(
            "drain",
            DrainRequest(owner=owner, settings=self._sent),
            answer=DrainResult,
            then=self._on_ended,
            failed=self._on_failed,
            on_event=self._on_event,
        )

    def cancel(self) -> None:
        """Stop the drain within one step; the queue's state at that time determines what happens to its task."""
        if self._call is not None and not self._cancelled:
            self._cancelled = True
            self._engine.cancel(self._call)

    def _settled(self) -> DrainSettings:
        settings = self._settings.value()
        return DrainSettings(device=settings.device, attention=settings.attention, previews=settings.previews)

    def _on_settings(self) -> None:
        if self._call is not None and (settings := self._settled()) != self._sent:
            self._sent = settings
            self._engine.ask("drain_settings", settings)

    def _on_event(self, event: DrainEvent) -> None:
        match event:
            case TaskBegun(task=task):
                self.task_begun.emit(task)
            case TaskEnded():
                self.task_ended.emit(event)
            case _:
                self.progressed.emit(event)

    def _on_ended(self, result: DrainResult) -> None:
        self._call = None
        self.ended.emit(result)

    def _on_failed(self, failure: Failure) -> None:
        self._call = None
        self.failed.emit(failure)
