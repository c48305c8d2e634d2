"""Processes large images in strips: Qt holds the GIL meanwhile, which blocks the window's thread."""

import time
from collections.abc import Iterator

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QImage, QImageReader, QPainter

MAX_PIXELS = 200_000  # pixels of a strip, which takes about a millisecond

_ONE_TO_ONE = Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation


def decoded(data: bytes, kind: str) -> QImage:
    """Decode an image of format `kind` ("jpg"); a null image if it is invalid. QImageReader itself releases the GIL."""
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    return QImageReader(buffer, QByteArray(kind.encode("ascii"))).read()


def converted(image: QImage, layout: QImage.Format) -> QImage:
    """Convert the image to another pixel format, whose rows must be multiples of four bytes."""
    if image.format() == layout:
        return image
    result = QImage(image.size(), layout)
    to, line = memoryview(result.bits()), result.bytesPerLine()
    for top, strip in _strips(image):
        rows = strip.convertToFormat(layout)
        to[top * line : (top + rows.height()) * line] = rows.constBits()
    return result


def scaled(image: QImage, size: QSize) -> QImage:
    """Downscale with averaging: first along the rows, then along the columns."""
    narrow = QImage(size.width(), image.height(), image.format())
    to, line = memoryview(narrow.bits()), narrow.bytesPerLine()
    for top, strip in _strips(image):
        rows = strip.scaled(QSize(size.width(), strip.height()), *_ONE_TO_ONE).convertToFormat(image.format())
        to[top * line : (top + rows.height()) * line] = rows.constBits()
    result = QImage(size, image.format())
    painter = QPainter(result)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
    for left, strip in _columns(narrow):
        painter.drawImage(left, 0, strip.scaled(QSize(strip.width(), size.height()), *_ONE_TO_ONE))
    painter.end()
    return result


def _strips(image: QImage) -> Iterator[tuple[int, QImage]]:
    """Strips from top to bottom that share the image's memory; other threads may run between them."""
    data, line = image.constBits(), image.bytesPerLine()
    rows = max(1, MAX_PIXELS // max(1, image.width()))
    for top in range(0, image.height(), rows):
        count = min(rows, image.height() - top)
        yield top, QImage(data[top * line : (top + count) * line], image.width(), count, line, image.format())
        time.sleep(0)


def _columns(image: QImage) -> Iterator[tuple[int, QImage]]:
    data, line, deep = image.constBits(), image.bytesPerLine(), image.depth() // 8
    columns = max(1, MAX_PIXELS // max(1, image.height()))
    for left in range(0, image.width(), columns):
        count = min(columns, image.width() - left)
        yield left, QImage(data[left * deep :], count, image.height(), line, image.format())
        time.sleep(0)
