"""The Train page: what to learn on the left, the images or the trainings on the right."""

from PySide6.QtCore import QSize, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QPushButton, QTabWidget, QVBoxLayout, QWidget

from mezzotint_app.resources import icon_in, icons_folder
from mezzotint_app.viewmodel.dropped.data import DropData
from mezzotint_app.viewmodel.train.train import TrainModel
from mezzotint_app.widgets.drop_area import DropArea
from mezzotint_app.widgets.form_layout import beside, form_side, scrolled, tabbed
from mezzotint_app.widgets.labels import plain_label
from mezzotint_app.windows.train.dataset import DatasetPane
from mezzotint_app.windows.train.form import TrainFormView
from mezzotint_app.windows.train.runs import RunsPane

FORM_WIDTH = 360
_NARROWEST = 300
_SOON = 50  # milliseconds over which changes are collected: small models train many steps a second
DATASET, TRAININGS = range(2)
SAMPLE = ("zibble", "castle", "starter-dit")  # trigger word, what it is, model


class TrainPage(DropArea):
    """Shows a TrainModel and forwards input to it."""

    folder_asked = Signal(str)  # a folder to open
    open_full_screen = Signal(list, int)

    def __init__(self, model: TrainModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.form = TrainFormView(model)
        self.dataset = DatasetPane(model)
        self.runs = RunsPane(model)
        self._looked = False
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_SOON)
        self._soon.timeout.connect(self._show_if_visible)
        self._make_foot()
        self._build()
        self._connect()
        self.show_model()

    def show_model(self) -> None:
        """Show everything; several changes in a row are shown at once."""
        self._soon.stop()
        problems = self._model.problems()
        self.form.show_form(self._model.form())
        for name, field in self.form.fields().items():
            # An empty folder field is not yet an error.
            field.set_problem("" if name == "folder" and not self._model.form().folder else problems.get(name, ""))
        self.dataset.show_model()
        self.runs.show_model()
        self._show_foot(problems)

    def focus_first(self) -> None:
        """Give the focus to the first field of the form."""
        self.form.folder.line.setFocus()

    def sizeHint(self) -> QSize:  # noqa: N802, D102
        return QSize(960, 640)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802, D102
        super().showEvent(event)
        self._model.refresh()
        self._soon.start()

    def _runs_known(self) -> None:
        """Show a training that was left unfinished, when the page is first opened."""
        infos = self._model.runs.all()
        if infos and not self._looked:
            self._looked = True
            last = infos[0]
            if last.lora is None and not self._model.runs.is_stopped(last.folder):
                self.tabs.setCurrentIndex(TRAININGS)

    def begin(self) -> None:
        """Start the training."""
        if self._model.begin():
            self.tabs.setCurrentIndex(TRAININGS)

    def use_sample(self) -> None:
        """Fill in the bundled images."""
        trigger, word, model = SAMPLE
        folder = icons_folder().parent / "samples" / "train" / trigger  # known already: nothing is read here
        self._model.use_folder(str(folder))
        self._model.change(trigger=trigger, word=word, model=model)

    # ---- setup

    def _make_foot(self) -> None:
        self.summary = plain_label(wrap=True)
        self.note = plain_label(role="muted", wrap=True)
        self.hint = plain_label(role="warning", wrap=True)
        self.start = QPushButton(icon_in("play", "accent_text"), self.tr("Start training"))
        self.start.setProperty("role", "primary")
        self.start.setAccessibleName(self.start.text())
        self.start.setToolTip(self.tr("Train with these settings; the queue waits meanwhile"))

    def _build(self) -> None:
        self.tabs = QTabWidget()
        self.tabs.addTab(self.dataset, self.tr("Images"))
        self.tabs.addTab(self.runs, self.tr("Training runs"))
        right = tabbed(self.tabs, self.tr("Images and training runs"))
        self._splitter = beside(self, self._left(), right, width=FORM_WIDTH, name="train")

    def _left(self) -> QWidget:
        inside = QWidget()
        inside.setProperty("role", "form")
        column = QVBoxLayout(inside)
        column.setContentsMargins(16, 12, 16, 8)
        column.addWidget(self.form)
        column.addStretch(1)
        return form_side(scrolled(inside), self._foot(), narrowest=_NARROWEST)

    def _foot(self) -> QWidget:
        foot = QWidget()
        column = QVBoxLayout(foot)
        column.setContentsMargins(16, 8, 16, 12)
        column.setSpacing(6)
        for part in (self.summary, self.note, self.hint, self.start):
            column.addWidget(part)
        return foot

    def _connect(self) -> None:
        self.start.clicked.connect(self.begin)
        self._model.changed.connect(self._soon.start)
        self._model.runs.changed.connect(self._runs_known)
        self.dataset.folder_asked.connect(self.form.folder.choose)
        self.dataset.sample_asked.connect(self.use_sample)
        self.dataset.rescan_asked.connect(self._model.refresh)
        self.runs.folder_asked.connect(self.folder_asked)
        self.runs.open_asked.connect(self.open_full_screen)
        self.dropped.connect(self._use)

    # ---- display

    def _show_if_visible(self) -> None:
        if self.isVisible():
            self.show_model()

    def _use(self, what: DropData) -> None:
        if what.paths:
            self._model.use_path(what.paths[0])
            self.tabs.setCurrentIndex(DATASET)

    def _show_foot(self, problems: dict[str, str]) -> None:
        self.summary.setText(self._model.summary())
        self.note.setText(self._model.note())
        hint = next(iter(problems.values()), "") if self._model.form().folder else ""
        if not hint and self._model.runs.runs():
            hint = self.tr("A training run is in progress: pause it, or wait until it has finished.")
        self.hint.setText(hint)
        for label in (self.summary, self.note, self.hint):
            label.setVisible(bool(label.text()))
        self.start.setEnabled(self._model.can_start())
