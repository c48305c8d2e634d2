"""Creates and connects everything behind the window: processes, the queue and the pages' view models."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal

from mezzotint import paths
from mezzotint.jobs.store import JobStore
from mezzotint_app.awake import KeepAwake
from mezzotint_app.background import Background, Pool
from mezzotint_app.processes.batch_process import COMMAND as BATCH
from mezzotint_app.processes.batch_process import BatchProcess
from mezzotint_app.processes.processes import ServerProcess
from mezzotint_app.processes.setup_process import Bootstrap, maker
from mezzotint_app.processes.supervisor import Supervisor
from mezzotint_app.settings import Settings, output_folder, settings_path, state_path
from mezzotint_app.stored import Stored, read
from mezzotint_app.viewmodel.activity_state import ActivityState
from mezzotint_app.viewmodel.batch.batch import BatchModel
from mezzotint_app.viewmodel.batch.batches import Batches
from mezzotint_app.viewmodel.batch.state import BatchesState
from mezzotint_app.viewmodel.batch.turn import GpuTurn
from mezzotint_app.viewmodel.canvas.canvas import CanvasModel
from mezzotint_app.viewmodel.canvas.keeping import CanvasKeeping
from mezzotint_app.viewmodel.canvas.settings import CanvasSettings, keep_settings
from mezzotint_app.viewmodel.create.again import ImagesAgain
from mezzotint_app.viewmodel.create.create import CreateModel
from mezzotint_app.viewmodel.create.images.image_input import ImageInputModel
from mezzotint_app.viewmodel.create.images.own_images import forget, masks_folder, pasted_folder
from mezzotint_app.viewmodel.create.state import CreateState, own_files
from mezzotint_app.viewmodel.dropped.dropped import DropHandler
from mezzotint_app.viewmodel.engine_setup.engine_setup import EngineSetup
from mezzotint_app.viewmodel.engine_state import EngineState
from mezzotint_app.viewmodel.gallery.gallery import GalleryState
from mezzotint_app.viewmodel.gallery.output_folders import OutputFolders
from mezzotint_app.viewmodel.gallery.parts import Gallery
from mezzotint_app.viewmodel.models.cards import ModelCards
from mezzotint_app.viewmodel.models.models import ModelLibrary
from mezzotint_app.viewmodel.models.picture_maker import PictureMaker
from mezzotint_app.viewmodel.pixels import PixelLoader
from mezzotint_app.viewmodel.queue.access import QueueAccess
from mezzotint_app.viewmodel.queue.full_disk_redirect import FullDiskRedirect
from mezzotint_app.viewmodel.queue.loans import Borrower, Loans
from mezzotint_app.viewmodel.queue.parts import Queue
from mezzotint_app.viewmodel.queue.runner import QueueRunner
from mezzotint_app.viewmodel.thumbnails import Thumbnails
from mezzotint_app.viewmodel.train.checks import DatasetChecks
from mezzotint_app.viewmodel.train.live import LiveTraining
from mezzotint_app.viewmodel.train.memory import TrainingMemory
from mezzotint_app.viewmodel.train.runs import TrainingRunsModel
from mezzotint_app.viewmodel.train.state import TrainState
from mezzotint_app.viewmodel.train.train import TrainModel
from mezzotint_app.window_state import WindowState

T = TypeVar("T")

_LEAVING = 25_000  # milliseconds for a job to end when the window is closed; the runner ends the engine before that
_KEEPING = 3000  # milliseconds that writing the last settings may take

ENGINE = (sys.executable, "-P", "-m", "mezzotint.server")
LIBRARIAN = (sys.executable, "-P", "-m", "mezzotint.librarian")


class Program(QObject):
    """Created before the window is shown; `begin` then starts the processes."""

    message = Signal(str)  # a message for the user
    resolved = Signal(str)  # a message of `message` that no longer applies

    def __init__(
        self,
        engine: tuple[str, ...] = ENGINE,
        librarian: tuple[str, ...] = LIBRARIAN,
        batch: tuple[str, ...] = BATCH,
        bootstrap: Bootstrap | None = None,
    ) -> None:
        super().__init__()
        self._batch = batch
        self.bootstrap = bootstrap
        self.start_again = False  # decided when the window is closed for another version
        self.continue_in_background = False  # decided when the window is closed while work is left
        self.notices: list[str] = []  # from reading the stored documents; shown with the window
        self._librarian_was_lost = False
        self.files = Background(self)
        self._store_thread = Background(self)
        self.pool = Pool(self)
        for thread in (self.files, self._store_thread, self.pool):
            thread.on_unhandled(self._unhandled)
        self.settings = self._stored(settings_path(), Settings)
        output_folder(Settings())  # asks the system only once: do that now
        self.window_state = self._stored(state_path("layout"), WindowState)
        self._make_processes(engine, librarian)
        self.setup = EngineSetup(bootstrap, maker(bootstrap), self.settings, self.window_state, self)
        self._make_queue()
        self._make_models()
        loans = Loans(self.runner)
        self._make_batches(Borrower(loans, self.tr("A batch"), self.tr("a batch was started"), self))
        self._make_training(Borrower(loans, self.tr("Training"), self.tr("training was started"), self))
        self.awake = KeepAwake(
            ActivityState(self.runner, self.batches, self, training=self.train.runs), self.settings, parent=self
        )
        self._wire()

    # ---- lifetime

    def begin(self) -> None:
        """Start the background processes; called once the window is visible."""
        self.librarian.start()
        if not self.setup.lacks_engine():
            self.engine.start()
        self.setup.begin()
        self.library.refresh()
        self.gallery.begin()
        self.create.styles.refresh()
        self.create.restore()
        self.canvas_keeping.restore()
        self.batches.refresh_all()
        self.train.runs.refresh()
        self.access.ask(lambda store: store.request_images(), self._forget_own_images, lambda _error: None)

    def leave(self, then: Callable[[], None]) -> None:
        """Requeue the running task and release the lease, then call `then`; does not wait longer than _LEAVING."""
        left: list[bool] = []

        def once() -> None:
            if not left:
                left.append(True)
                then()

        # The borrowers first, as they may still be working with what the queue has lent them.
        self.train.runs.live.shut_down(lambda: self.batches.shut_down(lambda: self.runner.shut_down(once)))
        QTimer.singleShot(_LEAVING, once)

    def keep(self) -> None:
        """Write recent changes to disk; called at the end of the program and of the desktop session."""
        for document in self._documents():
            if document.unsaved():
                document.save()
        self.canvas_keeping.save()
        self.files.finish(_KEEPING)

    def finish(self) -> None:
        """Save unsaved changes and end the processes, after the last window has closed."""
        self.keep()
        self.awake.finish()
        self.batches.finish(5000)
        self.setup.finish(5000)
        self.access.close()
        self.librarian.finish(3000)
        self.engine.finish(5000)
        for thread in (self.files, self._store_thread, self.pool):
            thread.finish()

    # ---- components

    def _make_processes(self, engine: tuple[str, ...], librarian: tuple[str, ...]) -> None:
        self.engine = Supervisor(self.tr("The engine"), lambda: ServerProcess(engine, decoding=self.pool), parent=self)
        self.librarian = Supervisor(
            self.tr("The library service"), lambda: ServerProcess(librarian, decoding=self.pool), parent=self
        )

    def _make_queue(self) -> None:
        self.access = QueueAccess(self._store_thread, JobStore.open, self)
        self.runner = QueueRunner(self.access, self.engine, self.settings, parent=self)
        self.engine_state = EngineState(self.engine, self.runner, self.settings, parent=self, past=self.window_state)
        self.thumbnails = Thumbnails(self.librarian, self.pool, self)
        self.queue = Queue(self.access, self.runner, self.thumbnails, self.files, self)
        self.full_disk_redirect = FullDiskRedirect(self.access, self.settings, self)

    def _make_models(self) -> None:
        self.create_state = self._stored(state_path("create"), CreateState)
        self.gallery_state = self._stored(state_path("gallery"), GalleryState)
        self.output_folders = OutputFolders(self.settings, self.librarian, self)
        self.pixels = PixelLoader(self.librarian, self.pool, self)
        self.images = ImageInputModel(self.librarian, self.pool, self)
        self.library = ModelLibrary(self.librarian, self.engine, self, settings=self.settings.value)
        self.cards = ModelCards(self.librarian, self)
        self.dropped = DropHandler(self.librarian, self.pool, self)
        self.create = CreateModel(
            self.engine,
            self.librarian,
            self.access,
            self.runner,
            self.images,
            self.settings,
            self.create_state,
            self.pool,
            self,
            life=self.engine,
        )
        self.canvas = CanvasModel(self.create, self.access, self.runner, self.librarian, self.pool, self)
        self.canvas_settings = self._stored(state_path("canvas"), CanvasSettings)
        keep_settings(self.canvas, self.canvas_settings)
        self.canvas_keeping = CanvasKeeping(self.canvas, paths.state_folder() / "canvas.ora", self.pool, self)
        self.create.preview.count_as(self.queue.running)
        self.picture_maker = PictureMaker(self.access, self.runner, self.cards, self.create, self.settings, self)
        self.again = ImagesAgain(self.create, self.librarian, self)
        self.gallery = Gallery(
            self.librarian,
            self.files,
            self.pixels,
            self.thumbnails,
            self.runner,
            self.settings,
            self.gallery_state,
            self,
        )

    def _make_training(self, lender: Borrower) -> None:
        self.train_state = self._stored(state_path("train"), TrainState)
        turn = GpuTurn(lender, self.engine, self.access, parent=self)
        live = LiveTraining(self.engine, turn, self)
        folder = paths.models_folder().parent / "loras"
        self.train = TrainModel(
            self.create.models,
            DatasetChecks(self.librarian, parent=self),
            TrainingMemory(self.engine, self),
            TrainingRunsModel(self.librarian, self.train_state, live, str(folder), self),
            self.thumbnails,
            self.train_state,
            self,
        )

    def _make_batches(self, lender: Borrower) -> None:
        self.batches_state = self._stored(state_path("batches"), BatchesState)
        turn = GpuTurn(lender, self.engine, self.access, parent=self)
        self.batches = Batches(
            self.librarian,
            self.files,
            self.batches_state,
            turn,
            BatchProcess,
            paths.state_folder() / "batches",
            self,
            run_command=self._batch,
        )
        self.batch = BatchModel(
            self.create,
            self.librarian,
            self.batches,
            self.batches_state,
            self.settings,
            self,
            cards=self._cards,
        )

    def _cards(self) -> int:
        info = self.engine.info()
        return sum(device.id.startswith("cuda") for device in info.devices) if info is not None else 0

    def _wire(self) -> None:
        for document in self._documents():
            document.failed.connect(self.message)
            document.resolved.connect(self.resolved)
        self.librarian.changed.connect(self._librarian_changed)
        self.runner.message.connect(self.message)
        self.runner.resolved.connect(self.resolved)
        self.create.not_queued.connect(self.message)
        self.gallery.upscaling.second_pass.connect(self.create.enlarge)
        self.full_disk_redirect.message.connect(self.message)
        self.gallery.scanner.message.connect(self.message)
        self.gallery.trash.moved.connect(self._trashed)
        self.gallery.trash.restored.connect(self._untrashed)
        self.access.unusable.connect(self.message)
        self.access.resolved.connect(self.resolved)
        self.access.opened.connect(lambda notice: self.message.emit(notice) if notice else None)
        self.library.changed.connect(self._models_changed)
        self.settings.changed.connect(self.library.invalidate_plans)
        self.engine.changed.connect(self._engine_changed)
        self.queue.watch.changed.connect(self._queue_changed)
        self.batches.settled.connect(lambda _batch, _row: self.gallery.rescan_if_needed())
        self.batches.ended.connect(lambda _batch: self.gallery.rescan_if_needed())

    def _documents(self) -> tuple[Stored[Any], ...]:
        return (
            self.settings,
            self.window_state,
            self.create_state,
            self.gallery_state,
            self.canvas_settings,
            self.batches_state,
            self.train_state,
        )

    def _stored(self, path: Path, kind: type[T]) -> Stored[T]:
        value, notice = read(kind, path)
        if notice:
            self.notices.append(notice)
        return Stored(path, value, self.files, self)

    def _forget_own_images(self, needed: frozenset[str]) -> None:
        """Delete masks and pasted images that nothing refers to any more."""
        shown = frozenset(one.path for one in self.images.inputs()) | own_files(self.create_state.value())
        for folder in (masks_folder(), pasted_folder()):
            self.files.run(partial(forget, folder, needed | shown))

    def _librarian_changed(self) -> None:
        """Once the library service is running again after a failure, repeat everything that was asked of it."""
        state = self.librarian.state()
        if state in ("restarting", "given_up"):
            self._librarian_was_lost = True
        elif state == "ready" and self._librarian_was_lost:
            self._librarian_was_lost = False
            self.library.refresh()
            self.gallery.begin()
            self.create.styles.refresh()
            self.batches.refresh_all()
            self.train.refresh()
            self.queue.model.refresh()
            self.images.retry()
            self.create.references.retry()
            self.create.prompts.count_again()

    def _models_changed(self) -> None:
        if self.library.listed:
            self.create.models.use(self.library.models)

    def _trashed(self, paths: tuple[str, ...]) -> None:
        for path in paths:
            self.create.preview.forget_result(path)

    def _untrashed(self, paths: tuple[str, ...]) -> None:
        for path in paths:
            self.create.preview.bring_back(path)

    def _engine_changed(self) -> None:
        if self.engine.state() == "ready":
            self.library.invalidate_plans()
            self.batch.changed.emit()  # the number of GPUs may have changed

    def _queue_changed(self) -> None:
        if self.runner.state == "elsewhere":
            self.gallery.rescan_if_needed()

    def _unhandled(self, error: Exception) -> None:
        self.message.emit(str(error) or type(error).__name__)
