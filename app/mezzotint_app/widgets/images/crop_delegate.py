"""Paints an image of a dataset, dimmed where it is cut away, with its caption below, which is edited in place."""

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QColor, QHelpEvent, QImage, QKeyEvent, QPainter, QPainterPath, QPen, QTextLayout, QTextOption
from PySide6.QtWidgets import (
    QAbstractItemView,
    QPlainTextEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
    QWidget,
)

from mezzotint_app import theme
from mezzotint_app.resources import icon_in
from mezzotint_app.viewmodel.foreign_text import in_one_line, plain_tooltip

Index = QModelIndex | QPersistentModelIndex

MARGIN = 8  # device-independent pixels
_LINES = 3  # of the caption
_WARNING = 20
_DIMMED = 170  # of 255


class CaptionEditor(QPlainTextEdit):
    """Enter ends editing, Shift+Enter begins another caption; Tab goes to the next image."""

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802, D102
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self.insertPlainText("\n")
            else:
                event.ignore()  # the delegate's event filter takes it
            return
        super().keyPressEvent(event)


class CropDelegate(QStyledItemDelegate):
    """Paints the data of a model's roles."""

    def __init__(self, *, thumbnail: int, crop: int, caption: int, problem: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thumbnail, self._crop, self._caption, self._problem = thumbnail, crop, caption, problem
        self._side = 180

    def cell(self, widget: QWidget) -> QSize:
        """The size of a cell."""
        return QSize(self._side + 2 * MARGIN, self._side + 3 * MARGIN + _LINES * widget.fontMetrics().lineSpacing())

    def side(self) -> int:
        """The side of the image area, in device-independent pixels."""
        return self._side

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint the whole cell."""
        rect = QRect(option.rect)
        painter.save()
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        if option.state & QStyle.StateFlag.State_Selected:
            _fill(painter, QRectF(rect).adjusted(2, 2, -2, -2), "selected")
        shown = self._paint_image(painter, self._image_area(rect), index)
        if index.data(self._problem):
            self._paint_warning(painter, shown)
        self._paint_caption(painter, self._caption_area(rect), index)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(theme.colour("focus"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(rect).adjusted(2, 2, -2, -2), 4, 4)
        painter.restore()

    def helpEvent(  # noqa: N802  Qt's name
        self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index
    ) -> bool:
        """Show all about the image as a plain-text tooltip."""
        del option
        if event.type() != QEvent.Type.ToolTip or not index.isValid():
            return False
        text = index.data(Qt.ItemDataRole.ToolTipRole) or ""
        QToolTip.showText(event.globalPos(), plain_tooltip(text[:1000]), view)
        return True

    # ---- editing

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:  # noqa: N802
        """A text field over the caption."""
        del option, index
        editor = CaptionEditor(parent)
        editor.setAccessibleName(self.tr("Caption"))
        editor.setToolTip(self.tr("Describe what it shows. Enter saves; Shift+Enter adds an alternative caption"))
        editor.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        return editor

    def setEditorData(self, editor: QWidget, index: Index) -> None:  # noqa: N802  Qt's name
        """Fill in the captions."""
        if isinstance(editor, QPlainTextEdit) and not editor.document().isModified():
            editor.setPlainText(index.data(Qt.ItemDataRole.EditRole) or "")
            editor.selectAll()

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:  # noqa: N802
        """Take the captions."""
        if isinstance(editor, QPlainTextEdit):
            model.setData(index, editor.toPlainText(), Qt.ItemDataRole.EditRole)

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:  # noqa: N802
        """Cover the caption, and a part of the image."""
        del index
        area = self._caption_area(QRect(option.rect))
        editor.setGeometry(area.adjusted(-4, -2 * editor.fontMetrics().lineSpacing(), 4, 4))

    def eventFilter(self, editor: QObject, event: QEvent) -> bool:  # noqa: N802  Qt's name
        """Enter ends editing."""
        if isinstance(editor, CaptionEditor) and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            plain = not event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            if plain and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.commitData.emit(editor)
                self.closeEditor.emit(editor, QStyledItemDelegate.EndEditHint.NoHint)
                return True
        return super().eventFilter(editor, event)

    # ---- painting

    def _image_area(self, rect: QRect) -> QRect:
        return QRect(rect.x() + MARGIN, rect.y() + MARGIN, rect.width() - 2 * MARGIN, self._side)

    def _caption_area(self, rect: QRect) -> QRect:
        return rect.adjusted(MARGIN, 2 * MARGIN + self._side, -MARGIN, -MARGIN)

    def _paint_image(self, painter: QPainter, area: QRect, index: Index) -> QRect:
        image = index.data(self._thumbnail)
        if not isinstance(image, QImage) or image.isNull():
            place = QRect(0, 0, min(area.width(), area.height()), area.height())
            place.moveCenter(area.center())
            _fill(painter, QRectF(place), "raised")
            return place
        size = image.size().scaled(area.size(), Qt.AspectRatioMode.KeepAspectRatio)
        place = QRect(0, 0, size.width(), size.height())
        place.moveCenter(area.center())
        painter.drawImage(place, image)
        self._paint_crop(painter, QRectF(place), index.data(self._crop))
        return place

    def _paint_crop(self, painter: QPainter, place: QRectF, crop: object) -> None:
        """Dim what is cut away, and frame what is used."""
        if not isinstance(crop, QRectF) or (crop.width() > 0.995 and crop.height() > 0.995):
            return
        used = QRectF(
            place.x() + crop.x() * place.width(),
            place.y() + crop.y() * place.height(),
            crop.width() * place.width(),
            crop.height() * place.height(),
        )
        outside = QPainterPath()
        outside.addRect(place)
        inside = QPainterPath()
        inside.addRect(used)
        shade = QColor(theme.colour("window"))
        shade.setAlpha(_DIMMED)
        painter.fillPath(outside.subtracted(inside), shade)
        painter.setPen(QPen(theme.colour("accent"), 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(used.adjusted(0.75, 0.75, -0.75, -0.75))

    def _paint_warning(self, painter: QPainter, shown: QRect) -> None:
        place = QRect(shown.right() - _WARNING - 5, shown.y() + 5, _WARNING, _WARNING)
        path = QPainterPath()
        path.addRoundedRect(QRectF(place).adjusted(-3, -3, 3, 3), 4, 4)
        painter.fillPath(path, theme.colour("surface"))
        icon_in("warning", "warning").paint(painter, place)

    def _paint_caption(self, painter: QPainter, area: QRect, index: Index) -> None:
        caption = in_one_line(index.data(self._caption) or "", 400)
        painter.setPen(theme.colour("text" if caption else "muted"))
        layout = QTextLayout(caption or self.tr("No caption: double-click to write one"), painter.font())
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        _draw_lines(painter, layout, area)


def _draw_lines(painter: QPainter, layout: QTextLayout, area: QRect) -> None:
    """Draw as many lines as fit; the last one is elided."""
    metrics, text = painter.fontMetrics(), layout.text()
    layout.beginLayout()
    for number in range(_LINES):
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(area.width())
        part = text[line.textStart() : line.textStart() + line.textLength()]
        if number == _LINES - 1:
            part = metrics.elidedText(text[line.textStart() :], Qt.TextElideMode.ElideRight, area.width())
        top = area.y() + number * metrics.lineSpacing()
        painter.drawText(QRect(area.x(), top, area.width(), metrics.height()), Qt.AlignmentFlag.AlignLeft, part)
    layout.endLayout()


def _fill(painter: QPainter, rect: QRectF, colour: str) -> None:
    path = QPainterPath()
    path.addRoundedRect(rect, 4, 4)
    painter.fillPath(path, theme.colour(colour))
