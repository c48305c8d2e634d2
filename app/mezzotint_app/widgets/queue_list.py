"""The queue as a list; entries are moved by drag and drop or with the keyboard."""

from PySide6.QtCore import QModelIndex, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QDropEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QWidget

from mezzotint_app.widgets.queue_delegate import QueueDelegate


class QueueList(QListView):
    """Signals which rows are visible."""

    visible_rows_changed = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setItemDelegate(QueueDelegate(self))
        self.setUniformItemSizes(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setDragDropOverwriteMode(False)
        self.setDropIndicatorShown(True)
        self._last_visible = (0, -1)

    def updateGeometries(self) -> None:  # noqa: N802  Qt's name
        """Also called whenever rows are inserted or removed."""
        super().updateGeometries()
        self._emit_visible_rows()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802  Qt's name
        """Report the visible rows."""
        super().resizeEvent(event)
        self._emit_visible_rows()

    def scrollContentsBy(self, dx: int, dy: int) -> None:  # noqa: N802  Qt's name
        """Report the visible rows."""
        super().scrollContentsBy(dx, dy)
        self._emit_visible_rows()

    def keyboardSearch(self, search: str) -> None:  # noqa: N802
        """Disabled, as it would read every row of the list."""

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802  Qt's name
        """Drop between the two nearest rows."""
        row = self.row_before(event.position().toPoint())
        self.model().dropMimeData(event.mimeData(), event.dropAction(), row, 0, QModelIndex())
        event.accept()
        self.setState(QAbstractItemView.State.NoState)
        self.viewport().update()

    def row_before(self, point: QPoint) -> int:
        """The row before which something dropped at `point` is inserted."""
        index = self.indexAt(point)
        if not index.isValid():
            return self.model().rowCount() if point.y() > 0 else 0
        return index.row() + (point.y() > self.visualRect(index).center().y())

    def selected_count(self) -> int:
        """The number of selected rows."""
        return selected_count(self)

    def selected_rows(self) -> list[int]:
        """The selected rows, in order."""
        return selected_rows(self)

    def rows_in_sight(self) -> tuple[int, int]:
        """The first and last visible row."""
        view: QRect = self.viewport().rect()
        count = self.model().rowCount() if self.model() is not None else 0
        first = self.indexAt(QPoint(view.x() + 8, 1))
        last = self.indexAt(QPoint(view.x() + 8, view.bottom()))
        start = first.row() if first.isValid() else 0
        return start, last.row() if last.isValid() else min(max(0, count - 1), start + 40)

    def _emit_visible_rows(self) -> None:
        if self.model() is None:
            return
        visible = self.rows_in_sight()
        if visible != self._last_visible:
            self._last_visible = visible
            self.visible_rows_changed.emit(*visible)


def selected_count(view: QAbstractItemView) -> int:
    """The number of selected rows in a list; selecting all rows costs no more than selecting one."""
    selection = view.selectionModel().selection()
    return sum(selection.at(number).height() for number in range(selection.count()))


def selected_rows(view: QAbstractItemView) -> list[int]:
    """The selected rows of a list, in order, without creating an index for each."""
    selection = view.selectionModel().selection()
    spans = [selection.at(number) for number in range(selection.count())]
    return sorted({row for span in spans for row in range(span.top(), span.bottom() + 1)})
