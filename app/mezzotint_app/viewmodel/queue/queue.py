"""The queue as a list model: pages of the store, progress of the running entry, reordering by drag and keyboard."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Literal

from PySide6.QtCore import QByteArray, QMimeData, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from mezzotint.jobs.store import EntryRow, JobStore, TaskState
from mezzotint_app.viewmodel.paged_model import ROW_FLAGS, Index, OnError, OnPage, PagedModel
from mezzotint_app.viewmodel.queue.access import QueueAccess
from mezzotint_app.viewmodel.queue.running import QueueRunning
from mezzotint_app.viewmodel.queue.texts import EntryView, entry_view, spoken
from mezzotint_app.viewmodel.queue.watch import QueueWatch
from mezzotint_app.viewmodel.thumbnails import ThumbnailKey, Thumbnails

RowRole = Qt.ItemDataRole.UserRole + 1  # EntryRow, or None while it is being fetched
ViewRole = RowRole + 1  # EntryView, or None
ThumbnailRole = RowRole + 2  # QImage of the first image, or None

Show = Literal["to_do", "finished", "all"]
UNFINISHED: tuple[TaskState, ...] = ("running", "waiting", "interrupted", "failed", "set_aside")
_STATES: dict[Show, tuple[TaskState, ...] | None] = {
    "to_do": UNFINISHED,
    "finished": ("done", "cancelled"),
    "all": None,
}
MIME = "application/x-mezzotint-entries"


class QueueModel(PagedModel[EntryRow]):
    """Entries in the order in which they are processed."""

    show_changed = Signal()

    def __init__(
        self,
        access: QueueAccess,
        watch: QueueWatch,
        running: QueueRunning,
        thumbnails: Thumbnails,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(self._ask_store, lambda row: row.id, parent, ready=False)
        self._access, self._running, self._thumbnails = access, running, thumbnails
        self._show: Show = "to_do"
        self._side = 128
        self._times: dict[int, float | None] = {}
        self._asking_times = False
        self._dragged: list[QPersistentModelIndex] = []
        self._ran: int | None = None
        access.opened.connect(lambda _notice: self.begin())
        watch.changed.connect(self.refresh)
        running.changed.connect(self._progressed)
        thumbnails.changed.connect(self._thumbnail_changed)
        self.answered.connect(self._look_at_shown)

    # ---- filter

    def shows(self) -> Show:
        """Return which entries are listed."""
        return self._show

    def show(self, which: Show) -> None:
        """Change which entries are listed."""
        if which != self._show:
            self._show = which
            self.restart()
            self.show_changed.emit()

    def _ask_store(self, offset: int, limit: int, on_page: OnPage[EntryRow], on_error: OnError) -> None:
        states = _STATES[self._show]

        def read(store: JobStore) -> tuple[int, tuple[EntryRow, ...]]:
            return store.count(states), store.rows(offset=offset, limit=limit, states=states)

        self._access.ask(read, lambda page: on_page(*page), lambda error: on_error(str(error)))

    # ---- interface for views

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401
        """Return the data of an entry."""
        if not index.isValid():
            return None
        row = self.item(index.row())
        match role:
            case _ if role == RowRole:
                return row
            case _ if role == ViewRole:
                return None if row is None else self.view_of(row)
            case _ if role == ThumbnailRole:
                wanted = self._thumbnail_of(row)
                return None if wanted is None else self._thumbnails.thumbnail(wanted)
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.AccessibleTextRole:
                return self.tr("Loading") if row is None else spoken(self.view_of(row))
        return None

    def view_of(self, row: EntryRow) -> EntryView:
        """Return the display form of an entry, with its progress if it is running."""
        if row.id != self._running.entry():
            return entry_view(row, left=self._times.get(row.id))
        done = row.images + self._running.images_under_way()
        fraction = done / row.images_asked if done and row.images_asked else self._running.fraction()
        return entry_view(
            replace(row, state="running"),
            doing=self._running.words(),
            fraction=None if fraction is None else min(1.0, fraction),
            left=self._running.entry_seconds_left(),
        )

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Entries can be dragged, and dropped between others."""
        return ROW_FLAGS if index.isValid() else Qt.ItemFlag.ItemIsDropEnabled

    # ---- order

    def move_rows(self, rows: Collection[int], before: int) -> None:
        """Move `rows`, in their order, in front of row `before`; the number of rows: to the end."""
        moving = sorted(set(rows))
        last = self.rowCount()
        target = next((row for row in range(max(0, before), last) if row not in moving), last)
        if not moving or self._stays(moving, target):
            return
        ahead = [target] if target < last else []
        self.gather(moving + ahead, lambda found: self._move_found(moving, target, found))

    def move_up(self, rows: Collection[int]) -> None:
        """Move `rows` one place towards the front."""
        if rows and min(rows) > 0:
            self.move_rows(rows, min(rows) - 1)

    def move_down(self, rows: Collection[int]) -> None:
        """Move `rows` one place towards the end."""
        if rows and max(rows) < self.rowCount() - 1:
            self.move_rows(rows, max(rows) + 2)

    def _stays(self, moving: Sequence[int], target: int) -> bool:
        return moving[-1] == target - 1 and moving[-1] - moving[0] == len(moving) - 1

    def _move_found(self, moving: Sequence[int], target: int, found: Sequence[EntryRow]) -> None:
        ids = [row.id for row in found[: len(moving)]]
        before = found[len(moving)].id if len(found) > len(moving) else None
        self.move_optimistically(moving, target)
        self._access.change(lambda store: store.move(ids, before), None, self._not_moved)

    def _not_moved(self, error: Exception) -> None:
        self.failed.emit(self.tr("The order was not changed: {0}").format(error))
        self.refresh()

    def mimeTypes(self) -> list[str]:  # noqa: N802  Qt's name
        """Only entries of this window."""
        return [MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:  # noqa: N802  Qt's name
        """Return a marker only: the dragged rows are kept here as persistent indexes, since the queue may change."""
        self._dragged = [QPersistentModelIndex(index) for index in indexes]
        data = QMimeData()
        data.setData(MIME, QByteArray(b"entries"))
        return data

    def supportedDropActions(self) -> Qt.DropAction:  # noqa: N802  Qt's name
        """Entries can only be moved."""
        return Qt.DropAction.MoveAction

    def canDropMimeData(  # noqa: N802  Qt's name
        self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index
    ) -> bool:
        """Whether the drop is between rows."""
        del action, row, column
        return data.hasFormat(MIME) and bool(self._dragged) and not parent.isValid()

    def dropMimeData(  # noqa: N802  Qt's name
        self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index
    ) -> bool:
        """Move the dragged entries; returns False, so that the view does not remove the rows."""
        if self.canDropMimeData(data, action, row, column, parent):
            rows = [index.row() for index in self._dragged if index.isValid()]
            self._dragged = []
            self.move_rows(rows, self.rowCount() if row < 0 else row)
        return False

    # ---- updates

    def show_rows(self, first: int, last: int) -> None:
        """Set the visible rows."""
        super().show_rows(first, last)
        self._look_at_shown()

    def set_thumbnails(self, side: int) -> None:
        """Set the thumbnail side in pixels."""
        self._side = side
        self._look_at_shown()

    def _progressed(self) -> None:
        entry = self._running.entry()
        for key in {self._ran, entry} - {None}:
            row = self.row_of(key)
            if row is not None:
                self.dataChanged.emit(self.index(row), self.index(row))
        if entry != self._ran:
            self._times.clear()  # the finished run improves the estimates
            self._ran = entry

    def _look_at_shown(self) -> None:
        rows = self._rows_in_sight()
        self._thumbnails.show(
            [wanted for row in rows if (wanted := self._thumbnail_of(row)) is not None], viewer="queue"
        )
        self._ask_times(rows)

    def _rows_in_sight(self) -> list[EntryRow]:
        return [row for row in map(self.peek, self.shown_rows()) if row is not None]

    def _untimed(self, rows: Sequence[EntryRow]) -> list[int]:
        return [row.id for row in rows if row.state == "waiting" and row.id not in self._times]

    def _ask_times(self, rows: Sequence[EntryRow]) -> None:
        """Query estimates with at most one query in flight; afterwards the rows then visible are checked again."""
        if self._asking_times:
            return
        mine = self._running.entry()
        # A running entry of another program progresses there, so its estimate is queried again.
        unknown = self._untimed(rows) + [row.id for row in rows if row.state == "running" and row.id != mine]
        if unknown:
            self._asking_times = True
            self._times.update(dict.fromkeys(unknown))
            self._access.ask(
                lambda store: {entry: store.expected_entry(entry) for entry in unknown},
                self._have_times,
                self._have_no_times,
            )

    def _have_times(self, times: dict[int, float | None]) -> None:
        self._asking_times = False
        self._times.update(times)
        rows = self._rows_in_sight()
        if self._untimed(rows):  # the list was scrolled meanwhile
            self._ask_times(rows)
        shown = self.shown_rows()
        if len(shown) and any(seconds is not None for seconds in times.values()):
            self.dataChanged.emit(self.index(shown[0]), self.index(shown[-1]))

    def _have_no_times(self, _error: Exception) -> None:
        """Ignored: estimates are optional, and the page itself reports a store that cannot be read."""
        self._asking_times = False

    def _thumbnail_of(self, row: EntryRow | None) -> ThumbnailKey | None:
        return None if row is None or row.first_image is None else ThumbnailKey(path=row.first_image, side=self._side)

    def _thumbnail_changed(self, path: str) -> None:
        for at in self.shown_rows():
            row = self.peek(at)
            if row is not None and row.first_image == path:
                self.dataChanged.emit(self.index(at), self.index(at), [ThumbnailRole])
