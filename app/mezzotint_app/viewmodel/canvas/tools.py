"""The tools: what pressing, dragging and releasing does to the document."""

from dataclasses import replace
from typing import Literal, get_args

from PySide6.QtCore import QObject, QPoint, QPointF, QRect, QRectF, Signal
from PySide6.QtGui import QColor, QPainterPath

from mezzotint_app.viewmodel.canvas.brush import LARGEST, SMALLEST, Brush
from mezzotint_app.viewmodel.canvas.document import CanvasDocument
from mezzotint_app.viewmodel.canvas.fill import flooded
from mezzotint_app.viewmodel.canvas.frame import dragged, edges_at, stretched
from mezzotint_app.viewmodel.canvas.strokes import Dab, Paint

Tool = Literal["brush", "eraser", "lasso", "rectangle", "fill", "select", "select_lasso", "picker", "move", "frame"]
TOOLS: tuple[Tool, ...] = get_args(Tool)
_BOXES = ("rectangle", "select")
_SELECTING = ("select", "select_lasso")
_SHAPES = ("lasso", "rectangle", *_SELECTING)
_ANYWHERE = ("picker", "frame", *_SELECTING)  # whether or not the layer is visible
FILLED_SIDE = 4096  # pixels around the point that a flood fill may reach
_TOLERANCE = 24


class CanvasTools(QObject):
    """The chosen tool with its settings; coordinates are those of the canvas."""

    changed = Signal()  # tool, brush or colour
    outline_changed = Signal()  # the shape being drawn
    message = Signal(str)

    def __init__(self, document: CanvasDocument, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._tool: Tool = "brush"
        self._brush = Brush(size=48.0)
        self._colour = QColor(32, 32, 32)
        self._opacity = 1.0
        self.step = 8  # the frame snaps to multiples of this
        self._path: list[QPointF] = []  # of a lasso, or the corners of a rectangle
        self._drag: tuple[QPointF, QPoint, QRect, frozenset[str]] | None = None
        self._target = QRect()  # of a layer that is being scaled
        self._erases = self._adds = False

    # ---- settings

    def tool(self) -> Tool:
        """Return the chosen tool."""
        return self._tool

    def set_tool(self, tool: Tool) -> None:
        """Choose a tool; what the last one was doing ends."""
        self.cancel()
        self._tool = tool
        self.changed.emit()

    def brush(self) -> Brush:
        """Return the brush, which erases if the eraser is chosen."""
        return replace(self._brush, erase=self._tool == "eraser")

    def set_brush(self, *, size: float | None = None, hardness: float | None = None) -> None:
        """Set the size or hardness of the brush, within the limits."""
        size = self._brush.size if size is None else min(max(size, SMALLEST), LARGEST)
        hardness = self._brush.hardness if hardness is None else min(max(hardness, 0.0), 1.0)
        self._brush = Brush(size=size, hardness=hardness)
        self.changed.emit()

    def colour(self) -> QColor:
        """Return the colour that is painted with."""
        return self._colour

    def set_colour(self, colour: QColor) -> None:
        """Set the colour."""
        self._colour = QColor(colour.rgb())
        self.changed.emit()

    def opacity(self) -> float:
        """Return the opacity of strokes and fills, 0 to 1."""
        return self._opacity

    def set_opacity(self, opacity: float) -> None:
        """Set the opacity of strokes and fills."""
        self._opacity = min(max(opacity, 0.01), 1.0)
        self.changed.emit()

    def outline(self) -> QPainterPath:
        """Return the shape being drawn; empty if there is none."""
        path = QPainterPath()
        path.addRect(QRectF(self._target))
        if self._tool in _BOXES and len(self._path) == 2:
            path.addRect(QRectF(*self._path).normalized())
        elif self._path:
            path.moveTo(self._path[0])
            for point in self._path[1:]:
                path.lineTo(point)
            path.closeSubpath()
        return path

    def is_busy(self) -> bool:
        """Whether a stroke, shape or drag is in progress."""
        return self._document.is_painting() or bool(self._path) or self._drag is not None

    # ---- input

    def handles(self) -> QRect:
        """Return the rectangle with handles that the tool drags: the frame, or what is on the layer; empty: none."""
        layer = self._document.active()
        if self._tool == "frame":
            return self._document.frame()
        if self._tool == "move" and layer is not None:
            return self._target or self._document.content_of(layer.id)
        return QRect()

    def press(
        self, at: QPointF, pressure: float = 1.0, *, erase: bool = False, add: bool = False, reach: float = 8.0
    ) -> None:
        """Start at a point; `erase` makes shapes and fills erase, and selections shrink, `add` makes these grow.

        `reach` is how near a handle or an edge counts.
        """
        layer = self._document.active()
        if self._tool not in _ANYWHERE and (layer is None or not layer.visible):
            self.message.emit(self.tr("The layer is hidden. Show it to change it."))
            return
        self._erases, self._adds = erase, add
        if self._tool in ("brush", "eraser"):
            paint = Paint(brush=self.brush(), colour=self._paint_colour(), opacity=self._opacity)
            self._document.begin_stroke(paint, Dab(at.x(), at.y(), pressure))
        elif self._tool in _SHAPES:
            self._path = [at, at]
            self.outline_changed.emit()
        elif self._tool == "fill":
            self._fill(at)
        elif self._tool == "picker":
            self.pick(at)
        else:
            self._document.end_step()
            handles = self._held_at(at, reach)
            edges = frozenset() if handles.isEmpty() else edges_at(handles, at, reach)
            start = QPoint(layer.x, layer.y) if layer else QPoint()
            self._drag = at, start, handles, edges

    def move(self, at: QPointF, pressure: float = 1.0) -> None:
        """Continue to a point."""
        if self._document.is_painting():
            self._document.stroke_to(Dab(at.x(), at.y(), pressure))
        elif self._path:
            self._path = [self._path[0], at] if self._tool in _BOXES else [*self._path, at]
            self.outline_changed.emit()
        elif self._drag is not None:
            self._drag_to(at)

    def release(self) -> None:
        """End; a shape is filled or selected."""
        path, layer = self.outline(), self._document.active()
        if not self._target.isEmpty() and layer is not None:
            if not self._document.fit_layer(layer.id, self._target):
                self.message.emit(self.tr("The layer is empty, or would become too large."))
        elif self._tool in _SELECTING:
            self._document.select(path, "subtract" if self._erases else "add" if self._adds else "replace")
        elif self._path and not path.boundingRect().isEmpty():
            self._document.fill_path(path, self._fill_colour(), erase=self._erases)
        self.cancel()

    def cancel(self) -> None:
        """End without filling a shape."""
        self._document.end_step()
        self._path, self._drag, self._target = [], None, QRect()
        self.outline_changed.emit()

    def pick(self, at: QPointF) -> None:
        """Take the colour at a point."""
        colour = self._document.colour_at(_pixel(at))
        if colour is not None:
            self.set_colour(colour)

    # ---- inside

    def _held_at(self, at: QPointF, reach: float) -> QRect:
        """Return what the tool drags; a frame elsewhere comes to the point first."""
        held, margin = self.handles(), round(reach)
        if self._tool == "frame" and not held.adjusted(-margin, -margin, margin, margin).contains(_pixel(at)):
            held = dragged(held, frozenset(), _pixel(at) - held.center(), self.step)
            self._document.set_frame(held)
        return held

    def _paint_colour(self) -> QColor:
        layer = self._document.active()
        return QColor(255, 255, 255) if layer is not None and layer.kind == "mask" else self._colour

    def _fill_colour(self) -> QColor:
        colour = self._paint_colour()
        colour.setAlphaF(self._opacity)
        return colour

    def _fill(self, at: QPointF) -> None:
        """Fill within the picture and the frame; what lies outside has no bounds."""
        document, pixel = self._document, _pixel(at)
        area = document.bounds().united(document.frame())
        reach = QRect(0, 0, FILLED_SIDE, FILLED_SIDE)
        reach.moveCenter(pixel)
        area = area.intersected(reach)
        if not area.contains(pixel):
            self.message.emit(self.tr("Fill works within the picture and the frame."))
            return
        layer = document.active()
        kinds = (layer.kind,) if layer is not None and layer.kind not in ("image", "sketch", "mask") else None
        seen = document.flattened(area, kinds) if kinds else document.flattened(area)
        filled = flooded(seen, pixel - area.topLeft(), _TOLERANCE, self._fill_colour())
        document.draw_image(filled, area.topLeft(), erase=self._erases)

    def _drag_to(self, at: QPointF) -> None:
        if self._drag is None:
            return
        start, layer_at, handles, edges = self._drag
        by = (at - start).toPoint()
        layer = self._document.active()
        if self._tool == "frame":
            self._document.set_frame(dragged(handles, edges, by, self.step))
        elif edges:
            self._target = stretched(handles, edges, by)
            self.outline_changed.emit()
        elif layer is not None:
            self._document.change_layer(layer.id, x=layer_at.x() + by.x(), y=layer_at.y() + by.y())


def _pixel(at: QPointF) -> QPoint:
    return QRectF(at, at).toAlignedRect().topLeft()
