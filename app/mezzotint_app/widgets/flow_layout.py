"""A layout that wraps widgets into lines, as text is wrapped."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """For rows of buttons that must stay readable in narrow panels and long languages."""

    def __init__(self, parent: QWidget | None = None, *, spacing: int = 8) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)

    def addItem(self, item: QLayoutItem) -> None:  # noqa: N802  Qt's name
        """Append an item."""
        self._items.append(item)

    def count(self) -> int:
        """The number of items."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # noqa: N802  Qt's name
        """The item at an index, or None."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # noqa: N802  Qt's name
        """Remove and return an item, or None."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:  # noqa: N802  Qt's name
        """The layout takes no more room than it needs."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:  # noqa: N802  Qt's name
        """The narrower the layout, the higher it is."""
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802  Qt's name
        """The height of all lines."""
        return self._place(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:  # noqa: N802  Qt's name
        """Place all items."""
        super().setGeometry(rect)
        self._place(rect, move=True)

    def sizeHint(self) -> QSize:  # noqa: N802  Qt's name
        """The minimum size."""
        return self.minimumSize()

    def minimumSize(self) -> QSize:  # noqa: N802  Qt's name
        """The size of the largest item, plus margins."""
        size, margins = QSize(), self.contentsMargins()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())

    def _place(self, whole: QRect, *, move: bool) -> int:
        rect = whole.marginsRemoved(self.contentsMargins())
        y, lines = rect.y(), self._lines(rect.width())
        for line in lines:
            high = max(item.sizeHint().height() for item in line)
            if move:
                self._place_line(line, QRect(rect.x(), y, rect.width(), high))
            y += high + self.spacing()
        bottom = y - (self.spacing() if lines else 0)
        return bottom - rect.y() + whole.height() - rect.height()

    def _lines(self, width: int) -> list[list[QLayoutItem]]:
        lines: list[list[QLayoutItem]] = []
        left = 0
        for item in self._items:
            widget = item.widget()
            if widget is not None and widget.isHidden():
                continue
            hint = item.sizeHint().width()
            if not lines or hint > left:
                lines.append([])
                left = width
            lines[-1].append(item)
            left -= hint + self.spacing()
        return lines

    def _place_line(self, line: list[QLayoutItem], rect: QRect) -> None:
        x = rect.x()
        for item in line:
            hint = item.sizeHint()
            size = QSize(min(hint.width(), max(rect.width(), item.minimumSize().width())), hint.height())
            at = QPoint(x, rect.y() + (rect.height() - size.height()) // 2)
            item.setGeometry(QRect(self._mirrored(at, size, rect), size))
            x += size.width() + self.spacing()

    def _mirrored(self, at: QPoint, size: QSize, rect: QRect) -> QPoint:
        parent = self.parentWidget()
        if parent is None or not parent.isRightToLeft():
            return at
        return QPoint(rect.x() + rect.width() - (at.x() - rect.x()) - size.width(), at.y())
