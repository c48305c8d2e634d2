"""The canvas's toolbar: tools with their settings, undo, zoom and files."""

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QColor, QIcon, QKeySequence, QPainter, QPainterPath, QPixmap
from PySide6.QtWidgets import QButtonGroup, QColorDialog, QFrame, QHBoxLayout, QMenu, QSlider, QToolButton, QWidget

from mezzotint_app import theme
from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.canvas.brush import LARGEST, SMALLEST
from mezzotint_app.viewmodel.canvas.document import CanvasDocument
from mezzotint_app.viewmodel.canvas.tools import CanvasTools, Tool
from mezzotint_app.widgets.button_menu import show_menu
from mezzotint_app.widgets.canvas.canvas_input import STEP, Canvas
from mezzotint_app.widgets.flow_layout import FlowLayout
from mezzotint_app.widgets.icon_button import icon_button
from mezzotint_app.widgets.labels import plain_label

_POSITIONS = 200  # of the size slider, each larger than the one before by the same factor
_GROWTH = (LARGEST / SMALLEST) ** (1 / _POSITIONS)


class CanvasToolbar(QFrame):
    """A row above the canvas."""

    open_asked = Signal()
    save_asked = Signal()
    clear_asked = Signal()
    create_asked = Signal()
    region_asked = Signal()
    mask_asked = Signal()  # a mask layer from the selection

    def __init__(self, canvas: Canvas, document: CanvasDocument, tools: CanvasTools) -> None:
        super().__init__()
        self._canvas, self._document, self._tools = canvas, document, tools
        self._buttons: dict[Tool, QToolButton] = {}
        flow = FlowLayout(self, spacing=12)
        flow.setContentsMargins(12, 6, 12, 6)
        for build in (self._build_tools, self._build_settings, self._build_actions):
            group = QWidget()
            self._row = QHBoxLayout(group)
            self._row.setContentsMargins(0, 0, 0, 0)
            self._row.setSpacing(2)
            flow.addWidget(group)
            build()
        tools.changed.connect(self._show)
        document.history_changed.connect(self._show)
        canvas.colour_asked.connect(self._choose_colour)
        self._show()

    def _build_tools(self) -> None:
        group = QButtonGroup(self)
        names: tuple[tuple[Tool, str, str], ...] = (
            ("brush", "brush", self.tr("Brush (B)")),
            ("eraser", "eraser", self.tr("Eraser (E)")),
            ("lasso", "lasso", self.tr("Lasso: fills a free shape; with Ctrl it erases (L)")),
            ("rectangle", "rectangle", self.tr("Rectangle: fills it; with Ctrl it erases (R)")),
            ("fill", "fill", self.tr("Fill an area of similar colour; with Ctrl it erases (G)")),
            ("select", "select", self.tr("Select a rectangle; Shift adds, Ctrl subtracts (M)")),
            ("select_lasso", "select-lasso", self.tr("Select a free shape; Shift adds, Ctrl subtracts (N)")),
            ("picker", "picker", self.tr("Colour picker (I, or Alt with any tool)")),
            ("move", "move", self.tr("Move the layer, or scale it by its handles (V)")),
            ("frame", "crop", self.tr("Frame: where is generated; drag it or its edges, or press elsewhere (F)")),
        )
        for tool, drawing, words in names:
            button = self._buttons[tool] = icon_button(drawing, words, checkable=True)
            button.clicked.connect(lambda _on, tool=tool: self._tools.set_tool(tool))
            button.clicked.connect(self._canvas.setFocus)
            group.addButton(button)
            self._row.addWidget(button)

    def _build_settings(self) -> None:
        tools = self._tools
        self._colour = icon_button("brush", self.tr("Colour (C)"))
        self._colour.clicked.connect(self._choose_colour)
        self._size = _slider(self.tr("Brush size"), "", _POSITIONS)
        self._size.valueChanged.connect(lambda value: tools.set_brush(size=SMALLEST * _GROWTH**value))
        self._hardness = _slider(self.tr("Brush hardness"), self.tr("Brush hardness (Shift+[ and Shift+])"), 100)
        self._hardness.valueChanged.connect(lambda value: tools.set_brush(hardness=value / 100))
        self._opacity = _slider(self.tr("Opacity"), self.tr("Opacity of strokes and fills"), 100)
        self._opacity.valueChanged.connect(lambda value: tools.set_opacity(value / 100))
        self._row.addWidget(self._colour)
        for words, slider in (
            (self.tr("Size"), self._size),
            (self.tr("Hardness"), self._hardness),
            (self.tr("Opacity"), self._opacity),
        ):
            self._row.addSpacing(6)
            self._row.addWidget(plain_label(words))
            self._row.addWidget(slider)

    def _build_actions(self) -> None:
        canvas, document = self._canvas, self._document
        self._undo = self._action("undo", self.tr("Undo"), "Ctrl+Z", document.undo)
        self._redo = self._action("redo", self.tr("Redo"), "Ctrl+Shift+Z", document.redo)
        self._action("zoom-out", self.tr("Zoom out"), "-", lambda: canvas.zoom_by(1 / STEP))
        self._action("zoom-in", self.tr("Zoom in"), "+", lambda: canvas.zoom_by(STEP))
        self._action("fit", self.tr("Show everything"), "0", canvas.fit)
        more = icon_button("more", self.tr("Selection, open, save and clear"))
        menu = QMenu(more)
        self._add_selecting(menu)
        menu.addSeparator()
        for drawing, words, keys, signal in (
            ("open", self.tr("Open…"), "Ctrl+O", self.open_asked),
            ("save", self.tr("Save as…"), "Ctrl+S", self.save_asked),
            ("layers", self.tr("Regional prompt from mask layer…"), "", self.region_asked),
            ("create", self.tr("Use as init image on Create"), "", self.create_asked),
            ("clear", self.tr("New canvas"), "", self.clear_asked),
        ):
            action = menu.addAction(icon(drawing), words)
            action.triggered.connect(lambda _checked=False, signal=signal: signal.emit())
            self._show_keys(action, keys)
        more.clicked.connect(lambda: show_menu(menu, more))
        self._row.addWidget(more)

    def _add_selecting(self, menu: QMenu) -> None:
        document = self._document
        for words, keys, act in (
            (self.tr("Deselect"), "Ctrl+D", lambda: document.select(QPainterPath())),
            (self.tr("Invert selection"), "Ctrl+Shift+I", document.select_rest),
            (self.tr("Mask layer from selection"), "", self.mask_asked.emit),
        ):
            action = menu.addAction(icon("select"), words)
            action.triggered.connect(lambda _checked=False, act=act: act())
            self._show_keys(action, keys)
            document.selection_changed.connect(
                lambda action=action: action.setEnabled(document.selection() is not None)
            )
            action.setEnabled(document.selection() is not None)

    def _show_keys(self, action: QAction, keys: str) -> None:
        if keys:
            action.setShortcut(QKeySequence(keys))
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)  # only shown; the page has the keys

    def _action(self, drawing: str, words: str, keys: str, act: Callable[[], object]) -> QToolButton:
        button = icon_button(drawing, words, shortcut=keys)
        button.clicked.connect(lambda: act())
        self._row.addWidget(button)
        return button

    def _choose_colour(self) -> None:
        dialog = QColorDialog(self._tools.colour(), self)
        dialog.setWindowTitle(self.tr("Colour"))
        dialog.setOption(QColorDialog.ColorDialogOption.DontUseNativeDialog)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.colorSelected.connect(self._tools.set_colour)
        dialog.open()

    def _show(self) -> None:
        tools, brush = self._tools, self._tools.brush()
        self._buttons[tools.tool()].setChecked(True)
        for slider, value in (
            (self._size, _position(brush.size)),
            (self._hardness, round(brush.hardness * 100)),
            (self._opacity, round(tools.opacity() * 100)),
        ):
            slider.blockSignals(True)
            slider.setValue(value)
            slider.blockSignals(False)
        self._size.setToolTip(self.tr("Brush size: {0} px ([ and ])").format(round(brush.size)))
        self._colour.setIcon(_patch(tools.colour()))
        self._undo.setEnabled(self._document.can_undo())
        self._redo.setEnabled(self._document.can_redo())


def _slider(name: str, tooltip: str, most: int) -> QSlider:
    slider = QSlider(Qt.Orientation.Horizontal)
    slider.setRange(0, most)
    slider.setAccessibleName(name)
    slider.setToolTip(tooltip)
    slider.setFixedWidth(80)
    return slider


def _patch(colour: QColor) -> QIcon:
    patch = QPixmap(QSize(20, 20))
    patch.fill(colour)
    painter = QPainter(patch)
    painter.setPen(theme.colour("muted"))  # black is seen on a dark toolbar, too
    painter.drawRect(patch.rect().adjusted(0, 0, -1, -1))
    painter.end()
    return QIcon(patch)


def _position(size: float) -> int:
    position, at = 0, SMALLEST
    while at * _GROWTH**0.5 < size and position < _POSITIONS:
        position, at = position + 1, at * _GROWTH
    return position
