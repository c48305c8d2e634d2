"""One line for long work: what it is, how far, how long yet, and a button that stops it."""

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QToolButton, QVBoxLayout, QWidget

from mezzotint.protocol import Progress
from mezzotint_app.amounts import bytes_of, bytes_text, left_text
from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.models import LibraryJob
from mezzotint_app.widgets.labels import ElidedLabel, plain_label

_STEPS = 1000


class JobLine(QFrame):
    """Shows a LibraryJob."""

    cancel_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "notice")
        self._title = ElidedLabel()
        self._state = plain_label(role="muted", wrap=True)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setMaximumHeight(8)
        self._cancel = QToolButton()
        self._cancel.setIcon(icon("cancel"))
        self._cancel.setIconSize(QSize(18, 18))
        self._cancel.setProperty("role", "quiet")
        self._cancel.setToolTip(self.tr("Stop this; what is done so far is gone on with the next time"))
        self._cancel.clicked.connect(self.cancel_asked)
        words = QVBoxLayout()
        words.setSpacing(4)
        for part in (self._title, self._bar, self._state):
            words.addWidget(part)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 8, 8)
        row.addLayout(words, 1)
        row.addWidget(self._cancel)

    def show_job(self, job: LibraryJob) -> None:
        """Show it as it is now."""
        verb = {
            "get": self.tr("Getting {subject}"),
            "quantize": self.tr("Making a smaller copy: {subject}"),
            "verify": self.tr("Checking {subject}"),
        }[job.kind]
        self._title.setText(verb.format(subject=job.subject))
        self._cancel.setAccessibleName(self.tr("Stop: {title}").format(title=self._title.whole_text()))
        self._cancel.setVisible(job.state == "running")
        self._bar.setVisible(job.state == "running")
        self._bar.setAccessibleName(self._title.whole_text())
        self._state.setText(self._words(job))
        if job.state == "running":
            self._show_progress(job.progress)

    def _words(self, job: LibraryJob) -> str:
        if job.state == "running":
            return self._progress_words(job.progress)
        outcome = f" {job.outcome}" if job.outcome else ""
        return {
            "done": self.tr("Done."),
            "failed": self.tr("This did not work."),
            "cancelled": self.tr("Stopped."),
        }[job.state] + (outcome if job.state != "cancelled" else "")

    def _progress_words(self, progress: Progress | None) -> str:
        if progress is None:
            return self.tr("Beginning")
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
