"""The Canvas page: paint, generate into a frame, and choose among what was generated."""

from collections.abc import Callable

from PySide6.QtCore import QMimeData, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QImage, QKeySequence, QPainterPath
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QInputDialog, QScrollArea, QVBoxLayout, QWidget

from mezzotint_app.viewmodel.canvas.canvas import CanvasModel
from mezzotint_app.widgets.canvas.canvas_input import Canvas
from mezzotint_app.widgets.confirm import confirm
from mezzotint_app.windows.canvas.candidates_bar import CandidatesBar
from mezzotint_app.windows.canvas.generate_panel import GeneratePanel
from mezzotint_app.windows.canvas.layers_panel import LayersPanel
from mezzotint_app.windows.canvas.toolbar import CanvasToolbar

_READ = (".ora", ".png", ".jpg", ".jpeg", ".webp")
_SIDE = 300  # pixels of the column on the right


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
        self.candidates = CandidatesBar(model)
        self._build()
        self._add_keys()
        self.toolbar.open_asked.connect(self.ask_open)
        self.toolbar.save_asked.connect(self.ask_save)
        self.toolbar.create_asked.connect(model.generation.hand_over)
        self.toolbar.region_asked.connect(self.ask_region)
        self.toolbar.mask_asked.connect(model.mask_selection)
        self.toolbar.clear_asked.connect(lambda: self._unless_unsaved(model.clear))
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
        side.setFixedWidth(_SIDE)
        side.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        side.setAccessibleName(self.tr("Layers and generation"))
        middle = QVBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(self.canvas, 1)
        middle.addWidget(self.candidates)
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addLayout(middle, 1)
        row.addWidget(side)
        page = QVBoxLayout(self)
        page.setContentsMargins(0, 0, 0, 0)
        page.setSpacing(0)
        page.addWidget(self.toolbar)
        page.addLayout(row, 1)

    def _add_keys(self) -> None:
        model, candidates = self._model, self._model.candidates
        everywhere, on_canvas = Qt.ShortcutContext.WidgetWithChildrenShortcut, Qt.ShortcutContext.WidgetShortcut
        keys: tuple[tuple[str, Callable[[], object], QWidget, Qt.ShortcutContext], ...] = (
            ("Ctrl+Return", model.generation.generate, self, everywhere),
            ("Ctrl+O", self.ask_open, self, everywhere),
            ("Ctrl+S", self.ask_save, self, everywhere),
            ("Ctrl+Z", model.document.undo, self.canvas, on_canvas),
            ("Ctrl+Shift+Z", model.document.redo, self.canvas, on_canvas),
            ("Ctrl+Y", model.document.redo, self.canvas, on_canvas),
            ("PgUp", lambda: candidates.step(-1), self.canvas, on_canvas),
            ("PgDown", lambda: candidates.step(1), self.canvas, on_canvas),
            ("X", lambda: candidates.show_before(candidates.shown() is not None), self.canvas, on_canvas),
            ("Shift+Return", model.accept, self.canvas, on_canvas),
            ("Del", self._delete, self.canvas, on_canvas),
            ("Ctrl+A", self._select_frame, self.canvas, on_canvas),
            ("Ctrl+D", lambda: model.document.select(QPainterPath()), self.canvas, on_canvas),
            ("Ctrl+Shift+I", model.document.select_rest, self.canvas, on_canvas),
        )
        for key, act, where, context in keys:
            action = QAction(where)
            action.setShortcut(QKeySequence(key))
            action.setShortcutContext(context)
            action.triggered.connect(lambda _checked=False, act=act: act())
            where.addAction(action)

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
