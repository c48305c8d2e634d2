"""Tasks interrupted by a crash: the user is asked once what to do with them."""

from PySide6.QtCore import QCoreApplication, QObject, Signal

from mezzotint.jobs.store import JobStore, Task
from mezzotint_app.viewmodel.queue.access import QueueAccess
from mezzotint_app.viewmodel.queue.texts import images_count
from mezzotint_app.viewmodel.queue.watch import QueueWatch

translate = QCoreApplication.translate


class QueueInterrupted(QObject):
    """Offers to resume, keep the queue paused, or discard; answered tasks are not asked about again."""

    changed = Signal()
    failed = Signal(str)

    def __init__(self, access: QueueAccess, watch: QueueWatch, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._access = access
        self._tasks: tuple[Task, ...] = ()
        self._answered: set[int] = set()
        watch.changed.connect(self._ask)

    def tasks(self) -> tuple[Task, ...]:
        """Return the tasks that the user has not decided on."""
        return self._tasks

    def text(self) -> str:
        """Return the question, or "" if there is none."""
        if not self._tasks:
            return ""
        missing = sum(task.request.count - len(task.images) for task in self._tasks)
        return translate(
            "QueueInterrupted",
            "Mezzotint stopped while it was generating: {images} still missing. Finished images are kept.",
        ).format(images=images_count(missing))

    def resume(self) -> None:
        """Resume the interrupted tasks and the queue."""
        entries = {task.entry for task in self._tasks}
        self._answer()
        self._access.change(lambda store: store.resume_interrupted(entries), None, self._fail)

    def keep_paused(self) -> None:
        """Leave everything as it is; the tasks can be retried from the list."""
        self._answer()

    def discard(self) -> None:
        """Cancel these tasks; the rest of the queue continues when the user resumes it."""
        tasks = self._tasks
        self._answer()

        def cancel(store: JobStore) -> None:
            for task in tasks:
                store.cancel_task(task.id)
            if not store.count(("waiting", "running", "interrupted")):
                store.resume()  # nothing is left that would start automatically

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
