"""One run of a batch: the messages of its process, and how it ended."""

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QCoreApplication, QObject, Signal

from mezzotint.batch_protocol import (
    BatchEnded,
    BatchError,
    BatchNotice,
    BatchProgress,
    BatchStep,
    BatchTaskRow,
)
from mezzotint_app.processes.batch_process import BatchProcess
from mezzotint_app.processes.process_exit import ProcessExit, plain_reason

translate = QCoreApplication.translate

DONE, FAILURES, INTERRUPTED = 0, 3, 130
_WAITS = ("waiting", "paused")  # codes of notices after which nothing is generated for a while


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How the run ended; `problem` is empty on success or if the user stopped it."""

    problem: str


class BatchRun(QObject):
    """Follows one process to its end."""

    changed = Signal()
    settled = Signal(object)  # BatchTaskRow
    ended = Signal(object)  # Outcome

    def __init__(self, identity: str, process: BatchProcess, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.id = identity
        self._process = process
        process.setParent(self)
        self._progress: BatchProgress | None = None
        self._step: BatchStep | None = None
        self._notice = ""
        self._error: BatchError | None = None
        self._ended: BatchEnded | None = None
        self._silent = self._stopped = False
        process.event_received.connect(self._on_event)
        process.silence_changed.connect(self._set_silent)
        process.ended.connect(self._on_end)

    def start(self) -> None:
        """Start the process."""
        self._process.start()

    def stop(self, *, now: bool = False) -> None:
        """Stop after the current image, or with `now` at once."""
        self._stopped = True
        if now:
            self._process.stop_now()
        else:
            self._process.stop()

    def finish(self, milliseconds: int) -> None:
        """Terminate the process and wait for it."""
        self._process.finish(milliseconds)

    def log(self) -> tuple[str, ...]:
        """Return the last lines of its log."""
        return self._process.log()

    def shown(self) -> dict[str, Any]:
        """Return the current values of a Batch's fields."""
        return {
            "progress": self._progress,
            "step": self._step,
            "notice": self._notice,
            "silent": self._silent,
        }

    def _on_event(self, event: object) -> None:
        match event:
            case BatchProgress():
                self._progress = event
            case BatchStep():
                self._step, self._notice = event, ""
            case BatchTaskRow():
                self._step = None
                self.settled.emit(event)
                return  # progress lines follow twice a second
            case BatchNotice():
                self._notice = event.message if event.code in _WAITS else ""
            case BatchEnded():
                self._ended, self._progress = event, event.progress
            case BatchError():
                self._error = event
            case _:
                return
        self.changed.emit()

    def _set_silent(self, silent: bool) -> None:
        self._silent = silent
        self.changed.emit()

    def _on_end(self, ending: ProcessExit) -> None:
        self.ended.emit(Outcome(problem=self._problem(ending)))

    def _problem(self, ending: ProcessExit) -> str:
        told_end = ending.kind == "ended" and ending.code in (DONE, FAILURES)
        if told_end or (self._stopped and (ending.kind == "crashed" or ending.code == INTERRUPTED)):
            return ""
        if ending.kind == "ended" and self._error is not None:
            return self._error.message
        return plain_reason(ending, translate("Batch", "The batch"), log=self._process.log())
