"""The Train page: its form, the check of the dataset, and the start of a training."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from mezzotint.protocol import ModelInfo
from mezzotint.training_protocol import TrainingRequest, TrainingRunInfo
from mezzotint_app.processes.service import Failure
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.batch.form import absolute_path
from mezzotint_app.viewmodel.models.choices import ModelChoices
from mezzotint_app.viewmodel.thumbnails import Thumbnails
from mezzotint_app.viewmodel.train.checks import DatasetChecks
from mezzotint_app.viewmodel.train.dataset import DatasetModel
from mezzotint_app.viewmodel.train.memory import TrainingMemory
from mezzotint_app.viewmodel.train.runs import TrainingRunsModel
from mezzotint_app.viewmodel.train.state import TrainForm, TrainState, request_of
from mezzotint_app.viewmodel.train.texts import before_start, failure_words

_NOT_IN_NAMES = re.compile(r"[^\w\- ]+")
_FILES = (".png", ".jpg", ".jpeg", ".webp", ".avif", ".tif", ".tiff", ".bmp", ".gif", ".txt", ".caption")
_LONGEST_NAME = 60  # characters


class TrainModel(QObject):
    """State of the page; the trainings themselves are in `runs`."""

    changed = Signal()
    noticed = Signal(str)  # message for the user
    finished = Signal(str, str)  # name and state, when a training has ended by itself
    use_asked = Signal(str, object)  # path of a LoRA, TrainingRunInfo

    def __init__(
        self,
        models: ModelChoices,
        checks: DatasetChecks,
        memory: TrainingMemory,
        runs: TrainingRunsModel,
        thumbnails: Thumbnails,
        state: Stored[TrainState],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._models, self._state = models, state
        self.checks, self.memory, self.runs, self.thumbnails = checks, memory, runs, thumbnails
        self.dataset = DatasetModel(thumbnails, self)
        self._checked: TrainingRequest | None = None
        checks.changed.connect(self._have_check)
        memory.changed.connect(self.changed)
        checks.not_written.connect(self.noticed)
        self.dataset.edited.connect(checks.write)
        runs.changed.connect(self.changed)
        runs.live.noticed.connect(self.noticed)
        runs.ended.connect(self._ended)
        models.changed.connect(self._update)

    # ---- the form

    def form(self) -> TrainForm:
        """Return the form as filled in."""
        return self._state.value().form

    def change(self, **fields: Any) -> None:  # noqa: ANN401
        """Change fields of the form."""
        before = self.form()
        self._state.change(form=replace(before, **fields))
        if self.form() != before:
            self._update()

    def models(self) -> tuple[ModelInfo, ...]:
        """Return the models that can generate images by themselves."""
        return tuple(one for one in self._models.all() if self._models.problem_of(one) is None)

    def model(self) -> str:
        """Return the id of the model that learns, or ""."""
        if self.form().model:
            return self.form().model
        default = self._models.default()
        return default.id if default is not None else ""

    def name(self) -> str:
        """Return the LoRA's name: as entered, else from the trigger word or the folder, and not yet taken."""
        form = self.form()
        if form.name.strip():
            return form.name.strip()
        name = _as_name(form.trigger) or _as_name(Path(form.folder).name) or "lora"
        taken, number = self._taken(), 2
        free = name
        while free in taken:
            free, number = f"{name} {number}", number + 1
        return free

    def request(self) -> TrainingRequest:
        """Return the form as a request."""
        form = replace(self.form(), folder=self.folder())
        return request_of(form, model=self.model(), name=self.name(), output=self.runs.usual)

    def folder(self) -> str:
        """Return the absolute path of the folder with the images, or ""."""
        folder = self.form().folder.strip()
        return absolute_path(folder, str(Path.home())) if folder else ""

    def problems(self) -> dict[str, str]:
        """Return what prevents a start, by field."""
        form, found = self.form(), self.checks.found()
        problems = {}
        if not self.folder():
            problems["folder"] = self.tr("Choose the folder with your images.")
        elif self.checks.failure():
            problems["folder"] = self.checks.failure()
        if not self.model() and self._models.known():
            problems["model"] = self.tr("No model can be trained: download one on the Models page.")
        if form.name.strip() and _as_name(form.name) != form.name.strip():
            problems["name"] = self.tr("Use letters, digits, spaces and hyphens only.")
        elif form.name.strip() in self._taken():
            problems["name"] = self.tr("A training run with this name exists: resume it, or choose another name.")
        if found is not None and found.problem:
            problems["check"] = found.problem
        return problems

    def summary(self) -> str:
        """Return one line about what would be trained; "" while that is not known."""
        found = self.checks.found()
        if found is None:
            return self.tr("Reading the images…") if self.checks.is_checking() else ""
        values, form = found.values, self.form()
        seconds = None
        if values is not None:
            seconds = self.runs.seconds_per_step(self.model(), values.batch, form.resolution)
        return before_start(found, seconds)

    def note(self) -> str:
        """Return the memory that it needs, and what is done to fit, in one line; "" while that is not known."""
        return self.memory.line()

    def can_start(self) -> bool:
        """Whether a training can be started now."""
        return self.checks.found() is not None and not self.problems() and not self.runs.runs()

    # ---- user actions

    def refresh(self) -> None:
        """Read folder and runs again, which may have changed meanwhile."""
        self.runs.refresh()
        self._check(force=True)

    def use_folder(self, folder: str) -> None:
        """Train on the images in this folder."""
        self.change(folder=folder, name="")

    def use_path(self, path: str) -> None:
        """Train on the images in a dropped folder, or in the folder of a dropped file."""
        self.use_folder(str(Path(path).parent) if Path(path).suffix.lower() in _FILES else path)

    def begin(self) -> bool:
        """Start the training; returns False if something prevents it."""
        if not self.can_start():
            return False
        self.runs.begin(self.request())
        self.change(name="")
        return True

    def use(self, path: str, info: TrainingRunInfo) -> None:
        """Use a LoRA on the Create page."""
        self.use_asked.emit(path, info)

    # ---- internals

    def _taken(self) -> set[str]:
        return {one.request.name for one in self.runs.all() if Path(one.folder).parent == Path(self.runs.usual)}

    def _update(self) -> None:
        self._check(force=False)
        self.changed.emit()

    def _check(self, *, force: bool) -> None:
        request = self.request() if self.folder() and self._models.known() else None
        wanted = None if request is None else replace(request, trigger="", word="", prompts=(), name="")
        if force or wanted != self._checked:
            self._checked = wanted
            self.checks.check(request)

    def _ended(self, folder: str, failure: Failure | None) -> None:
        name = Path(folder).stem
        if failure is None:
            self.finished.emit(name, self.tr("Training has finished: choose an epoch to use."))
            return
        words = failure_words(failure)
        self.finished.emit(name, words)
        self.noticed.emit(self.tr("Training of {name} has stopped. {words}").format(name=name, words=words))

    def _have_check(self) -> None:
        found = self.checks.found()
        self.dataset.use(found)
        self.memory.ask(self.request() if found is not None and found.values is not None else None)
        self.changed.emit()


def _as_name(text: str) -> str:
    """A text as a file name."""
    return " ".join(_NOT_IN_NAMES.sub(" ", text).split())[:_LONGEST_NAME].strip()
