"""The failed tasks of a batch as a paged list."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, Qt

from mezzotint.batch_protocol import BatchTaskPage, BatchTaskRow, BatchTasks
from mezzotint_app.processes.service import Service
from mezzotint_app.viewmodel.batch.texts import failure_words
from mezzotint_app.viewmodel.foreign_text import plain_tooltip
from mezzotint_app.viewmodel.paged_model import PagedModel

Index = QModelIndex | QPersistentModelIndex


class BatchFailures(PagedModel[BatchTaskRow]):
    """Fetches the visible pages from the library service."""

    def __init__(self, librarian: Service, folder: str, parent: QObject | None = None) -> None:
        super().__init__(self._pages, _key, parent)
        self._librarian, self._folder = librarian, folder

    def data(self, index: Index, role: int = 0) -> Any:  # noqa: ANN401
        """Return the image and the error."""
        if role == Qt.ItemDataRole.ToolTipRole:
            row = self.peek(index.row())
            return None if row is None else plain_tooltip("\n".join(_whole(row)))
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return None
        row = self.item(index.row())
        return "…" if row is None else self.words(row)

    def words(self, row: BatchTaskRow) -> str:
        """Return a row as one line."""
        return failure_words(row)

    def _pages(
        self,
        offset: int,
        limit: int,
        on_page: Callable[[int, Sequence[BatchTaskRow]], None],
        refused: Callable[[str], None],
    ) -> None:
        self._librarian.ask(
            "batch_tasks",
            BatchTasks(folder=self._folder, which="failed", offset=offset, limit=limit),
            answer=BatchTaskPage,
            then=lambda page: on_page(page.total, page.rows),
            failed=lambda failure: refused(failure.message),
        )


def _whole(row: BatchTaskRow) -> tuple[str, ...]:
    return tuple(part for part in (row.input, row.output, row.error or row.kind) if part)


def _key(row: BatchTaskRow) -> Hashable:
    return row.output, row.input, row.seed
