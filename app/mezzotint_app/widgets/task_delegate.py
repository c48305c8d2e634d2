"""Paints a task of a queue entry: an icon and text for its state, with the complete error below."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QPainter, QTextLayout, QTextOption
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from mezzotint.jobs.store import Task
from mezzotint_app import theme
from mezzotint_app.resources import icon_in
from mezzotint_app.viewmodel.queue.details import TaskRole
from mezzotint_app.viewmodel.queue.texts import COLOURS, ICONS, task_errors, task_text

Index = QModelIndex | QPersistentModelIndex

_PAD = 6
_ICON = 16
_LONGEST = 2000  # characters of a message


class TaskDelegate(QStyledItemDelegate):
    """Rows are as high as the wrapped text at the width of the list."""

    def __init__(self, view: QListView) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802  Qt's name
        """The size of the wrapped text."""
        width = max(80, self._view.viewport().width())
        task = index.data(TaskRole)
        if not isinstance(task, Task):
            return QSize(width, 0)
        inner = width - _ICON - 3 * _PAD
        heights = [_laid_out(text, option.font, inner).boundingRect().height() for text, _ in _paragraphs(task)]
        return QSize(width, round(sum(heights)) + 2 * _PAD)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint the icon, the text and the errors."""
        task = index.data(TaskRole)
        if not isinstance(task, Task):
            return
        painter.save()
        rect = QRect(option.rect)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, theme.colour("raised"))
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(theme.colour("focus"))
            painter.drawRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5))
        words = rect.adjusted(2 * _PAD + _ICON, _PAD, -_PAD, -_PAD)
        drawing = QRect(rect.x() + _PAD, rect.y() + _PAD, _ICON, _ICON)
        if option.direction == Qt.LayoutDirection.RightToLeft:
            drawing.moveRight(rect.right() - _PAD)
            words.moveLeft(rect.x() + _PAD)
        icon_in(ICONS[task.state], COLOURS[task.state]).paint(painter, drawing)
        top = float(words.y())
        for text, colour in _paragraphs(task):
            layout = _laid_out(text, option.font, words.width())
            painter.setPen(theme.colour(colour))
            layout.draw(painter, QPointF(words.x(), top))
            top += layout.boundingRect().height()
        painter.restore()


def _paragraphs(task: Task) -> list[tuple[str, str]]:
    errors = [(text, "danger" if number == 0 else "text") for number, text in enumerate(task_errors(task))]
    return [(task_text(task), "text"), *errors]


def _laid_out(text: str, font: QFont, width: int) -> QTextLayout:
    """Lay out text wrapped at word boundaries, or within words that are wider than a line."""
    layout = QTextLayout(text[:_LONGEST].replace("\n", "\u2028"), font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.beginLayout()
    top = 0.0
    while (line := layout.createLine()).isValid():
        line.setLineWidth(max(40, width))
        line.setPosition(QPointF(0, top))
        top += line.height()
    layout.endLayout()
    return layout
