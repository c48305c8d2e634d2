"""A list model of any length: pages are fetched asynchronously when a view needs them."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, QTimer, Signal

from mezzotint_app.viewmodel.paged_rows import PagedRows, runs

T = TypeVar("T")

Index = QModelIndex | QPersistentModelIndex
OnPage = Callable[[int, Sequence[T]], None]  # total number of rows, and the rows of the page
OnError = Callable[[str], None]
FetchPage = Callable[[int, int, OnPage[T], OnError], None]  # offset, limit

PAGE = 200  # rows per request
MAX_ROWS = 4000  # rows kept in memory
MAX_RUNS = 24  # contiguous runs of rows removed individually
MAX_REQUESTS = 2  # concurrent requests
_FLAG = Qt.ItemFlag
# Built once: views query the flags ten thousand times for a large selection.
ROW_FLAGS = _FLAG.ItemIsSelectable | _FLAG.ItemIsEnabled | _FLAG.ItemNeverHasChildren | _FLAG.ItemIsDragEnabled
_NOWHERE = QModelIndex()


class PagedModel(QAbstractListModel, Generic[T]):
    """Keeps the rows near the visible ones. After `refresh`, old rows stay until their page has been fetched again."""

    counted = Signal(int)  # total number of rows
    failed = Signal(str)  # a page could not be fetched
    answered = Signal()

    def __init__(
        self, ask: FetchPage[T], key: Callable[[T], Hashable], parent: QObject | None = None, *, ready: bool = True
    ) -> None:
        super().__init__(parent)
        self._ready = ready  # whether the source can be queried
        self._ask, self._key = ask, key
        self._rows: PagedRows[T] = PagedRows(key, MAX_ROWS)
        self._shown = (0, 0)
        self._first_answer = False
        self._question = 0  # answers to an older query are dropped
        self._version = 0  # answers of an older version are shown, but fetched again
        self._floor = 0  # answers from before this version are not shown: rows were changed locally since
        self._fresh: set[int] = set()
        self._under_way: dict[int, int] = {}
        self._wanted: list[int] = []
        self._refused: set[int] = set()
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self._ask_wanted)

    # ---- interface for views

    def rowCount(self, parent: Index = _NOWHERE) -> int:  # noqa: N802  Qt's name
        """Return the total number of rows, fetched or not."""
        return 0 if parent.isValid() else self._rows.total

    def data(self, index: Index, role: int = 0) -> Any:  # noqa: ANN401
        """Return None; subclasses supply the data."""
        del index, role

    def item(self, row: int) -> T | None:
        """Return the item in `row`, or None while its page is being fetched."""
        self._want(row // PAGE)
        return self._rows.get(row)

    def peek(self, row: int) -> T | None:
        """Return the item in `row` if it is known, without fetching it."""
        return self._rows.get(row)

    def known_rows(self) -> list[int]:
        """Return the rows whose items are known."""
        return self._rows.known()

    def row_of(self, key: Hashable) -> int | None:
        """Return the row of the item with this key, or None if unknown."""
        return self._rows.row_of(key)

    def is_loaded(self) -> bool:
        """Whether a first page has arrived since the last `restart`."""
        return self._first_answer

    def is_up_to_date(self) -> bool:
        """Whether the visible pages are current and no request has failed."""
        first, last = self._shown
        return not self._refused and set(range(first // PAGE, last // PAGE + 1)) <= self._fresh

    def show_rows(self, first: int, last: int) -> None:
        """Set the visible rows, which are kept up to date."""
        self._shown = (max(0, first), max(first, last))
        self._want_shown()

    def shown_rows(self) -> range:
        """Return the visible rows."""
        return range(self._shown[0], min(self._shown[1] + 1, self._rows.total))

    # ---- changes

    def begin(self) -> None:
        """Start fetching: the source is now available."""
        self._ready = True
        self.refresh()

    def refresh(self) -> None:
        """Contents may have changed: fetch the visible pages again now, and the others when next viewed."""
        self._version += 1
        self._fresh.clear()
        self._refused.clear()
        self._want_shown()

    def restart(self) -> None:
        """Discard all rows and fetch again, because the query has changed."""
        self.beginResetModel()
        self._rows.clear()
        self._shown = (0, min(self._shown[1] - self._shown[0], PAGE - 1))
        self._question += 1
        self._first_answer = False
        self._under_way.clear()
        self.endResetModel()
        self.refresh()

    def update_optimistically(self, key: Hashable, change: Callable[[T], T]) -> None:
        """Show a change before the source has confirmed it."""
        row = self._rows.row_of(key)
        item = None if row is None else self._rows.get(row)
        if row is None or item is None:
            return
        self._floor = self._version + 1
        self._rows.set(row, change(item))
        self._emit_changed(row, row)

    def remove_optimistically(self, keys: Iterable[Hashable]) -> None:
        """Remove rows before the source has confirmed it."""
        places = self._rows.places()
        self._floor = self._version + 1
        gone = runs([places[key] for key in keys if key in places])
        for row, count in reversed(gone[:MAX_RUNS]):  # further runs disappear when the page is fetched again
            self._remove(row, count)
        self.refresh()

    def move_optimistically(self, rows: Sequence[int], before: int) -> None:
        """Move `rows`, in their order, in front of row `before` (the number of rows: to the end)."""
        self._floor = self._version + 1
        self.layoutAboutToBeChanged.emit()
        old = self.persistentIndexList()
        to = self._rows.move(rows, before)
        self.changePersistentIndexList(old, [self.index(to(index.row())) for index in old])
        self.layoutChanged.emit()
        self.refresh()

    # ---- fetching

    def gather(self, rows: Sequence[int], then: Callable[[list[T]], None], failed: OnError | None = None) -> None:
        """Pass the items in `rows` to `then`, fetching missing pages first; `then` may be called synchronously."""
        found = {row: item for row in rows if (item := self._rows.get(row)) is not None}
        pages = sorted({row // PAGE for row in rows if row not in found})
        self._gather(list(rows), pages, found, then, failed or self.failed.emit)

    def _gather(
        self, rows: list[int], pages: list[int], found: dict[int, T], then: Callable[[list[T]], None], failed: OnError
    ) -> None:
        if not pages:
            then([found[row] for row in rows if row in found])
            return
        page, wanted = pages[0], set(rows)

        def on_page(_total: int, items: Sequence[T]) -> None:
            found.update({row: item for row, item in enumerate(items, page * PAGE) if row in wanted})
            self._gather(rows, pages[1:], found, then, failed)

        self._ask(page * PAGE, PAGE, on_page, failed)

    def _want_shown(self) -> None:
        first, last = self._shown
        for page in range(first // PAGE, last // PAGE + 1):
            self._want(page)

    def _want(self, page: int) -> None:
        if page in self._fresh or page in self._refused or self._under_way.get(page) == self._version:
            return
        if page in self._wanted:
            self._wanted.remove(page)
        self._wanted.append(page)
        if not self._soon.isActive():
            self._soon.start()

    def _ask_wanted(self) -> None:
        """Fetch the most recently wanted pages, which are visible; those passed by a fast scroll are dropped."""
        if not self._ready:
            return
        shown = range(self._shown[0] // PAGE, self._shown[1] // PAGE + 1)
        del self._wanted[: max(0, len(self._wanted) - 2 * MAX_REQUESTS - len(shown))]
        while self._wanted and len(self._under_way) < MAX_REQUESTS:
            page = self._wanted.pop()
            if page not in self._under_way and page not in self._fresh:
                self._ask_page(page)

    def _ask_page(self, page: int) -> None:
        question, version = self._question, self._version
        self._under_way[page] = version
        self._ask(
            page * PAGE,
            PAGE,
            lambda total, items: self._answered(question, version, page, total, items),
            lambda why: self._not_answered(question, page, why),
        )

    def _answered(self, question: int, version: int, page: int, total: int, items: Sequence[T]) -> None:
        if question != self._question:
            return
        self._under_way.pop(page, None)
        if version >= self._floor:
            self._first_answer = True
            self._take(page * PAGE, total, items)
            if version == self._version:
                self._fresh.add(page)
            self.answered.emit()
        self._want_shown()
        self._soon.start()

    def _not_answered(self, question: int, page: int, why: str) -> None:
        if question != self._question:
            return
        self._under_way.pop(page, None)
        self._refused.add(page)
        self.failed.emit(why)
        self._soon.start()

    # ---- storing a page

    def _take(self, first: int, total: int, items: Sequence[T]) -> None:
        items = list(items)[: max(0, total - first)]
        self._resize(first, total, items)
        if self._rows.difference(first, items) is None:
            taken = self._rows.take(first, items)
            self._emit_changed(taken.first, taken.last)
        else:
            self._rearrange(first, items)
        self._forget_far()

    def _resize(self, first: int, total: int, items: Sequence[T]) -> None:
        more = total - self._rows.total
        if not more:
            return
        self._fresh.clear()
        at = self._rows.difference(first, items)
        if more > 0:
            at = self._rows.total if at is None else at
            self.beginInsertRows(QModelIndex(), at, at + more - 1)
            self._rows.insert(at, more)
            self.endInsertRows()
        else:
            self._remove(total if at is None else min(at, total), -more)
        self.counted.emit(total)

    def _rearrange(self, first: int, items: Sequence[T]) -> None:
        """Apply a reordering of the same number of rows, keeping the selection on items that are found again."""
        self.layoutAboutToBeChanged.emit()
        old = self.persistentIndexList()
        keys = [self._rows.key_at(index.row()) for index in old]
        taken = self._rows.take(first, items)
        places = self._rows.places()
        page = range(first, first + len(items))
        self.changePersistentIndexList(
            old, [self._found_again(index, key, places, page) for index, key in zip(old, keys, strict=True)]
        )
        self.layoutChanged.emit()
        self._emit_changed(taken.first, taken.last)

    def _found_again(
        self, index: QModelIndex, key: Hashable | None, places: dict[Hashable, int], page: range
    ) -> QModelIndex:
        if key is None:
            return index
        if key in places:
            return self.index(places[key])
        return QModelIndex() if index.row() in page else index

    def _forget_far(self) -> None:
        forgotten = self._rows.forget_far(*self._shown)
        self._fresh.difference_update({row // PAGE for row in forgotten})

    def _remove(self, row: int, count: int) -> None:
        self.beginRemoveRows(QModelIndex(), row, row + count - 1)
        self._rows.remove(row, count)
        self.endRemoveRows()
        self.counted.emit(self._rows.total)

    def _emit_changed(self, first: int, last: int) -> None:
        if last >= first:
            self.dataChanged.emit(self.index(first), self.index(last))
