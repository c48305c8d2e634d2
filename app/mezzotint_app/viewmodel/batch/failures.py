"""What could not be made of a batch, row by row, as much as is looked at."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, Qt

from mezzotint.batch_protocol import BatchTaskPage, BatchTaskRow, BatchTasks
from mezzotint_app.processes.service import Service
from mezzotint_app.viewmodel.batch.words import row_name
from mezzotint_app.viewmodel.foreign_text import in_one_line
from mezzotint_app.viewmodel.paged_model import PagedModel

Index = QModelIndex | QPersistentModelIndex


class BatchFailures(PagedModel[BatchTaskRow]):
    """Asks the librarian for the pages that are seen."""

    def __init__(self, librarian: Service, folder: str, parent: QObject | None = None) -> None:
        super().__init__(self._pages, _key, parent)
        self._librarian, self._folder = librarian, folder

    def data(self, index: Index, role: int = 0) -> Any:  # noqa: ANN401
        """The image and what went wrong."""
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return None
        row = self.item(index.row())
        return "…" if row is None else self.words(row)

    def words(self, row: BatchTaskRow) -> str:
        """One row in one line."""
        why = in_one_line(row.error or row.kind or self.tr("unknown reason"))
        return self.tr("{name}: {why}").format(name=row_name(row), why=why)

    def _pages(
        self,
        offset: int,
        limit: int,
        told: Callable[[int, Sequence[BatchTaskRow]], None],
        refused: Callable[[str], None],
    ) -> None:
        self._librarian.ask(
            "batch_tasks",
            BatchTasks(folder=self._folder, which="failed", offset=offset, limit=limit),
            answer=BatchTaskPage,
            then=lambda page: told(page.total, page.rows),
            failed=lambda failure: refused(failure.message),
        )


def _key(row: BatchTaskRow) -> Hashable:
    return row.output, row.input, row.seed
