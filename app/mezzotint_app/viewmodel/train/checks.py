"""The check of the dataset: asked again shortly after a change, and after captions were written."""

from PySide6.QtCore import QObject, Signal

from mezzotint.training_protocol import CaptionEdit, TrainingCheck, TrainingRequest
from mezzotint_app.clock import Clock, SystemClock, TimerHandle
from mezzotint_app.processes.service import Failure, Service

_SOON = 0.4  # seconds over which changes are collected
CANCELLED = "cancelled"


class DatasetChecks(QObject):
    """Asks the library service; an answer to an earlier request is dropped."""

    changed = Signal()
    not_written = Signal(str)  # why a caption could not be written

    def __init__(self, librarian: Service, clock: Clock | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._librarian, self._clock = librarian, clock or SystemClock(self)
        self._request: TrainingRequest | None = None
        self._found: TrainingCheck | None = None
        self._failure = ""
        self._call: int | None = None
        self._soon: TimerHandle | None = None

    def found(self) -> TrainingCheck | None:
        """Return the last answer about the current folder, or None."""
        return self._found

    def failure(self) -> str:
        """Return why the folder could not be checked, or ""."""
        return self._failure

    def is_checking(self) -> bool:
        """Whether an answer is pending."""
        return self._call is not None or self._soon is not None

    def check(self, request: TrainingRequest | None) -> None:
        """Check this soon; None if there is nothing to check."""
        if request is None or self._request is None or request.dataset != self._request.dataset:
            self._found, self._failure = None, ""
        self._request = request
        if self._soon is not None:
            self._soon.stop()
        self._soon = None if request is None else self._clock.after(_SOON, self._ask)
        self.changed.emit()

    def again(self) -> None:
        """Check the same folder again."""
        self.check(self._request)

    def write(self, image: str, captions: tuple[str, ...]) -> None:
        """Write captions beside an image."""

        def failed(failure: Failure) -> None:
            self.not_written.emit(failure.message)
            self.again()

        edit = CaptionEdit(image=image, captions=captions)
        self._librarian.ask("training_caption", edit, answer=str, then=lambda _path: self.again(), failed=failed)

    def _ask(self) -> None:
        self._soon = None
        if self._call is not None:
            self._librarian.cancel(self._call)
        request = self._request
        if request is None:
            return

        def answered(found: TrainingCheck) -> None:
            if request is self._request:
                self._call, self._found, self._failure = None, found, ""
                self.changed.emit()

        def failed(failure: Failure) -> None:
            if request is self._request and failure.kind != CANCELLED:
                self._call, self._found, self._failure = None, None, failure.message
                self.changed.emit()

        self._call = self._librarian.ask("training_check", request, answer=TrainingCheck, then=answered, failed=failed)
