"""A grid of equal cells for lists of any length: its cost depends only on the visible cells."""

from PySide6.QtCore import (
    QAbstractItemModel,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QDrag, QPainter, QPaintEvent, QRegion
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyleOptionViewItem, QWidget

Index = QModelIndex | QPersistentModelIndex

_DRAGGED = 1000  # cells at most
_STEP = 40  # pixels per wheel step
_HINT = QAbstractItemView.ScrollHint


class GridView(QListView):
    """A QListView, for the sake of screen readers, with a computed layout."""

    visible_rows_changed = Signal(int, int)  # first and last visible row

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cell = QSize(200, 200)
        self._columns = 1
        self._anchor: tuple[QPersistentModelIndex, int] | None = None
        self._last_visible = (0, -1)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
        self.setMouseTracking(True)

    # ---- sizes

    def set_cell(self, size: QSize) -> None:
        """Set the minimum cell size; the rest of a line is distributed among its cells."""
        if size != self._cell:
            self._hold()
            self._cell = size
            self._release()

    def columns(self) -> int:
        """The number of cells in a line."""
        return self._columns

    def setModel(self, model: QAbstractItemModel | None) -> None:  # noqa: N802  Qt's name
        """Show a model; the first visible item keeps its place while others are inserted and removed."""
        super().setModel(model)
        if model is not None:
            for before in (model.rowsAboutToBeInserted, model.rowsAboutToBeRemoved, model.layoutAboutToBeChanged):
                before.connect(self._hold)
            for after in (model.rowsInserted, model.rowsRemoved, model.layoutChanged):
                after.connect(self._release)
            model.modelReset.connect(self._begin_anew)
        self._begin_anew()

    def doItemsLayout(self) -> None:  # noqa: N802  Qt's name
        """Nothing is laid out in advance."""
        QAbstractItemView.doItemsLayout(self)

    def updateGeometries(self) -> None:  # noqa: N802  Qt's name
        """Update the columns and the scroll range."""
        view = self.viewport().size()
        self._columns = max(1, view.width() // self._cell.width())
        bar = self.verticalScrollBar()
        bar.setRange(0, max(0, self._lines() * self._cell.height() - view.height()))
        bar.setPageStep(max(self._cell.height(), view.height() - self._cell.height() // 2))
        bar.setSingleStep(_STEP)
        self._emit_visible_rows()

    def sizeHint(self) -> QSize:  # noqa: N802  Qt's name
        """Room for a few cells."""
        return QSize(3 * self._cell.width(), 2 * self._cell.height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802  Qt's name
        """Room for one cell."""
        return QSize(self._cell.width() + 24, self._cell.height())

    def _count(self) -> int:
        model = self.model()
        return 0 if model is None else model.rowCount(self.rootIndex())

    def _lines(self) -> int:
        return -(-self._count() // self._columns)

    # ---- geometry

    def visualRect(self, index: Index) -> QRect:  # noqa: N802  Qt's name
        """The current rectangle of a cell."""
        if not index.isValid():
            return QRect()
        line, column = divmod(index.row(), self._columns)
        width = self.viewport().width()
        left, right = width * column // self._columns, width * (column + 1) // self._columns
        top = line * self._cell.height() - self.verticalScrollBar().value()
        if self.isRightToLeft():
            left, right = width - right, width - left
        return QRect(left, top, right - left, self._cell.height())

    def indexAt(self, point: QPoint) -> QModelIndex:  # noqa: N802  Qt's name
        """The cell at a point."""
        width, x = self.viewport().width(), point.x()
        if not 0 <= x < width or self._count() == 0:
            return QModelIndex()
        if self.isRightToLeft():
            x = width - 1 - x
        line = (point.y() + self.verticalScrollBar().value()) // self._cell.height()
        row = line * self._columns + min(self._columns - 1, ((x + 1) * self._columns - 1) // width)
        return self.model().index(row, 0, self.rootIndex()) if 0 <= row < self._count() else QModelIndex()

    def rows_in_sight(self) -> range:
        """The rows that are at least partly visible."""
        value, height = self.verticalScrollBar().value(), self._cell.height()
        first = value // height * self._columns
        last = ((value + max(0, self.viewport().height() - 1)) // height + 1) * self._columns
        return range(min(first, self._count()), min(last, self._count()))

    def horizontalOffset(self) -> int:  # noqa: N802  Qt's name
        """Always 0: the view never scrolls horizontally."""
        return 0

    def verticalOffset(self) -> int:  # noqa: N802  Qt's name
        """The scroll position."""
        return self.verticalScrollBar().value()

    def scrollTo(self, index: Index, hint: QAbstractItemView.ScrollHint = _HINT.EnsureVisible) -> None:  # noqa: N802
        """Scroll a cell into view."""
        if not index.isValid():
            return
        bar, rect, height = self.verticalScrollBar(), self.visualRect(index), self.viewport().height()
        if hint == _HINT.PositionAtCenter:
            bar.setValue(bar.value() + rect.center().y() - height // 2)
        elif rect.top() < 0 or hint == _HINT.PositionAtTop:
            bar.setValue(bar.value() + rect.top())
        elif rect.bottom() >= height or hint == _HINT.PositionAtBottom:
            bar.setValue(bar.value() + min(rect.top(), rect.bottom() - height + 1))

    def scrollContentsBy(self, dx: int, dy: int) -> None:  # noqa: N802, ARG002  Qt's name
        """Repaint, which is cheap as only the visible cells are painted."""
        self.viewport().update()
        self._emit_visible_rows()

    # ---- keyboard and selection

    def moveCursor(  # noqa: N802  Qt's name
        self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        """The index that a key moves to."""
        del modifiers
        count, current = self._count(), self.currentIndex()
        if count == 0:
            return QModelIndex()
        if not current.isValid():
            return self.model().index(0, 0, self.rootIndex())
        row = self._led_to(action, current.row(), count)
        return self.model().index(row, 0, self.rootIndex())

    def _led_to(self, action: QAbstractItemView.CursorAction, row: int, count: int) -> int:
        move = QAbstractItemView.CursorAction
        page = max(1, self.viewport().height() // self._cell.height()) * self._columns
        right = -1 if self.isRightToLeft() else 1
        by = {
            move.MoveLeft: -right,
            move.MoveRight: right,
            move.MoveUp: -self._columns,
            move.MoveDown: self._columns,
            move.MovePrevious: -1,
            move.MoveNext: 1,
            move.MovePageUp: -page,
            move.MovePageDown: page,
            move.MoveHome: -row,
            move.MoveEnd: count - 1 - row,
        }.get(action, 0)
        to = row + by
        if abs(by) == self._columns and not 0 <= to < count and self._columns > 1:
            # Up in the first line stays; down goes to the last image if the next line is shorter.
            return count - 1 if by > 0 and row // self._columns < (count - 1) // self._columns else row
        return max(0, min(count - 1, to))

    def startDrag(self, supported: Qt.DropAction) -> None:  # noqa: N802  Qt's name
        """Drag the selected cells, without a query for each of very many."""
        selection = self.selectionModel().selection()
        rows: list[int] = []
        for number in range(selection.count()):
            span = selection.at(number)
            rows.extend(range(span.top(), min(span.bottom() + 1, span.top() + _DRAGGED - len(rows))))
        indexes = [self.model().index(row, 0, self.rootIndex()) for row in rows]
        data = self.model().mimeData(indexes)
        if data is not None and data.formats():
            drag = QDrag(self)
            drag.setMimeData(data)
            drag.exec(supported)

    def selectAll(self) -> None:  # noqa: N802  Qt's name
        """Select everything as one range; Qt would query each of fifty thousand rows."""
        count, index = self._count(), self.model().index
        if count:
            all_rows = QItemSelection(index(0, 0, self.rootIndex()), index(count - 1, 0, self.rootIndex()))
            self.selectionModel().select(all_rows, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def keyboardSearch(self, search: str) -> None:  # noqa: N802  Qt's name
        """Disabled, as it would read every row of the list."""

    def setSelection(self, rect: QRect, command: QItemSelectionModel.SelectionFlag) -> None:  # noqa: N802  Qt's name
        """Select all cells, in list order, between those at two opposite corners of `rect`."""
        ends = [self._nearest(rect.topLeft()), self._nearest(rect.bottomRight())]
        selection = QItemSelection()
        if None not in ends:
            rows = sorted(row for row in ends if row is not None)
            index = self.model().index
            selection.select(index(rows[0], 0, self.rootIndex()), index(rows[-1], 0, self.rootIndex()))
        self.selectionModel().select(selection, command)

    def _nearest(self, point: QPoint) -> int | None:
        found = self.indexAt(point)
        if found.isValid():
            return found.row()
        inside = QPoint(max(0, min(self.viewport().width() - 1, point.x())), point.y())
        found = self.indexAt(inside)
        if found.isValid() or not self._count():
            return found.row() if found.isValid() else None
        below = point.y() + self.verticalOffset() >= 0
        return self._count() - 1 if below else 0

    def visualRegionForSelection(self, selection: QItemSelection) -> QRegion:  # noqa: N802  Qt's name
        """The visible region of a selection."""
        shown, region = self.rows_in_sight(), QRegion()
        for span in (selection.at(number) for number in range(selection.count())):
            for row in range(max(shown.start, span.top()), min(shown.stop, span.bottom() + 1)):
                region += self.visualRect(self.model().index(row, 0, self.rootIndex()))
        return region

    # ---- painting

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802  Qt's name
        """Paint the visible cells."""
        painter = QPainter(self.viewport())
        option = QStyleOptionViewItem()
        self.initViewItemOption(option)
        hovered = (
            self.indexAt(self.viewport().mapFromGlobal(self.cursor().pos())) if self.underMouse() else QModelIndex()
        )
        for row in self.rows_in_sight():
            index = self.model().index(row, 0, self.rootIndex())
            rect = self.visualRect(index)
            if rect.intersects(event.rect()):
                self._paint_cell(painter, QStyleOptionViewItem(option), index, rect, hovered)
        painter.end()

    def _paint_cell(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex, rect: QRect, hovered: QModelIndex
    ) -> None:
        flag = QStyle.StateFlag
        state = option.state & ~flag.State_HasFocus & ~flag.State_MouseOver
        if self.selectionModel().isSelected(index):
            state |= flag.State_Selected
        if index == self.currentIndex() and self.hasFocus():
            state |= flag.State_HasFocus
        if index == hovered:
            state |= flag.State_MouseOver
        option.state, option.rect = state, rect
        self.itemDelegate().paint(painter, option, index)

    # ---- inserted and removed rows

    def _hold(self, *_: object) -> None:
        """Remember the first visible cell; keeps the previous one while its line is still the first."""
        value, shown, height = self.verticalScrollBar().value(), self.rows_in_sight(), self._cell.height()
        if value == 0 or not len(shown):
            self._anchor = None
            return
        line = shown.start // self._columns
        anchor = self._anchor[0] if self._anchor is not None else QPersistentModelIndex()
        if not anchor.isValid() or anchor.row() // self._columns != line:
            anchor = QPersistentModelIndex(self.model().index(shown.start, 0, self.rootIndex()))
        self._anchor = (anchor, value - line * height)

    def _release(self, *_: object) -> None:
        self.updateGeometries()
        if self._anchor is not None and self._anchor[0].isValid():
            line = self._anchor[0].row() // self._columns
            within = min(self._anchor[1], self._cell.height() - 1)
            self.verticalScrollBar().setValue(line * self._cell.height() + within)
        self.viewport().update()
        self._emit_visible_rows()

    def _begin_anew(self) -> None:
        self._anchor = None
        self.updateGeometries()
        self.verticalScrollBar().setValue(0)
        self.viewport().update()

    def _emit_visible_rows(self) -> None:
        shown = self.rows_in_sight()
        visible = (shown.start, max(shown.start, shown.stop - 1))
        if visible != self._last_visible:
            self._last_visible = visible
            self.visible_rows_changed.emit(*visible)
