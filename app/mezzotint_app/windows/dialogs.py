"""Opens the dialogs; each exists only once."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QDialog, QFileDialog, QWidget

from mezzotint.library_protocol import ModelCard, Style
from mezzotint.protocol import ImageMetadata, ModelInfo
from mezzotint_app.program import Program
from mezzotint_app.viewmodel.batch.grid import GridModel
from mezzotint_app.viewmodel.create.state import with_lora
from mezzotint_app.viewmodel.dropped.differences import DifferencesModel, What
from mezzotint_app.viewmodel.dropped.folder_of_images import Images
from mezzotint_app.viewmodel.dropped.settings_text import request_of
from mezzotint_app.viewmodel.gallery.comparison import ComparisonModel
from mezzotint_app.viewmodel.gallery.viewer import ViewerModel
from mezzotint_app.viewmodel.gallery.viewer_keeping import ViewerKeeping
from mezzotint_app.viewmodel.models.get_model import GetModel
from mezzotint_app.viewmodel.models.hub_search import HubSearchModel
from mezzotint_app.windows.batch.log_dialog import BatchLogDialog
from mezzotint_app.windows.create.grid_dialog import GridDialog
from mezzotint_app.windows.differences_dialog import DifferencesDialog
from mezzotint_app.windows.dropped_questions import DroppedQuestions
from mezzotint_app.windows.gallery.compare_window import CompareWindow
from mezzotint_app.windows.gallery.viewer import Viewer
from mezzotint_app.windows.log_dialog import LogDialog
from mezzotint_app.windows.models.get_model_dialog import GetModelDialog
from mezzotint_app.windows.models.lora_browser import LoraBrowser
from mezzotint_app.windows.models.lora_dialog import LoraDialog
from mezzotint_app.windows.models.model_folders_dialog import ModelFoldersDialog
from mezzotint_app.windows.models.quantize_dialog import QuantizeDialog
from mezzotint_app.windows.quit_dialog import QuitDialog
from mezzotint_app.windows.settings_dialog import SettingsDialog
from mezzotint_app.windows.shortcuts_dialog import ShortcutsDialog
from mezzotint_app.windows.styles.save_style_dialog import SaveStyleDialog
from mezzotint_app.windows.styles.styles_dialog import StylesDialog


class Dialogs(QObject):
    """Everything that opens above the window.

    The view model of a dialog belongs to the dialog, and lives on until its last request is answered.
    """

    applied = Signal()  # an image's settings were applied to the Create page
    lora_chosen = Signal(object)  # ModelCard
    batch_wanted = Signal()  # something was loaded into the Batch page
    viewed = Signal(str)  # path of the image last shown in full screen

    def __init__(self, program: Program, window: QWidget) -> None:
        super().__init__(window)
        self._program, self._window = program, window
        self._open: dict[str, QDialog] = {}
        self._viewer: Viewer | None = None
        self._comparing: CompareWindow | None = None
        self._keeping: ViewerKeeping | None = None
        self.questions = DroppedQuestions(program.dropped, window)
        self.questions.model_accepted.connect(program.library.add_folder)
        self.questions.lora_accepted.connect(self._add_lora)
        self.questions.batch_accepted.connect(self._batch)
        self.questions.folder_accepted.connect(self._batch_of_folder)
        program.dropped.job.connect(self._open_job)
        program.dropped.show_differences.connect(self.settings_of_image)
        program.dropped.pasted.connect(program.images.paste)

    def settings(self) -> None:
        """Show the settings of the application."""
        info = self._program.engine.info()
        self._show(
            "settings",
            lambda: SettingsDialog(
                self._program.settings,
                self._program.output_folders,
                info.devices if info is not None else (),
                self._program.create.prompts.forget,
                self._window,
                setup=self._program.setup,
            ),
        )

    def engine_settings(self) -> None:
        """Show the settings of the engine's installation."""
        self.settings()
        dialog = self._open["settings"]
        if isinstance(dialog, SettingsDialog):
            dialog.show_engine()

    def keys(self) -> None:
        """Show the keyboard shortcuts."""
        self._show("keys", lambda: ShortcutsDialog(self._window))

    def log(self) -> None:
        """Show the engine's state and log."""
        self._show("log", self._make_log)

    def batch_log(self, title: str, lines: Sequence[str]) -> None:
        """Show the output of a batch's last run."""
        self._show("batch-log", lambda: BatchLogDialog(title, lines, self._window), replace=True)

    def save_as_job(self) -> None:
        """Save the settings of the Create page as a job file."""
        program = self._program
        dialog = QFileDialog(self._window, self.tr("Save job file"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters([self.tr("Job files") + " (*.toml)"])
        dialog.setDefaultSuffix("toml")
        dialog.fileSelected.connect(lambda path: program.batch.save_request(program.create.request(), path))
        self._show("save-job", lambda: dialog, replace=True)

    def styles(self) -> None:
        """Show all styles."""
        self._show("styles", self._make_styles)

    def save_style(self) -> None:
        """Save the settings of the Create page as a style, with its latest image as picture."""
        create = self._program.create
        made = create.preview.results()
        picture = made[0].path if made else None
        create.styles.draft(create.request(styled=False), lambda draft: self._save_style(draft, picture))

    def save_style_of_image(self, path: str) -> None:
        """Save the settings of an image as a style, with it as picture."""
        styles = self._program.create.styles

        def read(metadata: ImageMetadata) -> None:
            styles.draft(request_of(metadata), lambda draft: self._save_style(draft, path))

        self._program.librarian.ask(
            "metadata",
            {"path": path},
            answer=ImageMetadata,
            then=read,
            failed=lambda failure: styles.message.emit(failure.message),
        )

    def loras(self) -> None:
        """Show the LoRAs beside the window."""
        self._show("loras", self._make_loras)

    def make_picture(self, card: ModelCard, model: str) -> None:
        """Generate the picture of a model, or of a LoRA if no model is named."""
        self._program.picture_maker.make(card, model or None)

    def grid(self) -> None:
        """Vary settings of the Create page in a grid of images."""
        program = self._program
        draws, settings = program.create.prompts.draws, program.settings
        model = GridModel(
            program.create.request,
            lambda prompt: settings.value().wildcard_folder if draws.draws(prompt) else "",
        )
        dialog = GridDialog(model, self._window)
        dialog.wanted.connect(program.batch.begin_grid)
        dialog.wanted.connect(lambda _job, _title: self.batch_wanted.emit())
        self._show("grid", lambda: dialog, replace=True)

    def places(self) -> None:
        """Show the model folders."""
        self._show("places", lambda: ModelFoldersDialog(self._program.library, self._window))

    def get_model(self) -> None:
        """Download a model from the list or the hub."""
        self._show("get", self._make_get_model)

    def quantize(self, identity: str) -> None:
        """Create a quantized copy of a model."""
        model = self._program.library.model(identity)
        if model is not None:
            self._show("quantize", lambda: self._make_quantize(model))

    def settings_of_image(self, path: str) -> None:
        """Compare an image's settings with the current ones."""
        program = self._program
        model = DifferencesModel(program.librarian, program.create.request, program.create.models.all)
        dialog = DifferencesDialog(model, program.pixels, self._window)
        model.apply_wanted.connect(self._apply)
        model.use_as_input.connect(program.images.set_image)
        model.use_as_input.connect(lambda _path: self.applied.emit())
        model.set_current(path)
        self._show("differences", lambda: dialog, replace=True)

    def view(self, paths: list[str], index: int) -> None:
        """Show images in the full-screen viewer."""
        self._the_viewer().open_at(paths, index)

    def compare(self, paths: list[str]) -> None:
        """Compare two to four images side by side."""
        if self._comparing is None:
            program = self._program
            model = ComparisonModel(program.librarian, program.pool, self, rating_of=program.gallery.model.rating_of)
            model.star_wanted.connect(self._keeper().rate)
            self._comparing = CompareWindow(model, pool=program.pool)
        self._comparing.open(paths)

    def leave(self, then: Callable[[], None]) -> None:
        """Decide, or ask, what happens to remaining work when the window is closed."""
        choice = self._program.settings.value().when_closed
        batch = self._program.batches.work_left()
        if choice == "ask" or (choice == "go_on" and batch):
            dialog = QuitDialog(self._window, batch=batch, queue=self._program.queue.summary.work_left())
            dialog.continue_in_background.connect(lambda: self._hand_over(then))
            dialog.stop.connect(lambda: self._stop(then))
            self._show("leaving", lambda: dialog, replace=True)
        elif choice == "go_on":
            self._hand_over(then)
        else:
            self._stop(then)

    # ---- creation

    def _make_loras(self) -> LoraDialog:
        program = self._program
        browser = LoraBrowser(program.cards, program.thumbnails, "loras-dialog")
        browser.use_asked.connect(self.lora_chosen)
        browser.picture_asked.connect(lambda card: self.make_picture(card, ""))
        program.cards.refresh_loras()
        return LoraDialog(browser, self._window)

    def _make_styles(self) -> StylesDialog:
        dialog = StylesDialog(self._program.create, self._program.thumbnails, self._window)
        dialog.save_asked.connect(self.save_style)
        return dialog

    def _save_style(self, draft: Style, picture: str | None) -> None:
        styles = self._program.create.styles

        def save(style: Style, replaces: bool, failed: Callable[[str], None]) -> None:
            styles.save(style, replaces=replaces, failed=failed)

        dialog = SaveStyleDialog(replace(draft, picture=picture), save, self._window)
        styles.saved.connect(dialog.close_saved)
        self._show("save-style", lambda: dialog, replace=True)

    def _make_log(self) -> LogDialog:
        engine, state = self._program.engine, self._program.engine_state
        dialog = LogDialog(engine.last_log(), self._window)
        dialog.follow(state)
        engine.logged.connect(dialog.add)
        dialog.restart_asked.connect(engine.restart)
        return dialog

    def _make_get_model(self) -> GetModelDialog:
        program = self._program
        get = GetModel(program.librarian, program.library, program.settings.value().hub_endpoint)
        hub = HubSearchModel(program.librarian, program.settings, get)
        return GetModelDialog(get, hub, self._largest_card(), self._window)

    def _largest_card(self) -> int | None:
        """Bytes of the largest GPU's memory; None if there is none."""
        info = self._program.engine.info()
        cards = [device.memory_bytes for device in (info.devices if info else ()) if device.id != "cpu"]
        return max(cards, default=None)

    def _make_quantize(self, model: ModelInfo) -> QuantizeDialog:
        dialog = QuantizeDialog(model, self._largest_card(), self._window)
        library = self._program.library
        dialog.accepted.connect(lambda: library.quantize(dialog.request()))
        return dialog

    def _the_viewer(self) -> Viewer:
        self._keeper()
        if self._viewer is None:
            raise AssertionError("there is no viewer")
        return self._viewer

    def _keeper(self) -> ViewerKeeping:
        """What saves stars; it comes with the viewer."""
        if self._keeping is None:
            program = self._program
            model = ViewerModel(program.librarian, program.pool, self, rating_of=program.gallery.model.rating_of)
            self._keeping = ViewerKeeping(model, program.librarian, program.gallery.trash)
            self._keeping.changed.connect(program.gallery.model.refresh)
            self._keeping.failed.connect(model.message)
            self._viewer = Viewer(model, pool=program.pool)
            self._viewer.variations_asked.connect(lambda path: program.again.vary([path]))
            self._viewer.closed.connect(self.viewed)
            program.again.message.connect(model.message)
        return self._keeping

    def _show(self, name: str, make: Callable[[], QDialog], *, replace: bool = False) -> None:
        """Show the dialog of this name, or raise it if it is open; with `replace`, replace an open one."""
        dialog = self._open.get(name)
        if dialog is not None and replace:
            dialog.close()
            dialog = None
        if dialog is None:
            dialog = self._open[name] = make()
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            dialog.finished.connect(lambda _result, gone=dialog: self._forget(name, gone))
        dialog.show()
        dialog.raise_()
        dialog.activateWindow()

    def _forget(self, name: str, dialog: QDialog) -> None:
        if self._open.get(name) is dialog:
            del self._open[name]

    # ---- results

    def _apply(self, metadata: ImageMetadata, what: What) -> None:
        self._program.create.apply_metadata(metadata, what)
        self.applied.emit()

    def _add_lora(self, path: str) -> None:
        chosen = self._program.create.chosen
        chosen.change(loras=with_lora(chosen.settings().loras, path))
        self.applied.emit()

    def _batch(self, images: Images) -> None:
        self._program.create.generate_batch(images)

    def _batch_of_folder(self, images: Images) -> None:
        is_deep = any(Path(path).parent != Path(images.folder) for path in images.paths)
        self._program.batch.use_folder(images.folder)
        self._program.batch.change(recursive=is_deep)
        self.batch_wanted.emit()

    def _open_job(self, path: str) -> None:
        self._program.batch.open_job(path)
        self.batch_wanted.emit()

    def _stop(self, then: Callable[[], None]) -> None:
        """Close and pause the queue, which then only resumes when the user asks for it, not at the next start."""
        if self._program.queue.summary.work_left():
            self._program.runner.pause()
        then()

    def _hand_over(self, then: Callable[[], None]) -> None:
        self._program.continue_in_background = True
        then()
