"""A batch in the list: its progress, its actions and its failures."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QLabel,
    QListView,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from mezzotint_app.resources import icon, icon_in
from mezzotint_app.viewmodel.batch.failures import BatchFailures
from mezzotint_app.viewmodel.batch.state import Batch
from mezzotint_app.viewmodel.batch.texts import (
    failures_words,
    fraction,
    is_empty,
    is_whole,
    number,
    short_path,
    state_words,
    step_words,
)
from mezzotint_app.widgets.flow_layout import FlowLayout
from mezzotint_app.widgets.inputs.plain_box import PlainBox
from mezzotint_app.widgets.labels import ElidedLabel, plain_label

_STEPS = 1000
_LIST = 170  # pixels, the maximum height of the list of failures
_DRAWING = QSize(20, 20)
_DRAWINGS = {
    "waiting": ("waiting", "muted"),
    "running": ("play", "accent"),
    "stopping": ("finish", "accent"),
    "resting": ("pause", "muted"),
}


class BatchCard(QFrame):
    """Shows a Batch; its buttons emit signals."""

    stop_asked = Signal()
    stop_now_asked = Signal()
    resume_asked = Signal()
    retry_asked = Signal()
    grid_asked = Signal()
    folder_asked = Signal()
    gallery_asked = Signal()
    log_asked = Signal()
    remove_asked = Signal()
    failures_asked = Signal(bool)  # whether to show the failures

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self._state = QLabel()
        self.title = ElidedLabel()
        self.title.setProperty("role", "heading")
        self.folder = ElidedLabel()
        self.folder.setProperty("role", "muted")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setMaximumHeight(8)
        self.words = plain_label(wrap=True, selectable=True)
        self.now = ElidedLabel()
        self.now.setProperty("role", "muted")
        self.problem = plain_label(wrap=True, role="error", selectable=True)
        self.failures = plain_label(wrap=True, role="error", selectable=True)
        self._make_buttons()
        self._make_failures()
        self._build()

    def show_batch(self, batch: Batch, waiting: str, *, in_gallery: bool, has_log: bool) -> None:
        """Show the batch's current state."""
        title = batch.known.title or batch.known.folder
        self.title.setText(title)
        self.folder.setText(short_path(batch.known.folder))
        self.setAccessibleName(self.tr("Batch: {title}").format(title=title))
        self._show_state(batch)
        self.words.setText(state_words(batch, waiting))
        self.now.setText(step_words(batch))
        self.now.setVisible(bool(self.now.whole_text()))
        troubles = [batch.problem, batch.notice if batch.stage in ("running", "stopping") else ""]
        if batch.silent:
            troubles.append(
                self.tr("It has not responded for some minutes. Use “Stop at once”, then “Resume”: nothing is lost.")
            )
        self.problem.setText("\n".join(one for one in troubles if one))
        self.problem.setVisible(bool(self.problem.text()))
        self.failures.setText(failures_words(batch))
        self.failures.setVisible(bool(self.failures.text()))
        self._show_buttons(batch, title, in_gallery=in_gallery, has_log=has_log)

    def show_failures(self, model: BatchFailures | None) -> None:
        """Show the list of failures; None closes it."""
        self._failures.setVisible(model is not None)
        self.failed.setChecked(model is not None)
        if model is None:
            self.list.setModel(None)
            return
        self.list.setModel(model)
        self.list.selectionModel().currentChanged.connect(lambda now, _before: self._show_failure(now.row()))
        model.answered.connect(self._fit)
        model.failed.connect(self.whole.show_text)
        model.refresh()

    # ---- setup

    def _make_buttons(self) -> None:
        self.stop = self._button("finish", self.tr("Stop"), self.tr("Stop after the current image"))
        self.stop_now = self._button(
            "stop", self.tr("Stop at once"), self.tr("The current image starts over when the batch is resumed")
        )
        self.resume = self._button(
            "play", self.tr("Resume"), self.tr("Generate the missing images; nothing is generated twice")
        )
        self.resume.setProperty("role", "primary")
        self.resume.setIcon(icon_in("play", "accent_text"))
        self.retry = self._button(
            "retry", self.tr("Retry failed"), self.tr("Retry what failed, and make the missing images")
        )
        self.grid = self._button("gallery", self.tr("Show grid"), self.tr("All images of the grid in one, labelled"))
        self.open = self._button("folder", self.tr("Open folder"), self.tr("Open the output folder"))
        self.gallery = self._button(
            "gallery", self.tr("Show in the gallery"), self.tr("Add the output folder to the gallery")
        )
        self.failed = self._button("warning", "", self.tr("Which images failed, and why"))
        self.failed.setCheckable(True)
        self.log = self._button("log", self.tr("Log"), self.tr("The log of the run, for troubleshooting"))
        self.remove = self._button(
            "cancel", self.tr("Remove from list"), self.tr("Its images stay where they are; nothing is deleted")
        )
        for button, signal in (
            (self.stop, self.stop_asked),
            (self.stop_now, self.stop_now_asked),
            (self.resume, self.resume_asked),
            (self.retry, self.retry_asked),
            (self.grid, self.grid_asked),
            (self.open, self.folder_asked),
            (self.gallery, self.gallery_asked),
            (self.log, self.log_asked),
            (self.remove, self.remove_asked),
        ):
            button.clicked.connect(lambda _checked=False, signal=signal: signal.emit())
        self.failed.clicked.connect(self.failures_asked)

    def _button(self, drawing: str, text: str, tip: str) -> QPushButton:
        button = QPushButton(icon(drawing), text)
        button.setToolTip(tip)
        return button

    def _make_failures(self) -> None:
        self.list = QListView()
        self.list.setUniformItemSizes(True)
        self.list.setAccessibleName(self.tr("Failed images"))
        self.list.setToolTip(self.tr("Select one to read the full error"))
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setSpacing(2)
        self.whole = PlainBox(self.tr("Full error"))
        self._failures = QWidget()
        column = QVBoxLayout(self._failures)
        column.setContentsMargins(0, 4, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.list)
        column.addWidget(self.whole)
        self._failures.setVisible(False)

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._state)
        head.addWidget(self.title, 1)
        buttons = FlowLayout()
        for button in (
            self.stop, self.stop_now, self.resume, self.retry, self.failed, self.grid, self.open, self.gallery,
            self.log, self.remove,
        ):  # fmt: skip
            buttons.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 10, 12, 12)
        layout.setSpacing(6)
        layout.addLayout(head)
        for part in (self.folder, self.bar, self.words, self.now, self.problem, self.failures):
            layout.addWidget(part)
        layout.addLayout(buttons)
        layout.addWidget(self._failures)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)

    # ---- display

    def _show_state(self, batch: Batch) -> None:
        drawing, colour = _DRAWINGS[batch.stage]
        if batch.stage == "resting" and batch.problem:
            drawing, colour = "error", "danger"
        elif batch.stage == "resting" and is_empty(batch):
            drawing, colour = "warning", "warning"
        elif batch.stage == "resting" and is_whole(batch):
            drawing, colour = "done", "good"
        self._state.setPixmap(icon_in(drawing, colour).pixmap(_DRAWING, self.devicePixelRatioF()))
        part = fraction(batch)
        self.bar.setVisible(batch.stage in ("running", "stopping") or part is not None)
        self.bar.setAccessibleName(self.title.whole_text())
        if part is None and batch.stage in ("running", "stopping"):
            self.bar.setRange(0, 0)
        else:
            self.bar.setRange(0, _STEPS)
            self.bar.setValue(round((part or 0.0) * _STEPS))

    def _show_buttons(self, batch: Batch, title: str, *, in_gallery: bool, has_log: bool) -> None:
        resting, works = batch.stage == "resting", batch.stage in ("running", "stopping")
        elsewhere = batch.status is not None and bool(batch.status.running) and resting
        self.stop.setVisible(batch.stage in ("running", "waiting"))
        self.stop_now.setVisible(works)
        self.resume.setVisible(resting and not is_whole(batch) and not elsewhere)
        self.retry.setVisible(resting and batch.failed > 0 and not elsewhere)
        self.failed.setVisible(batch.failed > 0)
        self.failed.setText(self.tr("Failed: {count}").format(count=number(batch.failed)))
        self.grid.setVisible(resting and batch.known.grid and is_whole(batch))
        self.gallery.setVisible(not in_gallery)
        self.log.setVisible(has_log and bool(batch.problem or batch.silent))
        self.remove.setVisible(not works)
        for button in (
            self.stop, self.stop_now, self.resume, self.retry, self.grid, self.open, self.gallery, self.log,
            self.remove, self.failed,
        ):  # fmt: skip
            button.setAccessibleName(self.tr("{what}: {title}").format(what=button.text(), title=title))

    def _fit(self) -> None:
        """Make the list as high as its rows need, within limits."""
        model = self.list.model()
        if isinstance(model, BatchFailures):
            row = self.list.fontMetrics().lineSpacing() + 8
            self.list.setFixedHeight(min(_LIST, max(2, model.rowCount()) * row + 8))
            if not self.list.currentIndex().isValid() and model.rowCount():
                self.list.setCurrentIndex(model.index(0))
            self._show_failure(self.list.currentIndex().row())

    def _show_failure(self, row: int) -> None:
        model = self.list.model()
        item = model.peek(row) if isinstance(model, BatchFailures) else None
        self.whole.show_text("" if item is None else "\n".join(p for p in (item.output, item.error or item.kind) if p))
