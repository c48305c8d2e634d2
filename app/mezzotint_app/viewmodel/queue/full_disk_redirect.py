"""After a full disk, redirects waiting entries to the output folder that the user chooses instead."""

import os

from PySide6.QtCore import QObject, Signal

from mezzotint.jobs.store import JobStore, TaskState
from mezzotint_app.errors import is_for_want_of_space
from mezzotint_app.processes.service import Failure
from mezzotint_app.settings import Settings, output_folder
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.queue.access import QueueAccess

_WAITING: tuple[TaskState, ...] = ("waiting",)
_LOOKED_AT = 8  # entries; a requeued one keeps its place at the front


def template_prefix(settings: Settings) -> str:
    """Return the prefix of the Create page's templates; brackets in the folder name are escaped, being no tokens."""
    return str(output_folder(settings)).replace("[", "[[") + os.sep


class FullDiskRedirect(QObject):
    """Unless the disk was full, entries keep the folder they were queued with, even if the setting changes."""

    message = Signal(str)

    def __init__(self, access: QueueAccess, settings: Stored[Settings], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._access, self._settings = access, settings
        self._folder = template_prefix(settings.value())
        settings.changed.connect(self._look)

    def _look(self) -> None:
        old, self._folder = self._folder, template_prefix(self._settings.value())
        new = self._folder
        if old != new and self._access.is_open:
            self._access.change(lambda store: _redirect_output(store, old, new), self._gone, self._failed)

    def _failed(self, error: Exception) -> None:
        self.message.emit(str(error))

    def _gone(self, entries: int) -> None:
        if entries:
            message = self.tr("Waiting images will be saved to {folder}. Press Resume to continue.")
            self.message.emit(message.format(folder=output_folder(self._settings.value())))


def _redirect_output(store: JobStore, old: str, new: str) -> int:
    return store.redirect_output(old, new) if _lacks_space(store) else 0


def _lacks_space(store: JobStore) -> bool:
    """Whether an entry is waiting because the disk was full."""
    tasks = (task for row in store.rows(limit=_LOOKED_AT, states=_WAITING) for task in store.entry(row.id).tasks)
    return any(
        task.state == "waiting" and is_for_want_of_space(Failure(kind="storage", message=task.error or ""))
        for task in tasks
    )
