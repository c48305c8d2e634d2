"""PNG files written strip by strip: an image need not fit in memory, and other threads run meanwhile."""

import struct
import zlib
from collections.abc import Callable, Iterable

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QImage, QPainter

from mezzotint_app.viewmodel.canvas.layers import Layer, draw_layer
from mezzotint_app.viewmodel.canvas.tiles import SIDE, TileStore, blank

Shown = tuple[Layer, TileStore]
QUICK, SMALL = 1, 4  # levels of compression


def png_of(layers: Iterable[Shown], where: QRect, level: int = SMALL) -> bytes:
    """Return the layers over each other in `where` as a PNG with alpha (RGBA, 8 bits)."""
    found = list(layers)

    def strip(part: QRect) -> QImage:
        return drawn(found, part)

    return _written(where, strip, level)


def drawn(layers: Iterable[Shown], where: QRect) -> QImage:
    """Return the layers over each other in `where`."""
    image = blank(where.width(), where.height())
    painter = QPainter(image)
    painter.translate(-where.topLeft())
    for layer, store in layers:
        draw_layer(painter, layer, store, where)
    painter.end()
    return image


def thumbnail_of(layers: Iterable[Shown], where: QRect, side: int) -> bytes:
    """Return a PNG of at most `side` pixels each way; every strip is scaled down before the next one is drawn."""
    found = list(layers)
    scale = min(1.0, side / max(where.width(), where.height()))
    size = QRect(0, 0, max(round(where.width() * scale), 1), max(round(where.height() * scale), 1))
    small = blank(size.width(), size.height())
    painter = QPainter(small)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    for part in _strips(where):
        high = max(round(part.height() * scale), 1)
        shrunk = drawn(found, part).scaled(
            size.width(), high, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
        )
        painter.drawImage(0, round((part.top() - where.top()) * scale), shrunk)
    painter.end()
    return _written(size, lambda part: small.copy(part))


def _strips(where: QRect) -> Iterable[QRect]:
    for top in range(where.top(), where.top() + where.height(), SIDE):
        yield QRect(where.left(), top, where.width(), min(SIDE, where.top() + where.height() - top))


def _written(where: QRect, strip: Callable[[QRect], QImage], level: int = SMALL) -> bytes:
    packer = zlib.compressobj(level)
    data = []
    for part in _strips(where):
        image = strip(part).convertToFormat(QImage.Format.Format_RGBA8888)
        rows, line = bytes(image.constBits()), image.bytesPerLine()
        used = 4 * image.width()
        filtered = b"".join(b"\0" + rows[n * line : n * line + used] for n in range(image.height()))
        data.append(packer.compress(filtered))
    data.append(packer.flush())
    header = struct.pack(">IIBBBBB", where.width(), where.height(), 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", b"".join(data)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks
    )
