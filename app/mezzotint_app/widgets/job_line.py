"""A line that shows a long job, its progress and time left, with buttons to stop, retry and dismiss it."""

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QToolButton, QVBoxLayout, QWidget

from mezzotint.protocol import Progress
from mezzotint_app.amounts import bytes_of, bytes_text, left_text
from mezzotint_app.viewmodel.models.models import LibraryJob
from mezzotint_app.widgets.icon_button import icon_button
from mezzotint_app.widgets.labels import ElidedLabel, plain_label

_STEPS = 1000


class JobLine(QFrame):
    """Shows a LibraryJob."""

    cancel_asked = Signal()
    retry_asked = Signal()
    dismiss_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "notice")
        self._title = ElidedLabel()
        self._state = plain_label(role="muted", wrap=True)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setMaximumHeight(8)
        self.cancel = self._button("stop", self.tr("Stop; it is resumed from here the next time"))
        self.retry = self._button("retry", self.tr("Retry; it is resumed from where it stopped"))
        self.dismiss = self._button("cancel", self.tr("Dismiss"))
        self.cancel.clicked.connect(self.cancel_asked)
        self.retry.clicked.connect(self.retry_asked)
        self.dismiss.clicked.connect(self.dismiss_asked)
        words = QVBoxLayout()
        words.setSpacing(4)
        for part in (self._title, self._bar, self._state):
            words.addWidget(part)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 8, 8)
        row.addLayout(words, 1)
        for button in (self.cancel, self.retry, self.dismiss):
            row.addWidget(button)

    def show_job(self, job: LibraryJob) -> None:
        """Show the job's current state."""
        verb = {
            "get": self.tr("Downloading {subject}"),
            "quantize": self.tr("Quantizing {subject}"),
            "verify": self.tr("Verifying {subject}"),
        }[job.kind]
        self._title.setText(verb.format(subject=job.subject))
        self._show_buttons(job)
        self._bar.setVisible(job.state == "running")
        self._bar.setAccessibleName(self._title.whole_text())
        self._state.setText(self._words(job))
        if job.state == "running":
            self._show_progress(job.progress)

    def _button(self, name: str, tip: str) -> QToolButton:
        button = icon_button(name, tip)
        button.setIconSize(QSize(18, 18))
        return button

    def _show_buttons(self, job: LibraryJob) -> None:
        title = self._title.whole_text()
        self.cancel.setAccessibleName(self.tr("Stop: {title}").format(title=title))
        self.retry.setAccessibleName(self.tr("Try again: {title}").format(title=title))
        self.dismiss.setAccessibleName(self.tr("Dismiss: {title}").format(title=title))
        self.cancel.setVisible(job.state == "running")
        self.retry.setVisible(job.state in ("failed", "cancelled"))
        self.dismiss.setVisible(job.state != "running")

    def _words(self, job: LibraryJob) -> str:
        if job.state == "running":
            return self._progress_words(job.progress)
        outcome = f" {job.outcome}" if job.outcome else ""
        return {
            "done": self.tr("Done."),
            "failed": self.tr("Failed."),
            "cancelled": self.tr("Stopped."),
        }[job.state] + (outcome if job.state != "cancelled" else "")

    def _progress_words(self, progress: Progress | None) -> str:
        if progress is None:
            return self.tr("Starting")
        parts = [progress.what]
        if progress.unit == "bytes":
            done = bytes_text(progress.done)
            parts.append(done if progress.total is None else bytes_of(progress.done, progress.total))
        elif progress.total is not None:
            parts.append(self.tr("{done} of {total}").format(done=progress.done, total=progress.total))
        parts.append(left_text(progress.seconds_left))
        return " · ".join(part for part in parts if part)

    def _show_progress(self, progress: Progress | None) -> None:
        if progress is None or not progress.total:
            self._bar.setRange(0, 0)
            return
        self._bar.setRange(0, _STEPS)
        self._bar.setValue(min(_STEPS, progress.done * _STEPS // progress.total))
