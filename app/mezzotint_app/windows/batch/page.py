"""The Batch page: the form on the left, the batches or the preview on the right."""

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from mezzotint_app.resources import icon, icon_in
from mezzotint_app.viewmodel.batch.batch import BatchModel
from mezzotint_app.viewmodel.dropped.data import DropData
from mezzotint_app.widgets.drop_area import DropArea
from mezzotint_app.widgets.flow_layout import FlowLayout
from mezzotint_app.widgets.form_layout import beside, form_side, scrolled, tabbed
from mezzotint_app.widgets.inputs.field import Field
from mezzotint_app.widgets.labels import plain_label
from mezzotint_app.windows.batch.inputs import BatchInputs
from mezzotint_app.windows.batch.list import BatchList
from mezzotint_app.windows.batch.outputs import BatchOutputs
from mezzotint_app.windows.batch.preview_pane import BatchPreviewPane

FORM_WIDTH = 400
_NARROWEST = 320
BATCHES, PREVIEW = range(2)


class BatchPage(DropArea):
    """Shows a BatchModel and forwards input to it."""

    message = Signal(str)  # a message for the status bar
    grid_asked = Signal(str)  # path of an image to show
    folder_asked = Signal(str)  # a folder to open
    log_asked = Signal(str, tuple)  # title, lines

    def __init__(self, model: BatchModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.inputs = BatchInputs(model)
        self.outputs = BatchOutputs(model)
        self.list = BatchList(model)
        self.preview = BatchPreviewPane(model.dry_run)
        self._sight = self._timer(self._bring_into_sight)
        self._soon = self._timer(self.show_model)
        self._make_buttons()
        self._build()
        self._connect()
        self.show_model()

    def show_model(self) -> None:
        """Show the form; several changes in a row are shown at once."""
        self._soon.stop()
        form, problems = self._model.form(), self._model.problems()
        self.inputs.show_form(form)
        self.outputs.show_form(form)
        for name, field in self.fields().items():
            message = problems.get(name, "")
            field.set_problem("" if name in ("folder", "prompts") else message)  # an empty field is not yet an error
        self._hint.setText(next(iter(problems.values()), ""))
        self._hint.setVisible(bool(problems))
        self.start.setAccessibleDescription(self._hint.text())

    def fields(self) -> dict[str, Field]:
        """The fields by the names used in problems()."""
        return self.inputs.fields()

    def focus_first(self) -> None:
        """Give the focus to the first field of the form."""
        self.inputs.source.setFocus()

    def sizeHint(self) -> QSize:  # noqa: N802, D102
        return QSize(960, 640)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802  Qt's name
        """Refresh the batches, which may have changed elsewhere meanwhile."""
        super().showEvent(event)
        self._model.batches.refresh_all()

    def begin(self) -> None:
        """Start the batch, or give the focus to the first field with a problem."""
        if not self._model.begin():
            self._focus_problem()

    def show_preview(self) -> None:
        """Show the preview, or give the focus to the first field with a problem."""
        if self._model.start_dry_run():
            self.tabs.setCurrentIndex(PREVIEW)
        else:
            self._focus_problem()

    def open_job(self) -> QFileDialog:
        """Open a dialog for choosing a job file."""
        dialog = self._dialog(self.tr("Open job file"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([self.tr("Job files") + " (*.toml *.json)", "* (*)"])
        dialog.fileSelected.connect(self._model.open_job)
        dialog.open()
        return dialog

    def save_job(self) -> QFileDialog | None:
        """Open a dialog for saving the form as a job file."""
        if self._model.problems():
            self._focus_problem()
            return None
        dialog = self._dialog(self.tr("Save job file"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters([self.tr("Job files") + " (*.toml)"])
        dialog.setDefaultSuffix("toml")
        dialog.selectFile(f"{self._model.title()}.toml")
        dialog.fileSelected.connect(self._model.save_job)
        dialog.open()
        return dialog

    # ---- setup

    def _make_buttons(self) -> None:
        self.open = self._button("open", self.tr("Open job file…"), self.tr("Fill in this page from a job file"))
        self.save = self._button(
            "save",
            self.tr("Save job file…"),
            self.tr("Save all settings of this page to a file, for later or for another computer"),
        )
        self.preview_button = self._button(
            "search", self.tr("Preview"), self.tr("List every image that would be generated; nothing is generated")
        )
        self.start = self._button("play", self.tr("Start"), self.tr("Generate the images, one after another"))
        self.start.setProperty("role", "primary")
        self.start.setIcon(icon_in("play", "accent_text"))
        for button in (self.preview_button, self.start):
            button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._hint = plain_label(wrap=True, role="muted")

    def _button(self, drawing: str, text: str, tip: str) -> QPushButton:
        button = QPushButton(icon(drawing), text)
        button.setAccessibleName(text)
        button.setToolTip(tip)
        return button

    def _build(self) -> None:
        self.tabs = QTabWidget()
        self.tabs.addTab(self.list, self.tr("Batches"))
        self.tabs.addTab(self.preview, self.tr("Preview"))
        right = tabbed(self.tabs, self.tr("Batches and preview"))
        self._splitter = beside(self, self._left(), right, width=FORM_WIDTH, name="batch")

    def _left(self) -> QWidget:
        bar = QFrame()
        bar.setProperty("role", "bar")
        jobs = FlowLayout(bar)
        jobs.setContentsMargins(16, 8, 16, 8)
        jobs.addWidget(self.open)
        jobs.addWidget(self.save)
        form = self._form = QWidget()
        form.setProperty("role", "form")
        inside = QVBoxLayout(form)
        inside.setContentsMargins(16, 12, 16, 8)
        inside.setSpacing(12)
        inside.addWidget(self.inputs)
        inside.addWidget(self.outputs)
        inside.addStretch(1)
        self._scroll = scrolled(form)
        return form_side(self._scroll, self._foot(), narrowest=_NARROWEST, head=bar)

    def _foot(self) -> QWidget:
        foot = QWidget()
        column = QVBoxLayout(foot)
        column.setContentsMargins(16, 8, 16, 12)
        column.setSpacing(6)
        column.addWidget(self._hint)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.preview_button)
        row.addWidget(self.start)
        column.addLayout(row)
        return foot

    def _connect(self) -> None:
        model = self._model
        self.open.clicked.connect(self.open_job)
        self.save.clicked.connect(self.save_job)
        self.preview_button.clicked.connect(self.show_preview)
        self.preview.preview_asked.connect(self.show_preview)
        self.start.clicked.connect(self.begin)
        model.changed.connect(self._soon.start)
        model.noticed.connect(self.message)
        model.begun.connect(self._begun)
        self.list.grid_asked.connect(self.grid_asked)
        self.list.folder_asked.connect(self.folder_asked)
        self.list.log_asked.connect(self.log_asked)
        self.dropped.connect(self._use)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._focus_moved)

    def _begun(self, _identity: str) -> None:
        self.tabs.setCurrentIndex(BATCHES)

    def _use(self, what: DropData) -> None:
        self._model.use_paths(what.paths)

    def _focus_problem(self) -> None:
        self.show_model()
        field = self.fields().get(next(iter(self._model.problems()), ""))
        if field is not None:
            field.set_problem(self._hint.text())
            field.focus_control()

    # ---- helpers

    def _dialog(self, title: str) -> QFileDialog:
        dialog = QFileDialog(self, title)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        return dialog

    def _timer(self, then: object) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(0)
        timer.timeout.connect(then)
        return timer

    def _focus_moved(self, _before: QWidget | None, _now: QWidget | None) -> None:
        self._sight.start()

    def _bring_into_sight(self) -> None:
        """Scroll the focused widget into view."""
        now = QApplication.focusWidget()
        if now is not None and self._form.isAncestorOf(now):
            self._scroll.ensureWidgetVisible(now, 0, 24)
