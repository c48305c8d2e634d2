"""A dry run: the tasks of a batch as a table that fills up incrementally; nothing is generated."""

from collections.abc import Sequence
from typing import Any, Literal

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from mezzotint.batch_protocol import BatchLook, DryRow, DryRows, DryTotals
from mezzotint.protocol import Event
from mezzotint_app.clock import Clock, SystemClock, TimerHandle
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.viewmodel.batch.form import Job
from mezzotint_app.viewmodel.batch.texts import does_words, row_name, seconds_words
from mezzotint_app.viewmodel.foreign_text import in_one_line, plain_tooltip

Index = QModelIndex | QPersistentModelIndex
DryRunState = Literal["nothing", "looking", "done", "stopped", "failed"]

DOES, INPUT, OUTPUT, SIZE, SEED, TIME, WHY = range(7)
MAX_ROWS = 200_000  # rows kept; beyond them, only the totals are shown
_GATHER = 0.15  # seconds during which rows are collected
_NOWHERE = QModelIndex()


class DryRunTable(QAbstractTableModel):
    """Rows in the order of execution."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[DryRow] = []
        self._has_reasons = False

    def rowCount(self, parent: Index = _NOWHERE) -> int:  # noqa: N802, D102
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:  # noqa: N802, D102
        return 0 if parent.isValid() else WHY + 1

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:  # noqa: N802, ANN401, D102
        if orientation != Qt.Orientation.Horizontal or role != Qt.ItemDataRole.DisplayRole:
            return None
        return (
            self.tr("Action"),
            self.tr("Source"),
            self.tr("Output file"),
            self.tr("Size"),
            self.tr("Seed"),
            self.tr("Time"),
            self.tr("Reason"),
        )[section]

    def data(self, index: Index, role: int = 0) -> Any:  # noqa: ANN401
        """Return a cell's text, tooltip or accessible text."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(self._rows[index.row()], index.column())
        if role == Qt.ItemDataRole.AccessibleTextRole:
            words = self._text(self._rows[index.row()], index.column())
            return f"{self.headerData(index.column(), Qt.Orientation.Horizontal)}: {words}"
        if role == Qt.ItemDataRole.ToolTipRole:
            words = self._text(self._rows[index.row()], index.column())
            return plain_tooltip(words) if words else None
        return None

    def row(self, number: int) -> DryRow:
        """Return a row."""
        return self._rows[number]

    def has_reasons(self) -> bool:
        """Whether any row has a reason for its action."""
        return self._has_reasons

    def clear(self) -> None:
        """Remove all rows."""
        self.beginResetModel()
        self._rows.clear()
        self._has_reasons = False
        self.endResetModel()

    def append(self, rows: Sequence[DryRow]) -> None:
        """Append rows, up to the limit."""
        taken = rows[: max(0, MAX_ROWS - len(self._rows))]
        if taken:
            self.beginInsertRows(_NOWHERE, len(self._rows), len(self._rows) + len(taken) - 1)
            self._rows.extend(taken)
            self._has_reasons = self._has_reasons or any(row.why for row in taken)
            self.endInsertRows()

    def _text(self, row: DryRow, column: int) -> str:
        if column == DOES:
            return does_words(row.does)
        if column == INPUT:
            return row_name(row)
        if column == OUTPUT:
            return in_one_line(row.output or "")
        if column == SIZE:
            return "" if row.width is None else f"{row.width} x {row.height}"
        if column == SEED:
            return "" if row.seed is None else str(row.seed)
        return seconds_words(row.seconds) if column == TIME else in_one_line(row.why)


class DryRun(QObject):
    """Runs one dry run at a time; a new one stops the previous one."""

    changed = Signal()  # state(), totals(), problem()

    def __init__(self, librarian: Service, clock: Clock | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._librarian = librarian
        self._clock = clock or SystemClock(self)
        self.table = DryRunTable(self)
        self._state: DryRunState = "nothing"
        self._totals: DryTotals | None = None
        self._problem = ""
        self._call: int | None = None
        self._number = 0  # of the dry run; events of earlier ones are dropped
        self._gathered: list[DryRow] = []
        self._count = 0
        self._wait: TimerHandle | None = None

    def state(self) -> DryRunState:
        """Return the state of the dry run."""
        return self._state

    def totals(self) -> DryTotals | None:
        """Return the totals, or None until it is done."""
        return self._totals

    def problem(self) -> str:
        """Return why the dry run failed, or ""."""
        return self._problem

    def count(self) -> int:
        """Return the number of rows received, including those not kept."""
        return self._count

    def start(self, job: Job, base: str) -> None:
        """Start a dry run."""
        self.stop()
        self._number += 1
        number = self._number
        self.table.clear()
        self._gathered, self._count, self._totals, self._problem = [], 0, None, ""
        self._call = self._librarian.ask(
            "batch_look",
            BatchLook(job=job, base=base),
            answer=DryTotals,
            then=lambda totals: self._done(number, totals),
            failed=lambda failure: self._failed(number, failure),
            on_event=lambda event: self._event(number, event),
        )
        self._set("looking")

    def stop(self) -> None:
        """Stop the dry run; its rows are kept."""
        if self._state == "looking" and self._call is not None:
            self._librarian.cancel(self._call)

    def discard(self) -> None:
        """Discard the dry run because the job has changed."""
        if self._state != "nothing":
            self.stop()
            self._number += 1
            self.table.clear()
            self._gathered, self._count, self._totals, self._problem = [], 0, None, ""
            self._set("nothing")

    def _event(self, number: int, event: Event) -> None:
        if number != self._number or not isinstance(event, DryRows):
            return
        self._count += len(event.rows)
        self._gathered.extend(event.rows)
        if self._wait is None:
            self._wait = self._clock.after(_GATHER, self._show_gathered)

    def _show_gathered(self) -> None:
        self._wait = None
        rows, self._gathered = self._gathered, []
        self.table.append(rows)
        self.changed.emit()

    def _done(self, number: int, totals: DryTotals) -> None:
        if number == self._number:
            self._end("done", totals, "")

    def _failed(self, number: int, failure: Failure) -> None:
        if number == self._number:
            stopped = failure.kind == "cancelled"
            self._end("stopped" if stopped else "failed", None, "" if stopped else failure.message)

    def _end(self, state: DryRunState, totals: DryTotals | None, problem: str) -> None:
        self._call, self._totals, self._problem = None, totals, problem
        self._show_gathered()
        self._set(state)

    def _set(self, state: DryRunState) -> None:
        self._state = state
        self.changed.emit()
