"""The trainings of this machine: those on disk, and the running one."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from mezzotint.training_protocol import TrainingLoss, TrainingRequest, TrainingRunInfo, TrainingRuns
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.train.live import LiveTraining
from mezzotint_app.viewmodel.train.state import MAX_FOLDERS, SUFFIX, TrainState

CANCELLED = "cancelled"


class TrainingRunsModel(QObject):
    """Lists runs, and starts and pauses one at a time."""

    changed = Signal()  # the list, or anything of a run
    chosen = Signal(str)  # folder of a run that should be shown
    ended = Signal(str, object)  # folder of a run that has ended by itself, Failure | None

    def __init__(
        self, librarian: Service, state: Stored[TrainState], live: LiveTraining, usual: str,
        parent: QObject | None = None,
    ) -> None:  # fmt: skip
        """`usual` is the folder that new LoRAs are saved in."""
        super().__init__(parent)
        self._librarian, self._state, self.live, self.usual = librarian, state, live, usual
        self._infos: dict[str, TrainingRunInfo] = {}
        self._failures: dict[str, Failure] = {}
        self._begun: TrainingRequest | None = None
        self._asking = self._again = False
        self._problem = ""
        live.changed.connect(self.changed)
        live.saved.connect(lambda _folder: self.refresh())
        live.ended.connect(self._ended)

    # ---- state

    def all(self) -> tuple[TrainingRunInfo, ...]:
        """Return the runs, the newest first."""
        running = self._beginning()
        known = tuple(self._infos.values())
        return known if running is None or running.folder in self._infos else (running, *known)

    def get(self, folder: str) -> TrainingRunInfo | None:
        """Return the run in this folder, or None."""
        return next((one for one in self.all() if one.folder == folder), None)

    def runs(self) -> bool:
        """Whether a training is running or waiting."""
        return bool(self.live.folder())

    def is_running(self, folder: str) -> bool:
        """Whether this one is."""
        return bool(folder) and self.live.folder() == folder

    def is_stopped(self, folder: str) -> bool:
        """Whether the user has stopped this one for good."""
        return folder in self._state.value().stopped

    def failure(self, folder: str) -> Failure | None:
        """Return why the run ended in this session, or None; a pause is none."""
        return self._failures.get(folder)

    def problem(self) -> str:
        """Return why the list could not be read, or ""."""
        return self._problem

    def losses(self, folder: str) -> tuple[TrainingLoss, ...]:
        """Return the losses of a run."""
        if self.is_running(folder):
            return self.live.losses()
        info = self._infos.get(folder)
        return info.losses if info is not None else ()

    def seconds_per_step(self, model: str, batch: int, resolution: int | None) -> float | None:
        """Return the time that a step took in the last run with this model, or None."""
        for one in self._infos.values():
            asked = one.request.settings
            if one.seconds and one.request.model.id == model and asked.resolution == resolution:
                return one.seconds * batch / (asked.batch or batch)
        return None

    # ---- user actions

    def refresh(self) -> None:
        """Read the runs from disk again."""
        if self._asking:
            self._again = True
            return
        self._asking = True
        folders = (self.usual, *self._state.value().folders)
        self._librarian.ask(
            "training_runs",
            TrainingRuns(folders=folders),
            answer=tuple[TrainingRunInfo, ...],
            then=self._have,
            failed=self._not_read,
        )

    def begin(self, request: TrainingRequest) -> None:
        """Start a training."""
        if self.runs():
            return
        folder = str(Path(request.output) / f"{request.name}{SUFFIX}")
        if request.output != self.usual:
            others = tuple(one for one in self._state.value().folders if one != folder)
            self._state.change(folders=(folder, *others)[:MAX_FOLDERS])
        self._begun = request
        self._failures.pop(folder, None)
        self.live.begin(request, folder)
        self.chosen.emit(folder)

    def resume(self, folder: str, *, accept_changes: bool = False) -> None:
        """Go on with a run."""
        info = self._infos.get(folder)
        if info is None or self.runs():
            return
        self._failures.pop(folder, None)
        self._state.change(stopped=tuple(one for one in self._state.value().stopped if one != folder))
        self.live.resume(info, accept_changes=accept_changes)

    def pause(self) -> None:
        """Pause the running training."""
        self.live.pause()

    def stop(self) -> None:
        """Stop the running training for good, and keep its LoRAs."""
        folder = self.live.folder()
        if folder:
            others = tuple(one for one in self._state.value().stopped if one != folder)
            self._state.change(stopped=(folder, *others)[:MAX_FOLDERS])
            self.live.pause()

    # ---- internals

    def _beginning(self) -> TrainingRunInfo | None:
        """The running training, before anything of it is on disk."""
        folder, request = self.live.folder(), self._begun
        if not folder or request is None:
            return None
        return TrainingRunInfo(
            folder=folder, request=request, started="", step=0, steps=0, lora=None, epochs=(), base_samples=(),
            losses=(), seconds=0.0,
        )  # fmt: skip

    def _have(self, infos: tuple[TrainingRunInfo, ...]) -> None:
        self._infos = {one.folder: one for one in infos}
        self._asked("")

    def _not_read(self, failure: Failure) -> None:
        self._asked(failure.message)

    def _asked(self, problem: str) -> None:
        self._asking, self._problem = False, problem
        self.changed.emit()
        if self._again:
            self._again = False
            self.refresh()

    def _ended(self, folder: str, failure: Failure | None) -> None:
        if failure is not None and failure.kind != CANCELLED:
            self._failures[folder] = failure
        self.refresh()
        if failure is None or failure.kind != CANCELLED:
            self.ended.emit(folder, failure)
