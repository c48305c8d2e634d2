"""Paints a grid cell: the image, its stars, a heading at the start of a new date, and the selection."""

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QHelpEvent, QImage, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QToolTip

from mezzotint_app import theme
from mezzotint_app.resources import icon_in
from mezzotint_app.viewmodel.foreign_text import plain_tooltip

Index = QModelIndex | QPersistentModelIndex

MARGIN = 6  # device-independent pixels around the image
_CAPTION = 18  # device-independent pixels above the image, for date and stars
_STAR = 12
_TICK = 20
_ROUND = 4.0


class ThumbnailDelegate(QStyledItemDelegate):
    """Paints the data of a model's roles, and requires nothing else."""

    def __init__(
        self, *, thumbnail: int, broken: int | None = None, heading: int | None = None, rating: int | None = None,
        tooltip: int | None = None, parent: QObject | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._thumbnail, self._broken, self._heading, self._rating = thumbnail, broken, heading, rating
        self._tooltip = tooltip
        self._side = 192

    def set_side(self, side: int) -> None:
        """Set the side of the image area, in device-independent pixels."""
        self._side = side

    def cell(self) -> QSize:
        """The size of a cell."""
        caption = self._caption()
        return QSize(self._side + 2 * MARGIN, self._side + 2 * MARGIN + caption)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: ARG002, N802  Qt's name
        """The same size for all cells."""
        return self.cell()

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint the whole cell."""
        state, rect = option.state, QRect(option.rect)
        selected = bool(state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        area = rect.adjusted(MARGIN, MARGIN + self._caption(), -MARGIN, -MARGIN)
        if selected:
            _fill(painter, QRectF(rect).adjusted(1, 1, -1, -1), "selected")
        shown = self._paint_image(painter, area, index)
        if selected:
            self._paint_selected(painter, rect, shown)
        strip = QRect(area.x(), area.y() - self._caption(), area.width(), self._caption())
        self._paint_stars(painter, self._paint_heading(painter, strip, index), index)
        if state & QStyle.StateFlag.State_HasFocus:
            _frame(painter, QRectF(rect).adjusted(1.5, 1.5, -1.5, -1.5), "focus", 2.5)
        elif state & QStyle.StateFlag.State_MouseOver and not selected:
            _frame(painter, QRectF(rect).adjusted(1, 1, -1, -1), "control", 1)
        painter.restore()

    def _caption(self) -> int:
        return 0 if self._rating is None and self._heading is None else _CAPTION

    def _paint_image(self, painter: QPainter, area: QRect, index: Index) -> QRect:
        image = index.data(self._thumbnail)
        if isinstance(image, QImage) and not image.isNull():
            size = image.size().scaled(area.size(), Qt.AspectRatioMode.KeepAspectRatio)
            place = QRect(area.center().x() - size.width() // 2 + 1, area.y(), size.width(), size.height())
            place.moveCenter(area.center())
            painter.drawImage(place, image)
            return place
        place = QRect(0, 0, min(area.width(), area.height()), min(area.width(), area.height()))
        place.moveCenter(area.center())
        _fill(painter, QRectF(place), "raised")
        why = index.data(self._broken) if self._broken is not None else None
        if why:
            self._paint_broken(painter, place)
        return place

    def _paint_broken(self, painter: QPainter, place: QRect) -> None:
        drawing = QRect(0, 0, 28, 28)
        drawing.moveCenter(place.center())
        drawing.translate(0, -10)
        icon_in("warning", "warning").paint(painter, drawing)
        painter.setPen(theme.colour("text"))
        words = QRect(place.x() + 4, drawing.bottom() + 4, place.width() - 8, place.bottom() - drawing.bottom() - 6)
        flags = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap
        painter.drawText(words, flags, self.tr("Cannot be shown"))

    def _paint_selected(self, painter: QPainter, rect: QRect, shown: QRect) -> None:
        _frame(painter, QRectF(rect).adjusted(1, 1, -1, -1), "accent", 2)
        tick = QRect(shown.right() - _TICK - 3, shown.bottom() - _TICK - 3, _TICK, _TICK)
        path = QPainterPath()
        path.addEllipse(QRectF(tick))
        painter.fillPath(path, theme.colour("accent"))
        icon_in("done", "accent_text").paint(painter, tick.adjusted(3, 3, -3, -3))

    def _paint_stars(self, painter: QPainter, strip: QRect, index: Index) -> None:
        stars = (index.data(self._rating) if self._rating is not None else None) or 0
        left = strip.center().x() - (stars * (_STAR + 2)) // 2
        for number in range(stars):
            place = QRect(left + number * (_STAR + 2), strip.center().y() - _STAR // 2, _STAR, _STAR)
            icon_in("star-filled", "accent").paint(painter, place)

    def _paint_heading(self, painter: QPainter, strip: QRect, index: Index) -> QRect:
        """Paint the heading above the image, and return the rest of the strip."""
        heading = index.data(self._heading) if self._heading is not None else ""
        if not heading:
            return strip
        font = painter.font()
        font.setBold(True)
        painter.setFont(font)
        metrics = painter.fontMetrics()
        stars = (index.data(self._rating) if self._rating is not None else None) or 0
        text = metrics.elidedText(heading, Qt.TextElideMode.ElideRight, strip.width() - stars * (_STAR + 2))
        painter.setPen(theme.colour("text"))
        painter.drawText(strip, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        return strip.adjusted(metrics.horizontalAdvance(text), 0, 0, 0)

    def helpEvent(  # noqa: N802  Qt's name
        self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index
    ) -> bool:
        """Show what is known about the image as a plain-text tooltip."""
        del option
        if event.type() != QEvent.Type.ToolTip or self._tooltip is None or not index.isValid():
            return False
        why = index.data(self._broken) if self._broken is not None else None
        text = "\n".join(part for part in (index.data(self._tooltip), why) if part)
        QToolTip.showText(event.globalPos(), plain_tooltip(text[:600]) if text else "", view)
        return True


def _fill(painter: QPainter, rect: QRectF, colour: str) -> None:
    path = QPainterPath()
    path.addRoundedRect(rect, _ROUND, _ROUND)
    painter.fillPath(path, theme.colour(colour))


def _frame(painter: QPainter, rect: QRectF, colour: str, width: float) -> None:
    painter.setPen(QPen(theme.colour(colour), width))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(rect, _ROUND, _ROUND)
