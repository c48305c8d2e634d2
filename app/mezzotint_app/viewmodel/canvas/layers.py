"""Layers and what they are for."""

from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

from PySide6.QtCore import QRect
from PySide6.QtGui import QBrush, QColor, QImage, QPainter, QPainterPath

from mezzotint_app.viewmodel.canvas.tiles import TileStore

LayerKind = Literal["image", "mask", "control", "reference", "sketch"]
KINDS: tuple[LayerKind, ...] = get_args(LayerKind)
PICTURE: tuple[LayerKind, ...] = ("image", "sketch")  # what exports show and generation starts from
MASK_TINT = QColor(214, 40, 96)
_TINT_OPACITY = 0.5
_STRIPE = 10  # pixels between stripes
Modes = QPainter.CompositionMode


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A layer's properties. Its tiles are shifted by (x, y)."""

    id: int
    kind: LayerKind
    name: str
    visible: bool = True
    opacity: float = 1.0
    x: int = 0
    y: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CanvasState:
    """Everything about a canvas except its pixels."""

    layers: tuple[Layer, ...]  # from bottom to top
    active: int  # id of the layer that tools change
    frame: tuple[int, int, int, int]  # left, top, width and height
    selection: QPainterPath | None = None  # that tools are limited to; None: everything


@cache
def stripes() -> QBrush:
    """Return a brush with stripes from lower left to upper right, which show a mask without colour vision."""
    tile = QImage(_STRIPE, _STRIPE, QImage.Format.Format_ARGB32_Premultiplied)
    tile.fill(0)
    for at in range(_STRIPE):
        for width in range(2):
            tile.setPixelColor((at + width) % _STRIPE, _STRIPE - 1 - at, QColor(255, 255, 255, 110))
    return QBrush(tile)


def draw_layer(painter: QPainter, layer: Layer, store: TileStore, where: QRect) -> None:
    """Draw a layer's pixels in `where` over what is there; a mask as a tint."""
    own = where.translated(-layer.x, -layer.y)
    if not own.intersects(store.bounds()):
        return
    painter.save()
    painter.setOpacity(layer.opacity * (_TINT_OPACITY if layer.kind == "mask" else 1.0))
    if layer.kind == "mask":
        tint = store.read(own)
        inner = QPainter(tint)
        inner.setCompositionMode(Modes.CompositionMode_SourceIn)
        inner.fillRect(tint.rect(), MASK_TINT)
        inner.setCompositionMode(Modes.CompositionMode_SourceAtop)
        inner.setBrushOrigin(-where.topLeft())
        inner.fillRect(tint.rect(), stripes())
        inner.end()
        painter.drawImage(where.topLeft(), tint)
    else:
        painter.translate(layer.x, layer.y)
        store.draw(painter, own)
    painter.restore()
