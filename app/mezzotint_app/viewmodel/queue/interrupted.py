"""Work that a crash interrupted: the person is asked once what is to become of it."""

from PySide6.QtCore import QCoreApplication, QObject, Signal

from mezzotint.jobs.store import JobStore, Task
from mezzotint_app.viewmodel.queue.access import QueueAccess
from mezzotint_app.viewmodel.queue.watch import QueueWatch
from mezzotint_app.viewmodel.queue.words import images_count

translate = QCoreApplication.translate


class QueueInterrupted(QObject):
    """Offers to resume, to keep the queue paused, or to discard; what was answered is not asked again."""

    changed = Signal()
    failed = Signal(str)

    def __init__(self, access: QueueAccess, watch: QueueWatch, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._access = access
        self._tasks: tuple[Task, ...] = ()
        self._answered: set[int] = set()
        watch.changed.connect(self._ask)

    def tasks(self) -> tuple[Task, ...]:
        """What the person has not answered for."""
        return self._tasks

    def text(self) -> str:
        """The question; empty: there is none."""
        if not self._tasks:
            return ""
        missing = sum(task.request.count - len(task.images) for task in self._tasks)
        return translate(
            "QueueInterrupted",
            "Mezzotint stopped while it was generating: {images} still missing. Finished images are kept.",
        ).format(images=images_count(missing))

    def resume(self) -> None:
        """Go on where it ended, and with the queue."""
        entries = {task.entry for task in self._tasks}
        self._answer()
        self._access.change(lambda store: store.resume_interrupted(entries), None, self._fail)

    def keep_paused(self) -> None:
        """Leave everything as it is; it can be retried in the list."""
        self._answer()

    def discard(self) -> None:
        """Do not make these; the queue goes on with the rest when the person says so."""
        tasks = self._tasks
        self._answer()

        def cancel(store: JobStore) -> None:
            for task in tasks:
                store.cancel_task(task.id)
            if not store.count(("waiting", "running", "interrupted")):
                store.resume()  # nothing is left that could begin by itself

        self._access.change(cancel, None, self._fail)

    def _answer(self) -> None:
        self._answered |= {task.id for task in self._tasks}
        self._tasks = ()
        self.changed.emit()

    def _ask(self) -> None:
        self._access.ask(JobStore.interrupted, self._found, self._fail)

    def _found(self, tasks: tuple[Task, ...]) -> None:
        tasks = tuple(task for task in tasks if task.id not in self._answered)
        if tasks != self._tasks:
            self._tasks = tasks
            self.changed.emit()

    def _fail(self, error: Exception) -> None:
        self.failed.emit(str(error))
