"""The canvas as a document: layers, the frame, painting, and undo for all of it."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QTransform

from mezzotint_app.viewmodel.canvas.history import MOST_BYTES, History, LayerTiles, Step
from mezzotint_app.viewmodel.canvas.layers import PICTURE, CanvasState, Layer, LayerKind, draw_layer
from mezzotint_app.viewmodel.canvas.selection import How, combined
from mezzotint_app.viewmodel.canvas.strokes import Dab, Paint, Stroke
from mezzotint_app.viewmodel.canvas.tiles import Changed, TileStore, blank, tiles_of

MOST_LAYERS = 64
LARGEST_SIDE = 16_384  # pixels of what is flattened or scaled at once
_FRAME = (0, 0, 1024, 1024)
Modes = QPainter.CompositionMode


class CanvasDocument(QObject):
    """Layers of sparse tiles. Every change is a step of the history; a drag or a stroke is one step."""

    changed = Signal(QRect)  # changed part of the picture
    layers_changed = Signal()  # layers, their properties or the active one
    frame_changed = Signal()
    selection_changed = Signal()
    history_changed = Signal()

    def __init__(self, parent: QObject | None = None, *, most_bytes: int = MOST_BYTES) -> None:
        super().__init__(parent)
        self._stores: dict[int, TileStore] = {}
        self._state = CanvasState(layers=(), active=0, frame=_FRAME)
        self._history: History[CanvasState] = History(self._apply, most_bytes)
        self._stroke: tuple[Layer, Stroke] | None = None
        self._ids = 0
        self.reset()

    # ---- state

    def layers(self) -> tuple[Layer, ...]:
        """Return the layers from bottom to top."""
        return self._state.layers

    def layer(self, identity: int) -> Layer | None:
        """Return a layer, or None if there is none of this id."""
        return next((one for one in self._state.layers if one.id == identity), None)

    def active(self) -> Layer | None:
        """Return the layer that tools change."""
        return self.layer(self._state.active)

    def store(self, identity: int) -> TileStore:
        """Return a layer's tiles, in its own coordinates."""
        return self._stores[identity]

    def frame(self) -> QRect:
        """Return the frame that is generated into."""
        return QRect(*self._state.frame)

    def selection(self) -> QPainterPath | None:
        """Return what tools are limited to; None if that is everything."""
        return self._state.selection

    def bounds(self, kinds: Iterable[LayerKind] | None = None) -> QRect:
        """Return the rectangle around all tiles of visible layers, of these kinds if given."""
        whole = QRect()
        for layer in self._visible(kinds):
            whole = whole.united(self._stores[layer.id].bounds().translated(layer.x, layer.y))
        return whole

    def content(self) -> QRect:
        """Return the smallest rectangle around everything that is painted on visible layers."""
        whole = QRect()
        for layer in self._visible(None):
            whole = whole.united(self._stores[layer.id].content().translated(layer.x, layer.y))
        return whole

    def is_empty(self) -> bool:
        """Whether nothing is painted on any layer."""
        return all(not store.all() for store in self._stores.values())

    def is_untouched(self) -> bool:
        """Whether nothing has been done since it was made or emptied."""
        return self.is_empty() and len(self.layers()) == 1 and not self.can_undo() and not self.can_redo()

    def flattened(self, where: QRect, kinds: Iterable[LayerKind] = PICTURE) -> QImage:
        """Return the visible layers of these kinds over each other, on a transparent ground."""
        image = blank(where.width(), where.height())
        painter = QPainter(image)
        painter.translate(-where.topLeft())
        for layer in self._visible(kinds):
            shown = replace(layer, kind="image", opacity=1.0) if layer.kind == "mask" else layer  # no tint
            draw_layer(painter, shown, self._stores[layer.id], where)
        painter.end()
        return image

    def colour_at(self, at: QPoint) -> QColor | None:
        """Return the picture's colour, or None where it is transparent."""
        colour = self.flattened(QRect(at, at)).pixelColor(0, 0)
        return QColor(colour.rgb()) if colour.alpha() else None

    # ---- layers

    def add_layer(self, kind: LayerKind, name: str, image: QImage | None = None, at: tuple[int, int] = (0, 0)) -> int:
        """Add a layer above the active one, with an image whose upper left corner is at `at`; returns its id, or 0."""
        return self.add_tiles(kind, name, {} if image is None else tiles_of(image, *at))

    def add_tiles(self, kind: LayerKind, name: str, tiles: Changed, **fields: Any) -> int:  # noqa: ANN401
        """Add a layer above the active one, with tiles that were cut elsewhere; returns its id, or 0."""
        if len(self._state.layers) >= MOST_LAYERS:
            return 0
        self._ids += 1
        layer = Layer(id=self._ids, kind=kind, name=name, **fields)
        self._stores[layer.id] = TileStore()
        above = 1 + next((n for n, one in enumerate(self.layers()) if one.id == self._state.active), -1)
        layers = (*self.layers()[:above], layer, *self.layers()[above:])
        self._do(replace(self._state, layers=layers, active=layer.id), {(layer.id, p): t for p, t in tiles.items()})
        return layer.id

    def remove_layer(self, identity: int) -> None:
        """Remove a layer; the last one stays."""
        layers = tuple(one for one in self.layers() if one.id != identity)
        if layers and len(layers) < len(self.layers()):
            place = next(n for n, one in enumerate(self.layers()) if one.id == identity)
            active = layers[max(place - 1, 0)].id if self._state.active == identity else self._state.active
            gone = dict.fromkeys((identity, place) for place in self._stores[identity].all())
            self._do(replace(self._state, layers=layers, active=active), gone)

    def raise_layer(self, identity: int, by: int) -> None:
        """Move a layer up, or down if `by` is negative."""
        layers = list(self.layers())
        place = next((n for n, one in enumerate(layers) if one.id == identity), None)
        if place is not None and 0 <= place + by < len(layers) and by:
            layers.insert(place + by, layers.pop(place))
            self._do(replace(self._state, layers=tuple(layers)))

    def change_layer(self, identity: int, **fields: Any) -> None:  # noqa: ANN401  of several types
        """Change a layer's properties; consecutive changes of the same ones are one step."""
        layers = tuple(replace(one, **fields) if one.id == identity else one for one in self.layers())
        if layers != self.layers():
            self._do(replace(self._state, layers=layers), kind=f"{identity} {sorted(fields)}")

    def set_active(self, identity: int) -> None:
        """Choose the layer that tools change, which is no step of the history."""
        if identity != self._state.active and self.layer(identity) is not None:
            self.end_step()
            self._state = replace(self._state, active=identity)
            self.layers_changed.emit()

    def set_frame(self, frame: QRect) -> None:
        """Set the frame; consecutive changes are one step."""
        if frame.isValid() and frame != self.frame():
            values = (frame.left(), frame.top(), frame.width(), frame.height())
            self._do(replace(self._state, frame=values), kind="frame")

    def select(self, path: QPainterPath, how: How = "replace") -> None:
        """Limit tools to a shape, or add it to or subtract it from what is selected; nothing left: no limits."""
        selection = combined(self._state.selection, path, how)
        if selection != self._state.selection:
            self._do(replace(self._state, selection=selection))

    def select_rest(self) -> None:
        """Select what is not selected, of the picture and the frame."""
        whole = QPainterPath()
        whole.addRect(QRectF(self.content().united(self.frame())))
        self.select(combined(whole, self._state.selection or whole, "subtract") or QPainterPath())

    def erase_selection(self) -> bool:
        """Erase what is selected from the active layer; returns False without a selection."""
        selection = self._state.selection
        if selection is not None:
            self.fill_path(selection, QColor(0, 0, 0), erase=True)
        return selection is not None

    def end_step(self) -> None:
        """End a stroke or a drag: what follows is a step of its own."""
        self.end_stroke()
        self._history.close()

    # ---- painting on the active layer

    def begin_stroke(self, paint: Paint, dab: Dab) -> bool:
        """Start a stroke; returns False if the active layer is hidden."""
        self.end_step()
        layer = self.active()
        if layer is None or not layer.visible:
            return False
        clip = None if self._state.selection is None else self._state.selection.translated(-layer.x, -layer.y)
        self._stroke = layer, Stroke(paint, self._stores[layer.id], clip)
        self.stroke_to(dab)
        return True

    def stroke_to(self, dab: Dab) -> None:
        """Continue the stroke."""
        if self._stroke is not None:
            layer, stroke = self._stroke
            self._changed(stroke.to(Dab(dab.x - layer.x, dab.y - layer.y, dab.pressure)).translated(layer.x, layer.y))

    def end_stroke(self) -> None:
        """End the stroke."""
        if self._stroke is not None:
            (layer, stroke), self._stroke = self._stroke, None
            self._record(Step(state=self._state, tiles={(layer.id, p): t for p, t in stroke.before.items()}))

    def is_painting(self) -> bool:
        """Whether a stroke is in progress."""
        return self._stroke is not None

    def fill_path(self, path: QPainterPath, colour: QColor, *, erase: bool = False) -> None:
        """Fill a shape, or erase it."""

        def paint(painter: QPainter) -> None:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if erase:
                painter.setCompositionMode(Modes.CompositionMode_DestinationOut)
            painter.fillPath(path, colour)

        self._paint(path.boundingRect().toAlignedRect(), paint)

    def draw_image(self, image: QImage, at: QPoint, *, erase: bool = False) -> None:
        """Draw an image over the active layer, or erase where it is opaque."""

        def paint(painter: QPainter) -> None:
            if erase:
                painter.setCompositionMode(Modes.CompositionMode_DestinationOut)
            painter.drawImage(at, image)

        self._paint(QRect(at, image.size()), paint)

    def clear_layer(self, identity: int) -> None:
        """Remove everything from a layer."""
        if self._stores[identity].all():
            self._do(self._state, dict.fromkeys((identity, place) for place in self._stores[identity].all()))

    def scale_layer(self, identity: int, factor: float) -> bool:
        """Scale a layer around its middle; returns False if there is nothing on it or it would become too large."""
        old = self.content_of(identity)
        new = QRect(0, 0, round(old.width() * factor), round(old.height() * factor))
        new.moveCenter(old.center())
        return self.fit_layer(identity, new)

    def content_of(self, identity: int) -> QRect:
        """Return the smallest rectangle around everything on a layer."""
        layer = self.layer(identity)
        return QRect() if layer is None else self._stores[identity].content().translated(layer.x, layer.y)

    def fit_layer(self, identity: int, where: QRect) -> bool:
        """Scale what is on a layer into a rectangle; returns False if there is nothing, or it would be too large."""
        layer, old = self.layer(identity), self.content_of(identity)
        if layer is None or old.isEmpty() or where.isEmpty() or max(where.width(), where.height()) > LARGEST_SIDE:
            return False
        store = self._stores[identity]
        old, new = (one.translated(-layer.x, -layer.y) for one in (old, where))
        smooth = Qt.TransformationMode.SmoothTransformation
        scaled = store.read(old).scaled(new.size(), Qt.AspectRatioMode.IgnoreAspectRatio, smooth)
        tiles: Changed = dict.fromkeys(store.all())
        self._do(self._state, {(identity, p): t for p, t in (tiles | tiles_of(scaled, new.x(), new.y())).items()})
        return True

    def _paint(self, where: QRect, paint: Any) -> None:  # noqa: ANN401  a function that takes a painter
        layer = self.active()
        self.end_step()
        if layer is None or where.isEmpty():
            return

        selection = self._state.selection

        def shifted(painter: QPainter) -> None:
            painter.setTransform(QTransform.fromTranslate(-layer.x, -layer.y), combine=True)
            if selection is not None:
                painter.setClipPath(selection, Qt.ClipOperation.IntersectClip)
            paint(painter)

        where = where if selection is None else where.intersected(selection.boundingRect().toAlignedRect())

        tiles = self._stores[layer.id].painted(where.translated(-layer.x, -layer.y), shifted)
        if tiles:
            self._do(self._state, {(layer.id, place): tile for place, tile in tiles.items()})

    # ---- undo and redo

    def undo(self) -> None:
        """Undo the last step; a stroke in progress is ended first."""
        self.end_step()
        if self._history.undo():
            self.history_changed.emit()

    def redo(self) -> None:
        """Redo the step that was undone last."""
        self.end_step()
        if self._history.redo():
            self.history_changed.emit()

    def can_undo(self) -> bool:
        """Whether there is a step to undo."""
        return self._history.can_undo()

    def can_redo(self) -> bool:
        """Whether there is a step to redo."""
        return self._history.can_redo()

    def reset(self, layers: Iterable[tuple[Layer, Changed]] = (), frame: QRect | None = None) -> None:
        """Replace everything by other layers, whose ids do not matter; by default one empty image layer."""
        self._stroke = None
        self._history.clear()
        before, found, self._stores = self.bounds(), [], {}
        for layer, tiles in list(layers) or [(Layer(id=0, kind="image", name=""), {})]:
            self._ids += 1
            found.append(replace(layer, id=self._ids))
            self._stores[self._ids] = TileStore()
            self._stores[self._ids].put(tiles)
        where = frame or QRect(*_FRAME)
        values = (where.left(), where.top(), where.width(), where.height())
        active = next((one for one in reversed(found) if one.visible), found[-1])
        self._state = CanvasState(layers=tuple(found), active=active.id, frame=values)
        for signal in (self.layers_changed, self.frame_changed, self.selection_changed, self.history_changed):
            signal.emit()
        self.changed.emit(before.united(self.bounds()))

    # ---- inside

    def _visible(self, kinds: Iterable[LayerKind] | None) -> list[Layer]:
        wanted = None if kinds is None else set(kinds)
        return [one for one in self.layers() if one.visible and (wanted is None or one.kind in wanted)]

    def _do(self, state: CanvasState, tiles: LayerTiles | None = None, kind: str = "") -> None:
        self.end_stroke()
        self._record(self._apply(Step(state=state, tiles=tiles or {}, kind=kind)))

    def _record(self, step: Step[CanvasState]) -> None:
        self._history.record(step)
        self.history_changed.emit()

    def _apply(self, step: Step[CanvasState]) -> Step[CanvasState]:
        """Put a step into effect; returns the one that undoes it."""
        before, bounds = self._state, self.bounds()
        by_layer: dict[int, Changed] = {}
        for (identity, place), tile in step.tiles.items():
            by_layer.setdefault(identity, {})[place] = tile
        old = {(i, p): t for i, tiles in by_layer.items() for p, t in self._stores[i].put(tiles).items()}
        self._state = step.state
        if before.layers != step.state.layers or before.active != step.state.active:
            self.layers_changed.emit()
        if before.selection != step.state.selection:
            self.selection_changed.emit()
        if before.frame != step.state.frame:
            self.frame_changed.emit()
        if before.layers != step.state.layers or len(step.tiles) > 64:
            self._changed(bounds.united(self.bounds()))
        else:
            for identity, tiles in by_layer.items():
                self._tiles_changed(identity, tiles)
        return Step(state=before, tiles=old, kind=step.kind)

    def _tiles_changed(self, identity: int, tiles: Changed) -> None:
        layer, probe = self.layer(identity), TileStore()
        probe.put(dict.fromkeys(tiles, QImage()))
        if layer is not None:
            self._changed(probe.bounds().translated(layer.x, layer.y))

    def _changed(self, where: QRect) -> None:
        if not where.isEmpty():
            self.changed.emit(where)
