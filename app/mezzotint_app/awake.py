"""Keeps the computer from sleeping while images are generated; the screen may turn off."""

import logging
import queue
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from PySide6.QtCore import QObject, SignalInstance

from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored

_log = logging.getLogger("mezzotint_app.awake")

Mode = AbstractContextManager[object]


class WorkSource(Protocol):
    """Something that can be working, such as `QueueRunner`."""

    changed: SignalInstance

    @property
    def state(self) -> str:
        """The state; "working" and "stopping" count as work."""
        ...


class KeepAwake(QObject):
    """Follows the runner and the setting. Errors are only logged: the computer falling asleep is not a failure."""

    def __init__(
        self,
        runner: WorkSource,
        settings: Stored[Settings],
        make_mode: "Callable[[], Mode] | None" = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._runner, self._settings = runner, settings
        self._awake = AwakeThread(make_mode or _wakepy)
        runner.changed.connect(self._look)
        settings.changed.connect(self._look)
        self._look()

    def finish(self) -> None:
        """Allow sleep again; called when the program ends."""
        self._awake.finish()

    def _look(self) -> None:
        self._awake.want(self._settings.value().keep_awake and self._runner.state in ("working", "stopping"))


class AwakeThread:
    """Enters and leaves the mode on its own thread, as both call the system, which may take a while."""

    def __init__(self, make_mode: Callable[[], Mode]) -> None:
        self._make_mode = make_mode
        self._wanted = False
        self._changes: queue.SimpleQueue[bool | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def want(self, awake: bool) -> None:
        """Request or end the mode; returns at once."""
        if awake == self._wanted:
            return
        self._wanted = awake
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="awake", daemon=True)
            self._thread.start()
        self._changes.put(awake)

    def finish(self, seconds: float = 1.0) -> None:
        """Leave the mode and end the thread."""
        if self._thread is not None:
            self._changes.put(None)
            self._thread.join(seconds)
            self._thread = None

    def _run(self) -> None:
        mode: Mode | None = None
        while True:
            wanted = self._changes.get()
            if mode is not None and not wanted:
                self._leave(mode)
                mode = None
            elif mode is None and wanted:
                mode = self._enter()
            if wanted is None:
                return

    def _enter(self) -> Mode | None:
        try:
            mode = self._make_mode()
            mode.__enter__()
        except Exception as error:  # noqa: BLE001  wakepy may fail in many ways, and none matters enough
            _log.info("the computer may go to sleep while images are generated: %s", error)
            return None
        return mode

    def _leave(self, mode: Mode) -> None:
        try:
            mode.__exit__(None, None, None)
        except Exception as error:  # noqa: BLE001
            _log.info("the computer may stay awake although nothing is generated: %s", error)


def _wakepy() -> Mode:
    from wakepy import keep

    mode: Mode = keep.running(
        on_fail=lambda result: _log.info("the computer may go to sleep while images are generated: %s", result)
    )
    return mode
