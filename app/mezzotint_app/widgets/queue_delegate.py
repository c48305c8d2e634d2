"""Paints a queue entry: its first image, texts, progress and error."""

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QHelpEvent, QImage, QPainter, QPainterPath
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QToolTip

from mezzotint_app import theme
from mezzotint_app.resources import icon_in
from mezzotint_app.viewmodel.foreign_text import plain_tooltip
from mezzotint_app.viewmodel.queue.queue import ThumbnailRole, ViewRole
from mezzotint_app.viewmodel.queue.texts import COLOURS, ICONS, EntryView

Index = QModelIndex | QPersistentModelIndex

_PAD = 8
_GAP = 12
_BAR = 5
_ICON = 16
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignAbsolute
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignAbsolute


class QueueDelegate(QStyledItemDelegate):
    """Three lines: title and state; images, model and time; current activity or error."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: ARG002, N802  Qt's name
        """The same size for all rows."""
        return QSize(240, 3 * _line(option.fontMetrics) + 2 * _PAD + _BAR + 4)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint the whole row."""
        rect = QRect(option.rect)
        painter.save()
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        self._paint_ground(painter, rect, option.state)
        inner = rect.adjusted(_GAP, _PAD, -_GAP, -_PAD)
        thumbnail = QRect(inner.x(), inner.y(), inner.height(), inner.height())
        words = inner.adjusted(thumbnail.width() + _GAP, 0, 0, 0)
        if option.direction == Qt.LayoutDirection.RightToLeft:
            thumbnail.moveRight(inner.right())
            words.moveLeft(inner.left())
        view = index.data(ViewRole)
        self._paint_image(painter, thumbnail, index.data(ThumbnailRole), view)
        if view is not None:
            self._paint_words(painter, words, view, option)
        painter.restore()

    def _paint_ground(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag) -> None:
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, theme.colour("selected"))
            painter.fillRect(QRect(rect.x(), rect.y(), 4, rect.height()), theme.colour("accent"))
        painter.fillRect(QRect(rect.x(), rect.bottom(), rect.width(), 1), theme.colour("line"))
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(theme.colour("focus"))
            painter.drawRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -1.5))

    def _paint_image(self, painter: QPainter, place: QRect, image: object, view: EntryView | None) -> None:
        if isinstance(image, QImage) and not image.isNull():
            size = image.size().scaled(place.size(), Qt.AspectRatioMode.KeepAspectRatio)
            shown = QRect(0, 0, size.width(), size.height())
            shown.moveCenter(place.center())
            painter.drawImage(shown, image)
            return
        _rounded(painter, QRectF(place), "raised")
        _rounded(painter, QRectF(place).adjusted(1, 1, -1, -1), "window")
        if view is not None:
            drawing = QRect(0, 0, 24, 24)
            drawing.moveCenter(place.center())
            icon_in("image", "muted").paint(painter, drawing)

    def _paint_words(self, painter: QPainter, rect: QRect, view: EntryView, option: QStyleOptionViewItem) -> None:
        height = _line(option.fontMetrics)
        mirrored = option.direction == Qt.LayoutDirection.RightToLeft
        first = QRect(rect.x(), rect.y(), rect.width(), height)
        state_width = self._paint_state(painter, first, view, option)
        title = first.adjusted(0, 0, -state_width - _GAP, 0)
        if mirrored:
            title.moveRight(first.right())
        bold = QFont(option.font)
        bold.setWeight(QFont.Weight.DemiBold)
        _text(painter, title, view.title, "text", bold, mirrored=mirrored)
        _text(painter, first.translated(0, height), view.about, "muted", option.font, mirrored=mirrored)
        self._paint_note(painter, first.translated(0, 2 * height), view, option.font, mirrored=mirrored)
        if view.fraction is not None or view.busy:
            self._paint_bar(
                painter, QRectF(rect.x(), rect.bottom() - _BAR, rect.width(), _BAR), view, mirrored=mirrored
            )

    def _paint_state(self, painter: QPainter, line: QRect, view: EntryView, option: QStyleOptionViewItem) -> int:
        word = option.fontMetrics.horizontalAdvance(view.word) + 4  # the pen may be wider by a fraction of a pixel
        width = min(word + _ICON + 6, line.width() // 2)
        place = QRect(line.right() - width + 1, line.y(), width, line.height())
        if option.direction == Qt.LayoutDirection.RightToLeft:
            place.moveLeft(line.x())
        drawing = QRect(place.x(), place.center().y() - _ICON // 2 + 1, _ICON, _ICON)
        icon_in(ICONS[view.state], COLOURS[view.state]).paint(painter, drawing)
        _text(painter, place.adjusted(_ICON + 6, 0, 0, 0), view.word, COLOURS[view.state], option.font, mirrored=False)
        return width

    def _paint_note(self, painter: QPainter, line: QRect, view: EntryView, font: QFont, *, mirrored: bool) -> None:
        if view.trouble:
            drawing = QRect(line.x(), line.center().y() - _ICON // 2 + 1, _ICON, _ICON)
            rest = line.adjusted(_ICON + 6, 0, 0, 0)
            if mirrored:
                drawing.moveRight(line.right())
                rest.moveLeft(line.x())
            icon_in("error", "danger").paint(painter, drawing)
            _text(painter, rest, view.note, "danger", font, mirrored=mirrored)
        else:
            _text(painter, line, view.note, "muted", font, mirrored=mirrored)

    def _paint_bar(self, painter: QPainter, bar: QRectF, view: EntryView, *, mirrored: bool) -> None:
        _rounded(painter, bar, "line")
        done = QRectF(bar)
        done.setWidth(bar.width() * (view.fraction or 0.0))
        if mirrored:
            done.moveRight(bar.right())
        if done.width() >= 1:
            _rounded(painter, done, "accent" if view.state == "running" else "control")

    def helpEvent(  # noqa: N802  Qt's name
        self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index
    ) -> bool:
        """Show the complete texts as a plain-text tooltip."""
        del option
        entry = index.data(ViewRole) if index.isValid() else None
        if event.type() != QEvent.Type.ToolTip or entry is None:
            return False
        text = "\n".join(part for part in (entry.title, entry.about, entry.note) if part)
        QToolTip.showText(event.globalPos(), plain_tooltip(text), view)
        return True


def _line(metrics: QFontMetrics) -> int:
    return metrics.height() + 2


def _text(painter: QPainter, rect: QRect, text: str, colour: str, font: QFont, *, mirrored: bool) -> None:
    painter.setFont(font)
    painter.setPen(theme.colour(colour))
    painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)  # the text's own direction, not the window's
    shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
    painter.drawText(rect, (_RIGHT if mirrored else _LEFT) | Qt.TextFlag.TextSingleLine, shown)


def _rounded(painter: QPainter, rect: QRectF, colour: str) -> None:
    path = QPainterPath()
    path.addRoundedRect(rect, 2.5, 2.5)
    painter.fillPath(path, theme.colour(colour))
