"""A thumbnail with the image's aspect ratio, sharp on every screen."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from mezzotint_app import theme
from mezzotint_app.widgets.images.image_painting import paint_image
from mezzotint_app.widgets.images.scaled_image import scaled


class ThumbnailLabel(QWidget):
    """Shows an image that is not much larger than the widget."""

    def __init__(self, size: QSize, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedSize(size)
        self._image = QImage()
        self._scaled = QImage()
        theme.changes().changed.connect(self.update)

    def show_image(self, image: QImage | None) -> None:
        """Show an image, or None for an empty area."""
        self._image, self._scaled = image or QImage(), QImage()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, D102, ARG002
        painter = QPainter(self)
        ratio = self.devicePixelRatioF()
        if self._image.isNull():
            painter.fillRect(self.rect(), theme.colour("raised"))
        else:
            target = self._target(ratio)
            if self._scaled.size() != target.size():
                self._scaled = scaled(self._image, target.size())
            paint_image(painter, self._scaled, target, self.rect(), ratio, smooth=False)
        painter.end()

    def _target(self, ratio: float) -> QRect:
        """The image's rectangle in screen pixels: as large as fits, at the top, centred horizontally."""
        room = QSize(round(self.width() * ratio), round(self.height() * ratio))
        size = self._image.size().scaled(room, Qt.AspectRatioMode.KeepAspectRatio).expandedTo(QSize(1, 1))
        return QRect((room.width() - size.width()) // 2, 0, size.width(), size.height())
