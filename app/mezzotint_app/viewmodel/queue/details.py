"""Details of a queue entry: its tasks, their images, errors and advice."""

from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, Qt, Signal

from mezzotint.errors import UsageError
from mezzotint.jobs.store import Entry, Task
from mezzotint.protocol import GeneratedImage
from mezzotint_app.viewmodel.paged_model import Index
from mezzotint_app.viewmodel.queue.access import QueueAccess
from mezzotint_app.viewmodel.queue.texts import explained, task_errors, task_text
from mezzotint_app.viewmodel.queue.watch import QueueWatch
from mezzotint_app.viewmodel.thumbnails import ThumbnailKey, Thumbnails

TaskRole = Qt.ItemDataRole.UserRole + 1
ThumbnailRole = TaskRole + 1
PathRole = TaskRole + 2
MOST_IMAGES = 400  # per entry shown here; the gallery has all of them
_NOWHERE = QModelIndex()


class TasksModel(QAbstractListModel):
    """The tasks of an entry, each with a second line for an error."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks: tuple[Task, ...] = ()

    def set_tasks(self, tasks: tuple[Task, ...]) -> None:
        """Show these tasks; if they are the same tasks in a later state, only changed rows are updated."""
        if [task.id for task in tasks] != [task.id for task in self._tasks]:
            self.beginResetModel()
            self._tasks = tasks
            self.endResetModel()
            return
        old, self._tasks = self._tasks, tasks
        for row, (before, after) in enumerate(zip(old, tasks, strict=True)):
            if before != after:
                self.dataChanged.emit(self.index(row), self.index(row))

    def rowCount(self, parent: Index = _NOWHERE) -> int:  # noqa: N802  Qt's name
        """One row per task."""
        return 0 if parent.isValid() else len(self._tasks)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401
        """Return the data of a task."""
        if not index.isValid() or index.row() >= len(self._tasks):
            return None
        task = self._tasks[index.row()]
        if role == TaskRole:
            return task
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return "\n".join((task_text(task), *task_errors(task)))
        return None


class ImagesModel(QAbstractListModel):
    """The images of an entry."""

    def __init__(self, thumbnails: Thumbnails, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thumbnails = thumbnails
        self._images: tuple[GeneratedImage, ...] = ()
        self._shown = range(0)
        self._side = 128
        thumbnails.changed.connect(self._thumbnail_changed)

    def set_images(self, images: tuple[GeneratedImage, ...]) -> None:
        """Show these images; new ones at the end are appended without a reset."""
        same = len(self._images)
        if images[:same] == self._images:
            if len(images) > same:
                self.beginInsertRows(QModelIndex(), same, len(images) - 1)
                self._images = images
                self.endInsertRows()
            return
        self.beginResetModel()
        self._images = images
        self.endResetModel()

    def show_rows(self, first: int, last: int, side: int) -> None:
        """Set the visible rows, and the thumbnail side in pixels."""
        self._shown, self._side = range(max(0, first), last + 1), side
        images = self._images[self._shown.start : self._shown.stop]
        self._thumbnails.show([self._thumbnail_of(image) for image in images], viewer="entry")

    def paths(self) -> list[str]:
        """Return the image files in order."""
        return [image.path for image in self._images]

    def rowCount(self, parent: Index = _NOWHERE) -> int:  # noqa: N802  Qt's name
        """One row per image."""
        return 0 if parent.isValid() else len(self._images)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401
        """Return the data of an image."""
        if not index.isValid() or index.row() >= len(self._images):
            return None
        image = self._images[index.row()]
        if role == PathRole:
            return image.path
        if role == ThumbnailRole:
            return self._thumbnails.thumbnail(self._thumbnail_of(image))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self.tr("Image {0}, seed {1}").format(index.row() + 1, image.seed)
        return None

    def _thumbnail_of(self, image: GeneratedImage) -> ThumbnailKey:
        return ThumbnailKey(path=image.path, side=self._side)

    def _thumbnail_changed(self, path: str) -> None:
        for row in self._shown:
            if row < len(self._images) and self._images[row].path == path:
                self.dataChanged.emit(self.index(row), self.index(row), [ThumbnailRole])


class QueueDetails(QObject):
    """Follows one entry while it changes, with at most one query in flight."""

    changed = Signal()
    failed = Signal(str)

    def __init__(
        self, access: QueueAccess, watch: QueueWatch, thumbnails: Thumbnails, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._access = access
        self._wanted: int | None = None
        self._entry: Entry | None = None
        self._asking = self._again = False
        self.tasks = TasksModel(self)
        self.images = ImagesModel(thumbnails, self)
        watch.changed.connect(self._ask)

    def set_current(self, entry: int | None) -> None:
        """Follow this entry; None: none."""
        if entry == self._wanted:
            return
        self._wanted = entry
        if entry is None:
            self._show(None)
        else:
            self._ask()

    def entry(self) -> Entry | None:
        """Return the entry as last read, or None."""
        return self._entry

    def advice(self) -> str:
        """Return what the entry's state means, and what helps with its errors."""
        if self._entry is None:
            return ""
        state = self._entry.row.state
        parts = [explained(state)]
        if state != "set_aside":
            parts += [text for task in self._entry.tasks for text in task_errors(task)[1:]]
        return "\n".join(dict.fromkeys(part for part in parts if part))

    def _ask(self) -> None:
        wanted = self._wanted
        self._again = self._asking
        if wanted is not None and not self._asking:
            self._asking = True
            self._access.ask(
                lambda store: store.entry(wanted), self._found, lambda error: self._not_found(wanted, error)
            )

    def _found(self, entry: Entry) -> None:
        self._asking = False
        if entry.row.id == self._wanted and entry != self._entry:
            self._show(entry)
        if self._again:
            self._ask()

    def _not_found(self, wanted: int, error: Exception) -> None:
        self._asking = False
        if wanted == self._wanted:
            self._show(None)
            if not isinstance(error, UsageError):  # otherwise it was removed meanwhile, which is no error
                self.failed.emit(str(error))
        if self._again:
            self._ask()

    def _show(self, entry: Entry | None) -> None:
        self._entry = entry
        tasks = () if entry is None else entry.tasks
        self.tasks.set_tasks(tasks)
        self.images.set_images(tuple(image for task in tasks for image in task.images)[:MOST_IMAGES])
        self.changed.emit()
