"""An image that is downscaled once, in good quality, rather than at every paint event."""

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QImage
from shiboken6 import isValid

from mezzotint_app import strips
from mezzotint_app.background import Executor

_AT_ONCE = 2_000_000  # pixels that are scaled synchronously, in a few milliseconds


class ScaledImage(QObject):
    """Provides an image at a requested size; while a large one is being scaled, the best version available."""

    ready = Signal()  # the last requested size is available

    def __init__(self, pool: Executor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = pool
        self._image = QImage()
        self._scaled = QImage()
        self._wanted: QSize | None = None
        self._working: tuple[int, QSize] | None = None

    def set_image(self, image: QImage) -> None:
        """Set the image."""
        self._image, self._scaled, self._wanted = image, QImage(), None

    def image(self) -> QImage:
        """The original image."""
        return self._image

    def at(self, width: int, height: int) -> QImage:
        """The image downscaled to exactly this size if that is ready; otherwise one that has to be drawn scaled."""
        size = QSize(max(width, 1), max(height, 1))
        if size.width() >= self._image.width() or size.height() >= self._image.height():
            return self._image
        if self._scaled.size() == size:
            return self._scaled
        if self._image.width() * self._image.height() <= _AT_ONCE:
            self._scaled = scaled(self._image, size)
            return self._scaled
        self._want(size)
        close = self._scaled.width() * 2 > size.width()
        return self._scaled if close and not self._scaled.isNull() else self._image

    def _want(self, size: QSize) -> None:
        self._wanted = size
        if self._working is None:
            self._begin(size)

    def _begin(self, size: QSize) -> None:
        image = self._image
        key = image.cacheKey()
        self._working = (key, size)
        self._pool.run(lambda: strips.scaled(image, size), lambda result: self._done(key, result), self._failed)

    def _done(self, key: int, result: QImage) -> None:
        if not isValid(self):  # the view was deleted
            return
        self._working = None
        if key == self._image.cacheKey():
            self._scaled = result
        if self._wanted is not None and self._wanted != self._scaled.size():
            self._begin(self._wanted)
        else:
            self.ready.emit()

    def _failed(self, _error: Exception) -> None:
        self._working = None  # the unscaled image is drawn instead


def scaled(image: QImage, size: QSize) -> QImage:
    """Scale the whole image at once; for small images."""
    return image.scaled(size, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation)
