"""A preview of what a batch would generate: a table that fills gradually, and the totals."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QStackedLayout,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.batch.dry_run import DOES, SEED, SIZE, TIME, WHY, DryRun
from mezzotint_app.viewmodel.batch.texts import number, room_words, totals_words
from mezzotint_app.widgets.empty_state import EmptyState
from mezzotint_app.widgets.labels import plain_label

_SHORT = (DOES, SIZE, SEED, TIME)  # columns as wide as their contents; the others share the remaining width
_MEASURED = 100  # rows measured to determine the column widths
_ROW = 28


class BatchPreviewPane(QWidget):
    """Shows a Look, which is a batch's dry run."""

    preview_asked = Signal()

    def __init__(self, dry_run: DryRun) -> None:
        super().__init__()
        self._dry_run = dry_run
        self.words = plain_label(role="heading", wrap=True, selectable=True)
        self.room = plain_label(role="muted", wrap=True, selectable=True)
        self.problem = plain_label(role="error", wrap=True, selectable=True)
        self.stop = QPushButton(icon("stop"), self.tr("Stop preview"))
        self.stop.setAccessibleName(self.stop.text())
        self.stop.setToolTip(self.tr("Keep the rows listed so far"))
        self.stop.clicked.connect(dry_run.stop)
        self.empty = EmptyState("search")
        self.empty.button.clicked.connect(self.preview_asked)
        self._make_table()
        self._build()
        dry_run.changed.connect(self._show)
        self._show()

    def _make_table(self) -> None:
        self.table = QTableView()
        self.table.setModel(self._dry_run.table)
        self.table.setAccessibleName(self.tr("Preview"))
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setTabKeyNavigation(False)
        self.table.setShowGrid(False)
        self.table.setWordWrap(False)
        self.table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        rows = self.table.verticalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(_ROW)
        header = self.table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setResizeContentsPrecision(_MEASURED)
        for column in range(self._dry_run.table.columnCount()):
            is_short = column in _SHORT
            mode = QHeaderView.ResizeMode.Interactive if is_short else QHeaderView.ResizeMode.Stretch
            header.setSectionResizeMode(column, mode)

    def _fit_columns(self) -> None:
        for column in _SHORT:
            self.table.resizeColumnToContents(column)
        self.table.setColumnHidden(WHY, not self._dry_run.table.has_reasons())

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self.words, 1)
        head.addWidget(self.stop, 0, Qt.AlignmentFlag.AlignTop)
        full = QWidget()
        column = QVBoxLayout(full)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(8)
        column.addLayout(head)
        for part in (self.room, self.problem):
            column.addWidget(part)
        column.addWidget(self.table, 1)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(full)
        self._stack.addWidget(self.empty)
        self.empty.show_words(
            self.tr("Preview before you start"),
            self.tr(
                "Lists the images that the batch would generate, their sources and file names, how long it "
                "takes, and whether the disk has enough space. Nothing is generated."
            ),
            self.tr("Preview"),
            self.tr("List every image that would be generated"),
        )

    def _show(self) -> None:
        dry_run = self._dry_run
        state, totals = dry_run.state(), dry_run.totals()
        self._stack.setCurrentIndex(1 if state == "nothing" else 0)
        self.stop.setVisible(state == "looking")
        count = number(dry_run.count())
        if totals is not None:
            self.words.setText(totals_words(totals))
        elif state == "looking":
            self.words.setText(self.tr("Preparing preview: {count} so far").format(count=count))
        elif state == "stopped":
            self.words.setText(self.tr("Stopped after {count}; there may be more.").format(count=count))
        else:
            self.words.setText(self.tr("This batch cannot be generated with these settings."))
        self._fit_columns()
        self.room.setText("" if totals is None else room_words(totals))
        self.room.setVisible(bool(self.room.text()))
        problems = [dry_run.problem()]
        if totals is not None and not totals.fits:
            problems.append(self.tr("Not enough disk space: free some space, or choose another folder."))
        if dry_run.count() > dry_run.table.rowCount() and state != "looking":
            shown = number(dry_run.table.rowCount())
            problems.append(self.tr("The table shows only the first {count}.").format(count=shown))
        self.problem.setText("\n".join(one for one in problems if one))
        self.problem.setVisible(bool(self.problem.text()))
