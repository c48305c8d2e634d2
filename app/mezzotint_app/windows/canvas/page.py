"""The Canvas page: paint, generate into a frame, and choose among what was generated."""

from collections.abc import Callable

from PySide6.QtCore import QMimeData, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QImage, QKeyEvent, QKeySequence, QPainterPath
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QInputDialog, QScrollArea, QVBoxLayout, QWidget

from mezzotint_app.viewmodel.canvas.canvas import CanvasModel
from mezzotint_app.viewmodel.dropped.folder_of_images import SUFFIXES
from mezzotint_app.widgets.canvas.canvas_input import Canvas
from mezzotint_app.widgets.confirm import confirm
from mezzotint_app.windows.canvas.candidates_bar import CandidatesBar
from mezzotint_app.windows.canvas.generate_bar import GenerateBar
from mezzotint_app.windows.canvas.generate_panel import GeneratePanel
from mezzotint_app.windows.canvas.layers_panel import LayersPanel
from mezzotint_app.windows.canvas.toolbar import CanvasToolbar

_READ = (".ora", *SUFFIXES)
_SIDE = 300  # pixels of the column on the right
_SENTENCE = 440  # pixels of a dialog that asks for a sentence


class CanvasPage(QWidget):
    """The canvas, with tools above it, and layers and generation beside it."""

    message = Signal(str)

    def __init__(self, model: CanvasModel) -> None:
        super().__init__()
        self._model = model
        self.canvas = Canvas(model.document, model.tools)
        self.toolbar = CanvasToolbar(self.canvas, model.document, model.tools)
        self.layers = LayersPanel(model)
        self.generate = GeneratePanel(model.generation)
        self.bar = GenerateBar(model.generation)
        self.candidates = CandidatesBar(model)
        self._build()
        self._add_keys()
        self.toolbar.open_asked.connect(self.ask_open)
        self.toolbar.save_asked.connect(self.ask_save)
        self.toolbar.create_asked.connect(model.generation.hand_over)
        self.toolbar.region_asked.connect(self.ask_region)
        self.toolbar.mask_asked.connect(model.mask_selection)
        self.toolbar.clear_asked.connect(lambda: self._unless_unsaved(model.clear))
        for done in (self.candidates.accept, self.candidates.discard):
            done.clicked.connect(self._leave_candidates)
        self.layers.chosen.connect(self.canvas.setFocus)  # its keys choose tools again
        model.candidates.changed.connect(self._enable_keys)
        self._enable_keys()
        model.overlay_changed.connect(lambda: self.canvas.show_overlay(model.overlay()))
        model.message.connect(self.message)
        model.shown.connect(self.canvas.show_part)

    def focus_first(self) -> None:
        """Give the focus to the canvas."""
        self.canvas.setFocus()

    def sizeHint(self) -> QSize:  # noqa: N802  Qt's name
        """Room for the canvas and the column."""
        return QSize(960, 640)

    def _build(self) -> None:
        column = QWidget()
        inside = QVBoxLayout(column)
        inside.setContentsMargins(12, 12, 12, 12)
        inside.setSpacing(16)
        inside.addWidget(self.layers, 1)
        inside.addWidget(self.generate)
        side = QScrollArea()
        side.setWidget(column)
        side.setWidgetResizable(True)
        side.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # a click beside its controls leaves the focus on the canvas
        side.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        side.setAccessibleName(self.tr("Layers and generation"))
        right = QWidget()
        right.setFixedWidth(_SIDE)
        below = QVBoxLayout(right)
        below.setContentsMargins(0, 0, 0, 0)
        below.setSpacing(0)
        below.addWidget(side, 1)
        below.addWidget(self.bar)
        middle = QVBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(self.canvas, 1)
        middle.addWidget(self.candidates)
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addLayout(middle, 1)
        row.addWidget(right)
        page = QVBoxLayout(self)
        page.setContentsMargins(0, 0, 0, 0)
        page.setSpacing(0)
        page.addWidget(self.toolbar)
        page.addLayout(row, 1)

    def _add_keys(self) -> None:
        model, candidates = self._model, self._model.candidates
        for key, act in (
            ("Ctrl+Return", model.generation.generate),
            ("Ctrl+O", self.ask_open),
            ("Ctrl+S", self.ask_save),
            ("Ctrl+Z", model.document.undo),
            ("Ctrl+Shift+Z", model.document.redo),
            ("Ctrl+Y", model.document.redo),
            ("Ctrl+A", self._select_frame),
            ("Ctrl+D", lambda: model.document.select(QPainterPath())),
            ("Ctrl+Shift+I", model.document.select_rest),
        ):
            self._add_key(self, key, act)
        of_candidates: tuple[tuple[str, Callable[[], object]], ...] = (
            ("PgUp", lambda: candidates.step(-1)),
            ("PgDown", lambda: candidates.step(1)),
            ("X", lambda: candidates.show_before(candidates.shown() is not None)),
            ("Shift+Return", model.accept),
        )
        self._of_candidates = [self._add_key(self, key, act) for key, act in of_candidates]
        self._add_key(self.canvas, "Del", self._delete).setShortcutContext(Qt.ShortcutContext.WidgetShortcut)

    def _add_key(self, where: QWidget, key: str, act: Callable[[], object]) -> QAction:
        action = QAction(where)
        action.setShortcut(QKeySequence(key))
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        action.triggered.connect(lambda _checked=False: act())
        where.addAction(action)
        return action

    def _enable_keys(self) -> None:
        """Leave keys to lists and the like while there are no candidates."""
        for action in self._of_candidates:
            action.setEnabled(self._model.candidates.current() is not None)

    def _leave_candidates(self) -> None:
        """Give the focus to the canvas once the bar with the button is gone."""
        if self.candidates.isHidden():
            self.canvas.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Keys of tools and zoom work wherever the focus is, if nothing there needs them."""
        if not self.canvas.command(event.text().lower()):
            super().keyPressEvent(event)

    def _delete(self) -> None:
        """Discard the candidate, or else erase what is selected."""
        if self._model.candidates.current() is not None or not self._model.document.erase_selection():
            self._model.candidates.discard()

    def ask_region(self) -> None:
        """Let the user write the prompt of the active mask layer."""
        if not self._model.generation.can_make_region():
            return
        dialog = QInputDialog(self)
        dialog.setWindowTitle(self.tr("Regional prompt"))
        dialog.setLabelText(self.tr("What the masked part shows"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.textValueSelected.connect(self._model.generation.make_region)
        dialog.resize(_SENTENCE, dialog.sizeHint().height())
        dialog.open()

    def _select_frame(self) -> None:
        path = QPainterPath()
        path.addRect(QRectF(self._model.document.frame()))
        self._model.document.select(path)

    # ---- files

    def ask_open(self) -> None:
        """Let the user choose a file to open."""
        dialog = QFileDialog(self, self.tr("Open"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        images = self.tr("Images and OpenRaster")
        dialog.setNameFilters([f"{images} (*{' *'.join(_READ)})"])
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.open_file)
        dialog.open()

    def open_file(self, path: str) -> None:
        """Open a file; an OpenRaster file replaces the canvas."""
        if path.lower().endswith(".ora"):
            self._unless_unsaved(lambda: self._model.open_file(path))
        else:
            self._model.open_file(path)

    def open_init_image(self) -> None:
        """Begin with the init image of the Create page."""
        self._unless_unsaved(self._model.open_init_image)

    def take(self, data: QMimeData) -> bool:
        """Open what was dropped or pasted; returns False if it is no image."""
        paths = [url.toLocalFile() for url in data.urls() if url.isLocalFile()]
        images = [path for path in paths if path.lower().endswith(_READ)]
        for path in images:
            self.open_file(path)
        if not images and data.hasImage():
            self._model.paste(QImage(data.imageData()))
        return bool(images) or data.hasImage()

    def ask_save(self) -> None:
        """Let the user choose where to save."""
        dialog = QFileDialog(self, self.tr("Save as"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        all_layers, picture = self.tr("All layers: OpenRaster"), self.tr("The picture: PNG")
        filters = {f"{all_layers} (*.ora)": "ora", f"{picture} (*.png)": "png"}
        dialog.setNameFilters(list(filters))
        dialog.setDefaultSuffix("ora")
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(filters.get(chosen, "ora")))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self._model.save_file)
        dialog.open()

    def _unless_unsaved(self, act: Callable[[], None]) -> None:
        if self._model.is_saved():
            act()
            return
        title, words = self.tr("New canvas"), self.tr("The canvas has not been saved, and would be lost.")
        confirm(self, title, words, self.tr("Discard it"), lambda _do_not_ask: act())
