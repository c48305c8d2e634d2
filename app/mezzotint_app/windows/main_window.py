"""The main window: navigation rail, pages, and status bar, with the connections between them."""

import base64
import contextlib

from PySide6.QtCore import QByteArray, QEvent, QMimeData, QSize, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDesktopServices,
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QKeySequence,
    QShortcut,
)
from PySide6.QtWidgets import QHBoxLayout, QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from mezzotint.library_protocol import ModelCard
from mezzotint.protocol import GenerateRequest
from mezzotint.training_protocol import TrainingRunInfo
from mezzotint_app.program import Program
from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.dropped.data import can_hold, drop_data
from mezzotint_app.viewmodel.models.cards import dragged_lora, is_for
from mezzotint_app.viewmodel.models.found import found_words
from mezzotint_app.widgets.navigation import Navigation
from mezzotint_app.widgets.notice_bar import NoticeBar
from mezzotint_app.widgets.notice_column import NoticeColumn
from mezzotint_app.widgets.status_line import StatusLine
from mezzotint_app.windows.batch.page import BatchPage
from mezzotint_app.windows.canvas.page import CanvasPage
from mezzotint_app.windows.create.page import CreatePage
from mezzotint_app.windows.dialogs import Dialogs
from mezzotint_app.windows.engine_notice import EngineNotice
from mezzotint_app.windows.first_run import FirstRun
from mezzotint_app.windows.first_size import first_size
from mezzotint_app.windows.gallery.page import GalleryPage
from mezzotint_app.windows.gallery.trash_notice import TrashNotice
from mezzotint_app.windows.image_actions import ImageActions
from mezzotint_app.windows.layout_persistence import LayoutPersistence
from mezzotint_app.windows.librarian_notice import LibrarianNotice
from mezzotint_app.windows.models.page import ModelsPage
from mezzotint_app.windows.queue.page import QueuePage
from mezzotint_app.windows.queue.paused_notice import PausedNotice
from mezzotint_app.windows.status import Status
from mezzotint_app.windows.train.page import TrainPage

CREATE, QUEUE, GALLERY, MODELS, BATCH, TRAIN, CANVAS, FIRST_RUN = range(8)
_SMALLEST = QSize(880, 560)
_USUAL = QSize(1280, 840)
_MOST_NOTICES = 6  # shown at once; only the latest are kept
_LONGEST_NOTICE = 2000  # total characters of all notices
_SETTLED = 500  # milliseconds after a move or resize until the geometry is stored


class MainWindow(QMainWindow):
    """Shows a Program."""

    closing = Signal()  # the user closes the window; the receiver decides what to do with running work

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program = program
        self.setWindowTitle("Mezzotint")
        self.setWindowIcon(icon("mezzotint"))
        self.setMinimumSize(_SMALLEST)
        self.setAcceptDrops(True)
        self._leaving = self._closed = False
        self._make_pages()
        self._build()
        self.dialogs = Dialogs(program, self)
        self.image_actions = ImageActions(program, self)
        self.status = Status(program, self.line, self)
        self._connect_pages()
        self._connect_window()
        self._place()

    # ---- display

    def show_page(self, number: int) -> None:
        """Show a page and give it the focus."""
        self.pages.setCurrentIndex(number)
        self.engine_notice.set_setup_elsewhere(number == FIRST_RUN)
        if number < FIRST_RUN:
            self.rail.choose(number)
            self.program.window_state.change(page=number)
        # No focus proxies: Tab would go from the rail to the proxy, skipping everything before it.
        to_page = (
            self.create_page.focus_first,
            self.queue_page.focus_first,
            self.gallery_page.focus_first,
            self.models_page.focus_first,
            self.batch_page.focus_first,
            self.train_page.focus_first,
            self.canvas_page.focus_first,
            self.first_run.focus_first,
        )
        to_page[number]()

    def show_notice(self, text: str) -> None:
        """Show a notice until the user closes it."""
        before = [one for one in self.notice.text().split("\n") if one and one not in text.split("\n")]
        self.notice.show_text("\n".join([*before, text][-_MOST_NOTICES:])[-_LONGEST_NOTICE:])

    def remove_notice(self, text: str) -> None:
        """Remove a notice that no longer applies."""
        self.notice.show_text("\n".join(one for one in self.notice.text().split("\n") if one not in text.split("\n")))

    def raise_window(self) -> None:
        """Raise the window above all others, as Mezzotint was started again."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    # ---- setup

    def _make_pages(self) -> None:
        program = self.program
        self.create_page = CreatePage(program.create, program.thumbnails, program.pool, engine=program.engine_state)
        self.create_page.footer.put_over_generate(PausedNotice(program.queue))
        self.create_page.result.add_notice(TrashNotice(program.gallery.trash))
        self.queue_page = QueuePage(program.queue)
        self.gallery_page = GalleryPage(program.gallery)
        self.models_page = ModelsPage(program.library, program.cards, program.thumbnails)
        self.batch_page = BatchPage(program.batch)
        self.train_page = TrainPage(program.train)
        self.canvas_page = CanvasPage(program.canvas)
        self.first_run = FirstRun(program.setup)
        self.pages = QStackedWidget()
        self.kept = LayoutPersistence(program.window_state, self)
        for page in (
            self.create_page,
            self.queue_page,
            self.gallery_page,
            self.models_page,
            self.batch_page,
            self.train_page,
            self.canvas_page,
            self.first_run,
        ):
            self.kept.follow(page)
            self.pages.addWidget(page)

    def _build(self) -> None:
        self.rail = Navigation(
            (
                ("create", self.tr("Create")),
                ("queue", self.tr("Queue")),
                ("gallery", self.tr("Gallery")),
                ("models", self.tr("Models")),
                ("batch", self.tr("Batch")),
                ("train", self.tr("Train")),
                ("canvas", self.tr("Canvas")),
            )
        )
        self.notice = NoticeBar("info", "text", closable=True)
        self.engine_notice = EngineNotice(self.program.engine_state, self.program.setup)
        self.librarian_notice = LibrarianNotice(self.program.librarian)
        self.line = StatusLine()
        notices = NoticeColumn(self.engine_notice, self.librarian_notice, self.notice)
        column = QVBoxLayout()
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(notices)
        column.addWidget(self.pages, 1)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.rail)
        row.addLayout(column, 1)
        whole = QVBoxLayout()
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addLayout(row, 1)
        whole.addWidget(self.line)
        content = QWidget()
        content.setLayout(whole)
        self.setCentralWidget(content)

    def _connect_pages(self) -> None:
        dialogs = self.dialogs
        self.rail.chosen.connect(self.show_page)
        self.rail.settings_asked.connect(dialogs.settings)
        self.rail.help_asked.connect(dialogs.keys)
        self.create_page.message.connect(self.line.show_message)
        self.create_page.copied.connect(self.line.show_message)
        self.create_page.save_wanted.connect(dialogs.save_as_job)
        self.create_page.styles_wanted.connect(dialogs.styles)
        self.create_page.grid_wanted.connect(dialogs.grid)
        self.create_page.open_full_screen.connect(lambda paths, index: dialogs.view(list(paths), index))
        self.create_page.show_settings_of.connect(dialogs.settings_of_image)
        self.create_page.result.menu_opening.connect(self.image_actions.add_to)
        self.create_page.result.canvas_wanted.connect(self._open_in_canvas)
        self.queue_page.edit_again.connect(self._edit_again)
        self.queue_page.create_asked.connect(lambda: self.show_page(CREATE))
        self.queue_page.open_full_screen.connect(dialogs.view)
        self.queue_page.message.connect(self.line.show_message)
        self.gallery_page.show_settings_of.connect(dialogs.settings_of_image)
        self.gallery_page.use_as_input.connect(self._use_image)
        self.gallery_page.edit_image.connect(self._edit_image)
        self.gallery_page.style_asked.connect(dialogs.save_style_of_image)
        self.gallery_page.open_in_canvas.connect(self._open_in_canvas)
        self.gallery_page.open_full_screen.connect(dialogs.view)
        dialogs.viewed.connect(self.gallery_page.show_image)
        self.gallery_page.compare.connect(dialogs.compare)
        self.gallery_page.remix_asked.connect(self.program.again.remix)
        self.gallery_page.variations_asked.connect(self.program.again.vary)
        self.gallery_page.other_model_asked.connect(self.image_actions.choose_model)
        self.image_actions.message.connect(self.line.show_message)
        self.program.again.loaded.connect(lambda: self.show_page(CREATE))
        self.gallery_page.create_asked.connect(lambda: self.show_page(CREATE))
        self.gallery_page.message.connect(self.line.show_message)
        self.canvas_page.message.connect(self.line.show_message)
        self.create_page.sections.image_input.canvas_wanted.connect(self._paint_init_image)
        self.program.canvas.generation.handed_over.connect(lambda: self.show_page(CREATE))
        self.models_page.use_asked.connect(self._use_model)
        self.models_page.get_asked.connect(dialogs.get_model)
        self.models_page.quantize_asked.connect(dialogs.quantize)
        self.models_page.places_asked.connect(dialogs.places)
        self.models_page.reveal_asked.connect(self.program.gallery.reveal.show)
        self.models_page.lora_asked.connect(self._add_lora)
        self.models_page.picture_asked.connect(lambda card, model: dialogs.make_picture(card, model))
        self.create_page.sections.loras.browse_wanted.connect(dialogs.loras)
        dialogs.lora_chosen.connect(self._add_lora)
        self.batch_page.message.connect(self._batch_told)
        self.batch_page.grid_asked.connect(lambda path: dialogs.view([path], 0))
        self.batch_page.folder_asked.connect(self._open_folder)
        self.batch_page.log_asked.connect(dialogs.batch_log)
        self.train_page.folder_asked.connect(self._open_folder)
        self.train_page.open_full_screen.connect(dialogs.view)
        self.program.train.noticed.connect(self.show_notice)
        self.program.train.use_asked.connect(self._use_lora)
        self.program.train.finished.connect(lambda name, words: self.line.show_message(f"{name}: {words}"))
        dialogs.applied.connect(lambda: self.show_page(CREATE))
        dialogs.batch_wanted.connect(lambda: self.show_page(BATCH))
        self.first_run.make_asked.connect(self._first_image)
        self.first_run.skipped.connect(lambda: self._first_run_over(CREATE))
        self.first_run.add_folder_asked.connect(self._first_folder)
        self.first_run.get_asked.connect(self._first_model)

    def _connect_window(self) -> None:
        program = self.program
        program.message.connect(self.show_notice)
        program.library.message.connect(self._models_told)
        program.create.styles.message.connect(self.line.show_message)
        program.picture_maker.message.connect(self.line.show_message)
        program.create.styles.saved.connect(lambda name: self.line.show_message(self._saved_style().format(name=name)))
        program.library.found.connect(lambda found: self.line.show_message(found_words(found)))
        program.resolved.connect(self.remove_notice)
        program.images.message.connect(self.show_notice)
        program.dropped.message.connect(self.show_notice)
        program.gallery.reveal.open_folder.connect(self._open_folder)
        program.queue.reveal.open_folder.connect(self._open_folder)
        self.engine_notice.log_asked.connect(self.dialogs.log)
        self.engine_notice.setup_asked.connect(self._show_setup)
        program.setup.restart_wanted.connect(self._restart)
        self.line.engine_asked.connect(self._engine_asked)
        self.line.queue_asked.connect(lambda: self.show_page(QUEUE))
        for keys, act in (("Ctrl+L", self.dialogs.log), ("Ctrl+Q", self.close), ("Ctrl+V", self._paste)):
            QShortcut(QKeySequence(keys), self, act)
        self._settling = QTimer(self)
        self._settling.setSingleShot(True)
        self._settling.setInterval(_SETTLED)
        self._settling.timeout.connect(self._keep_place)

    def _engine_asked(self) -> None:
        if self.program.setup.lacks_engine():
            self._show_setup()
        else:
            self.dialogs.log()

    def _show_setup(self) -> None:
        if self.program.setup.lacks_engine():
            self.show_page(FIRST_RUN)
        else:
            self.dialogs.engine_settings()

    def _restart(self) -> None:
        self.program.start_again = True
        self.leave()

    def _saved_style(self) -> str:
        return self.tr("Style {name} saved")

    def _open_folder(self, path: str) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(path))

    # ---- between pages

    def _batch_told(self, text: str) -> None:
        """Show a problem with a batch, or the result of loading or saving a job file."""
        if self.pages.currentIndex() == BATCH:
            self.show_notice(text)
        else:
            self.line.show_message(text)

    def _models_told(self, text: str) -> None:
        """Show a message about models, unless the Models page shows it itself."""
        if self.pages.currentIndex() != MODELS:
            self.show_notice(text)

    def _use_model(self, identity: str) -> None:
        self.program.create.chosen.set_model(identity)
        self.show_page(CREATE)

    def _use_lora(self, path: str, info: TrainingRunInfo) -> None:
        self.program.create.use_lora(path, info.request.model.id, info.request.trigger)
        self.show_page(CREATE)

    def _add_lora(self, card: ModelCard) -> None:
        create, before = self.program.create, self.program.create.chosen.info()
        fitting = create.models.fitting(card, before)
        if fitting is not None and fitting != before:
            create.chosen.set_model(fitting.id)
            self.line.show_message(
                self.tr("{model} was chosen, which {name} is for.").format(model=fitting.id, name=card.name)
            )
        elif not is_for(card, before):
            message = self.tr("{name} is for another kind of model ({base}), which is not installed.")
            self.line.show_message(message.format(name=card.name, base=card.base))
        create.add_lora(card.path, card.trigger_words, card.weight)
        self.create_page.sections.reveal("loras")
        self.show_page(CREATE)

    def _use_image(self, path: str) -> None:
        self.program.images.set_image(path)
        self.show_page(CREATE)

    def _edit_image(self, path: str) -> None:
        if self.program.create.edit_image(path):
            self.show_page(CREATE)

    def _open_in_canvas(self, path: str) -> None:
        self.show_page(CANVAS)
        self.program.canvas.add_image(path)

    def _paint_init_image(self) -> None:
        self.show_page(CANVAS)
        self.canvas_page.open_init_image()

    def _edit_again(self, request: GenerateRequest) -> None:
        self.program.create.apply_request(request)
        self.show_page(CREATE)

    def _first_image(self, prompt: str) -> None:
        self._first_run_over(CREATE)
        self.program.create.prompts.set_prompt(prompt)
        self.program.create.generate()

    def _first_folder(self) -> None:
        self._first_run_over(MODELS)
        self.models_page.add_folder()

    def _first_model(self) -> None:
        self._first_run_over(MODELS)
        self.dialogs.get_model()

    def _first_run_over(self, page: int) -> None:
        self.program.settings.change(first_run_done=True)
        self.rail.setVisible(True)
        self.show_page(page)

    # ---- drag and drop, clipboard

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802, D102
        if can_hold(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802, D102
        event.acceptProposedAction()
        lora = dragged_lora(event.mimeData())
        card = None if lora is None else self.program.cards.card(lora[0])
        if card is not None:
            self._add_lora(card)
        elif not self._to_canvas(event.mimeData()):
            self.program.dropped.take(drop_data(event.mimeData()))

    def _to_canvas(self, data: QMimeData) -> bool:
        return self.pages.currentIndex() == CANVAS and self.canvas_page.take(data)

    def _paste(self) -> None:
        data = QGuiApplication.clipboard().mimeData()
        if data is not None and can_hold(data) and not self._to_canvas(data):
            self.program.dropped.take(drop_data(data))

    # ---- geometry and closing

    def _place(self) -> None:
        state = self.program.window_state.value()
        screen = self.screen()
        self.resize(first_size(_USUAL, _SMALLEST, screen.availableGeometry().size() if screen else _USUAL))
        if state.geometry:
            with contextlib.suppress(ValueError):  # invalid stored data must not keep the window from opening
                self.restoreGeometry(QByteArray(base64.b64decode(state.geometry, validate=False)))
        if not self.program.settings.value().first_run_done:
            self.rail.setVisible(False)
            self.show_page(FIRST_RUN)
            return
        self.show_page(state.page if CREATE <= state.page < FIRST_RUN else CREATE)

    def _keep_place(self) -> None:
        self.kept.keep()
        geometry = base64.b64encode(bytes(self.saveGeometry().data())).decode("ascii")
        self.program.window_state.change(geometry=geometry, maximized=self.isMaximized())

    def event(self, event: QEvent) -> bool:
        """Schedule storing the geometry after a move or resize."""
        if event.type() in (QEvent.Type.Move, QEvent.Type.Resize) and hasattr(self, "_settling"):
            self._settling.start()
        return super().event(event)

    def leave(self) -> None:
        """Close without asking."""
        self._leaving = True
        self.close()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802, D102
        # At logout the user is not asked: remaining work waits for the next start.
        if self._leaving or _is_saving_session() or not self._work_left():
            self._keep_place()
            event.accept()
            if not self._closed:
                self._closed = True
                self.closing.emit()
            return
        event.ignore()
        self.dialogs.leave(lambda: QTimer.singleShot(0, self.leave))  # closing from within closeEvent has no effect

    def _work_left(self) -> bool:
        return self.program.queue.summary.work_left() or self.program.batches.work_left()


def _is_saving_session() -> bool:
    """Whether the desktop session is ending."""
    application = QGuiApplication.instance()
    return isinstance(application, QGuiApplication) and application.isSavingSession()
