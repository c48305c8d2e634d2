"""The trainings: one is shown with its progress, losses and epochs; the running one can be paused and stopped."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QStackedWidget, QVBoxLayout, QWidget

from mezzotint.training_protocol import TrainingRunInfo
from mezzotint_app.resources import icon_in
from mezzotint_app.viewmodel.train.losses import validation_of
from mezzotint_app.viewmodel.train.texts import fraction, state_words, title_of
from mezzotint_app.viewmodel.train.train import TrainModel
from mezzotint_app.widgets.empty_state import EmptyState
from mezzotint_app.widgets.flow_layout import FlowLayout
from mezzotint_app.widgets.form_layout import scrolled
from mezzotint_app.widgets.icon_button import text_button
from mezzotint_app.widgets.inputs.choice_box import Choice, ChoiceBox
from mezzotint_app.widgets.labels import plain_label
from mezzotint_app.widgets.loss_plot import LossPlot
from mezzotint_app.windows.train.epochs import EpochList

_STEPS = 1000  # of the progress bar


class RunsPane(QWidget):
    """Shows the runs of a TrainModel."""

    folder_asked = Signal(str)  # a folder to open
    open_asked = Signal(list, int)  # samples to show at full size

    def __init__(self, model: TrainModel) -> None:
        super().__init__()
        self._model, self._runs = model, model.runs
        self._folder = ""
        self._make_parts()
        self._make_buttons()
        self._build()
        self._connect()

    def show_model(self) -> None:
        """Show the chosen run."""
        infos = self._runs.all()
        if infos and all(one.folder != self._folder for one in infos):
            self._folder = infos[0].folder
        info = self._runs.get(self._folder)
        self._stack.setCurrentIndex(0 if info is not None else 1)
        if info is None:
            self._show_empty()
            return
        self.choice.show_choices([Choice(value=one.folder, name=title_of(one)) for one in infos], self._folder)
        self._show_progress(info)
        self._show_buttons(info)
        self.plot.show_losses(self._runs.losses(info.folder), validation_of(info.epochs), self._steps(info))
        self.epochs.show_run(info)

    def choose(self, folder: str) -> None:
        """Show the run in this folder."""
        self._folder = folder
        self.show_model()

    def shown(self) -> str:
        """The folder of the run that is shown."""
        return self._folder

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802, D102
        super().showEvent(event)
        self.epochs.want_thumbnails()

    # ---- setup

    def _make_parts(self) -> None:
        self.choice = ChoiceBox(self.tr("Training run"), self.tr("The run that is shown below"))
        self.words = plain_label(wrap=True, selectable=True)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setMaximumHeight(8)
        self.bar.setAccessibleName(self.tr("Training progress"))
        self.plot = LossPlot()
        self.epochs = EpochList(self._model.thumbnails)
        self.empty = EmptyState("train")

    def _make_buttons(self) -> None:
        self.pause = text_button(
            "pause", self.tr("Pause"), self.tr("Stop after this step and free the GPU; it can be resumed later")
        )
        self.resume = text_button("play", self.tr("Resume"), self.tr("Continue exactly where it was paused"))
        self.resume.setProperty("role", "primary")
        self.resume.setIcon(icon_in("play", "accent_text"))
        self.accept = text_button(
            "play", self.tr("Resume with changed images"),
            self.tr("Continue although the images or captions have changed since the start"),
        )  # fmt: skip
        self.stop = text_button(
            "stop", self.tr("Stop and keep"), self.tr("End training here; the LoRAs saved so far can be used")
        )
        self.open = text_button("folder", self.tr("Open folder"), self.tr("Open the folder of this run"))

    def _build(self) -> None:
        buttons = FlowLayout()
        for button in (self.pause, self.resume, self.accept, self.stop, self.open):
            buttons.addWidget(button)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(12, 8, 12, 12)
        column.setSpacing(8)
        head = QHBoxLayout()
        head.addWidget(self.choice, 1)
        column.addLayout(head)
        for part in (self.words, self.bar):
            column.addWidget(part)
        column.addLayout(buttons)
        column.addWidget(self.plot)
        column.addWidget(self.epochs)
        column.addStretch(1)
        self._scroll = scrolled(inside)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._scroll)
        self._stack.addWidget(self.empty)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._stack)

    def _connect(self) -> None:
        self.choice.chosen.connect(self.choose)
        self.pause.clicked.connect(self._runs.pause)
        self.stop.clicked.connect(self._runs.stop)
        self.resume.clicked.connect(lambda: self._runs.resume(self._folder))
        self.accept.clicked.connect(lambda: self._runs.resume(self._folder, accept_changes=True))
        self.open.clicked.connect(lambda: self.folder_asked.emit(self._folder))
        self._runs.chosen.connect(self.choose)
        self.epochs.use_asked.connect(self._use)
        self.epochs.open_asked.connect(self.open_asked)

    # ---- display

    def _use(self, path: str) -> None:
        info = self._runs.get(self._folder)
        if info is not None:
            self._model.use(path, info)

    def _steps(self, info: TrainingRunInfo) -> int:
        state = self._runs.live.state()
        return state.steps if self._runs.is_running(info.folder) and state.steps else info.steps

    def _show_empty(self) -> None:
        self.empty.show_words(
            self.tr("No training runs yet"), self._runs.problem() or self.tr("Choose images, and press Start training.")
        )

    def _show_progress(self, info: TrainingRunInfo) -> None:
        self.words.setText(state_words(self._runs, info))
        failed = self._runs.failure(info.folder) is not None and not self._runs.is_running(info.folder)
        if self.words.property("role") != ("error" if failed else ""):
            self.words.setProperty("role", "error" if failed else "")
            self.words.style().polish(self.words)
        part = fraction(self._runs, info)
        self.bar.setRange(0, 0 if part is None else _STEPS)
        self.bar.setValue(round((part or 0.0) * _STEPS))

    def _show_buttons(self, info: TrainingRunInfo) -> None:
        runs = self._runs.is_running(info.folder)
        stage = self._runs.live.state().stage
        rests = not runs and info.lora is None and bool(info.started)
        failure = self._runs.failure(info.folder)
        changed = failure is not None and failure.kind == "dataset_changed"
        self.pause.setVisible(runs)
        self.pause.setEnabled(stage != "pausing")
        self.stop.setVisible(runs)
        self.stop.setEnabled(stage != "pausing")
        self.resume.setVisible(rests and not changed)
        self.resume.setEnabled(not self._runs.runs())
        self.accept.setVisible(rests and changed)
        self.accept.setEnabled(not self._runs.runs())
        self.open.setVisible(bool(info.started))
