"""The mask editor's toolbar: brush and eraser with size and hardness, undo, operations on the whole mask, zoom."""

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QSizePolicy, QSlider, QToolButton, QWidget

from mezzotint_app.viewmodel.create.images.mask import MaskDocument
from mezzotint_app.viewmodel.create.images.mask_stroke import LARGEST, SMALLEST
from mezzotint_app.widgets.icon_button import icon_button
from mezzotint_app.widgets.images.image_bar import ImageBar
from mezzotint_app.widgets.images.mask_canvas import MaskCanvas
from mezzotint_app.widgets.labels import plain_label

_POSITIONS = 200  # positions of the size slider, each larger than the previous one by the same factor
_GROWTH = (LARGEST / SMALLEST) ** (1 / _POSITIONS)


class MaskTools(QFrame):
    """A row of tools for a canvas."""

    def __init__(self, canvas: MaskCanvas, document: MaskDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._canvas, self._document = canvas, document
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(4)
        self._build_brush()
        self._row.addSpacing(12)
        self._build_steps()
        self._row.addStretch(1)
        self._row.addWidget(ImageBar(canvas))
        canvas.brush_changed.connect(self._show)
        document.history_changed.connect(self._show)
        self._show()

    def _build_brush(self) -> None:
        self._brush = icon_button("brush", self.tr("Brush: paints the mask (B)"), checkable=True)
        self._eraser = icon_button("eraser", self.tr("Eraser: removes from the mask (E)"), checkable=True)
        group = QButtonGroup(self)
        for button, erase in ((self._brush, False), (self._eraser, True)):
            group.addButton(button)
            button.clicked.connect(lambda _on, erase=erase: self._change(erase=erase))
            self._row.addWidget(button)
        self._size = self._slider(self.tr("Brush size"), self.tr("Brush size ([ and ])"), _POSITIONS)
        self._size.valueChanged.connect(lambda value: self._change(size=SMALLEST * _GROWTH**value))
        self._pixels = plain_label(role="muted")
        self._pixels.setMinimumWidth(self._pixels.fontMetrics().horizontalAdvance("1024 px"))
        self._hardness = self._slider(self.tr("Brush hardness"), self.tr("Brush hardness (Shift+[ and Shift+])"), 100)
        self._hardness.valueChanged.connect(lambda value: self._change(hardness=value / 100))
        self._percent = plain_label(role="muted")
        self._percent.setMinimumWidth(self._percent.fontMetrics().horizontalAdvance("100 %"))
        for words, slider, value in (
            (self.tr("Size"), self._size, self._pixels),
            (self.tr("Hardness"), self._hardness, self._percent),
        ):
            self._row.addSpacing(8)
            self._row.addWidget(plain_label(words))
            self._row.addWidget(slider, 1)
            self._row.addWidget(value)

    def _slider(self, name: str, tooltip: str, most: int) -> QSlider:
        slider = QSlider(Qt.Orientation.Horizontal)
        slider.setRange(0, most)
        slider.setAccessibleName(name)
        slider.setToolTip(tooltip)
        slider.setMinimumWidth(64)
        slider.setMaximumWidth(140)
        slider.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        return slider

    def _build_steps(self) -> None:
        document = self._document
        self._undo = self._tool("undo", self.tr("Undo"), "Ctrl+Z", document.undo)
        self._redo = self._tool("redo", self.tr("Redo"), "Ctrl+Shift+Z", document.redo)
        self._row.addSpacing(8)
        self._tool("invert", self.tr("Invert the mask"), "Ctrl+I", document.invert)
        self._tool("select-all", self.tr("Mask the whole image"), "Ctrl+Shift+A", document.fill)
        self._tool("clear", self.tr("Clear the mask"), "Ctrl+Shift+D", document.clear)

    def _tool(self, name: str, words: str, shortcut: str, action: Callable[[], None]) -> QToolButton:
        button = icon_button(name, words, shortcut=shortcut)
        button.clicked.connect(lambda: action())
        keys = QShortcut(QKeySequence(shortcut), self)  # a button's own shortcut waits a tenth of a second
        keys.activated.connect(action)
        self._row.addWidget(button)
        return button

    def _change(self, **values: float | bool) -> None:
        self._canvas.set_brush(replace(self._canvas.brush(), **values))  # type: ignore[arg-type]

    def _show(self) -> None:
        brush = self._canvas.brush()
        (self._eraser if brush.erase else self._brush).setChecked(True)
        for slider, value in ((self._size, _position(brush.size)), (self._hardness, round(brush.hardness * 100))):
            slider.blockSignals(True)
            slider.setValue(value)
            slider.blockSignals(False)
        self._pixels.setText(self.tr("{0} px").format(round(brush.size)))
        self._percent.setText(self.tr("{0} %").format(round(brush.hardness * 100)))
        self._undo.setEnabled(self._document.can_undo())
        self._redo.setEnabled(self._document.can_redo())


def _position(size: float) -> int:
    """The slider position for a brush size."""
    position, at = 0, SMALLEST
    while at * _GROWTH**0.5 < size and position < _POSITIONS:
        position, at = position + 1, at * _GROWTH
    return position
