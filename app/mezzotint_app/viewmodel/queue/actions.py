"""User actions on queue entries; each is on disk before it is reported."""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QCoreApplication, QObject, Signal

from mezzotint.jobs.store import Entry, EntryRow, JobStore
from mezzotint_app.viewmodel.queue.access import QueueAccess
from mezzotint_app.viewmodel.queue.running import Runner
from mezzotint_app.viewmodel.queue.texts import entries_count

T = TypeVar("T")
translate = QCoreApplication.translate


class QueueActions(QObject):
    """Every action takes entry ids."""

    message = Signal(str)  # what was done, in one line
    failed = Signal(str)
    edit_again = Signal(object)  # GenerateRequest, for the Create page
    open_folder = Signal(str)  # of the entry's images
    changed = Signal()  # the pause state

    def __init__(self, access: QueueAccess, runner: Runner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._access, self._runner = access, runner
        self._opened = self._paused = self._stops = False
        access.opened.connect(lambda _notice: self._begin())
        access.changed.connect(self.ask_switches)
        runner.changed.connect(self.ask_switches)

    # ---- whole queue

    def is_paused(self) -> bool:
        """Whether the queue is paused, so that no task is started."""
        return self._paused

    def stops_after_current(self) -> bool:
        """Whether the queue pauses after the current task."""
        return self._stops

    def pause_or_resume(self) -> None:
        """Pause or resume the queue."""
        if self._paused or self._stops:
            self._runner.resume()
        else:
            self._runner.pause()

    def pause_after_current(self) -> None:
        """Pause after the current task."""
        self._runner.pause_after_current()

    def clear_finished(self) -> None:
        """Remove done and cancelled entries; their images are kept."""
        self._change(
            JobStore.clear_finished,
            lambda count: translate("QueueActions", "Removed from the list: {entries}; images are kept").format(
                entries=entries_count(count)
            ),
        )

    def ask_switches(self) -> None:
        """Query whether the queue is paused."""
        if not self._opened:
            return
        self._access.ask(
            lambda store: (store.paused(), store.stops_after_current()),
            self._switched,
            lambda error: self.failed.emit(str(error)),
        )

    def _begin(self) -> None:
        self._opened = True
        self.ask_switches()

    def _switched(self, switches: tuple[bool, bool]) -> None:
        if switches != (self._paused, self._stops):
            self._paused, self._stops = switches
            self.changed.emit()

    # ---- entries

    def cancel(self, entries: Collection[int]) -> None:
        """Cancel entries, including running tasks."""
        self._change(lambda store: store.cancel(entries), lambda _none: _message_of("Cancelled", entries))

    def retry(self, entries: Collection[int]) -> None:
        """Queue the missing images again."""
        self._change(lambda store: store.retry(entries), lambda _none: _message_of("Waiting again", entries))

    def duplicate(self, entries: Collection[int]) -> None:
        """Add copies of the entries at the end."""
        self._change(lambda store: store.duplicate(entries), lambda made: _message_of("Added", made))

    def remove(self, entries: Collection[int]) -> None:
        """Remove entries; a running one is cancelled first and has to be removed again afterwards."""
        self._change(lambda store: store.remove(entries), lambda left: self._removed(entries, left))

    def to_front(self, entries: Collection[int]) -> None:
        """Move these to the front."""

        def move(store: JobStore) -> None:
            ahead = store.rows(limit=len(entries) + 1, states=("running", "waiting"))
            first = next((row.id for row in ahead if row.id not in entries), None)
            if first is not None:
                store.move(entries, first)

        self._change(move, lambda _none: _message_of("Next", entries))

    def _removed(self, entries: Collection[int], left: Sequence[int]) -> str:
        if left:
            return translate("QueueActions", "The running job is being stopped; remove it again when it has stopped")
        return _message_of("Removed", entries)

    def edit(self, entry: int) -> None:
        """Load an entry's settings into the Create page."""
        self._ask(entry, lambda found: self.edit_again.emit(found.tasks[0].request))

    def show_folder(self, entry: int) -> None:
        """Open the folder of the entry's images."""
        self._ask(entry, self._show_folder_of)

    def _show_folder_of(self, entry: Entry) -> None:
        made = [image.path for task in entry.tasks for image in task.images]
        if made:
            self.open_folder.emit(str(Path(made[-1]).parent))
        else:
            self.failed.emit(translate("QueueActions", "This job has no images yet, so there is no folder to open"))

    def _ask(self, entry: int, then: Callable[[Entry], None]) -> None:
        self._access.ask(lambda store: store.entry(entry), then, lambda error: self.failed.emit(str(error)))

    def _change(self, work: Callable[[JobStore], T], said: Callable[[T], str]) -> None:
        self._access.change(
            work, lambda value: self.message.emit(said(value)), lambda error: self.failed.emit(str(error))
        )


def can_cancel(rows: Collection[EntryRow]) -> bool:
    """Whether any entry is waiting, running or interrupted."""
    return any(row.state in ("waiting", "running", "interrupted") for row in rows)


def can_retry(rows: Collection[EntryRow]) -> bool:
    """Whether any entry has failed, cancelled, skipped or interrupted tasks."""
    return any(
        row.counts.failed or row.counts.cancelled or row.counts.set_aside or row.counts.interrupted for row in rows
    )


def _message_of(what: str, entries: Collection[int]) -> str:
    count = entries_count(len(entries))
    return {
        "Cancelled": translate("QueueActions", "Cancelled: {0}"),
        "Waiting again": translate("QueueActions", "Queued again: {0}"),
        "Added": translate("QueueActions", "Added to the end: {0}"),
        "Removed": translate("QueueActions", "Removed: {0}"),
        "Next": translate("QueueActions", "Moved to front: {0}"),
    }[what].format(count)
