"""Who hears of a run: a terminal, a program, a window."""

from typing import Protocol

from mezzotint.batch.manifest.record import Record
from mezzotint.batch.run.progress import Progress
from mezzotint.batch.tasks.tasks import BatchTask
from mezzotint.protocol import Event


class Listener(Protocol):
    """Hears what happens; all but `event` come from the thread that runs the batch."""

    def settled(self, record: Record, progress: Progress) -> None:
        """A task has ended, and that is safely on the disk."""

    def progress(self, progress: Progress) -> None:
        """The figures, now and then."""

    def notice(self, code: str, message: str) -> None:
        """Something that a person should know; the work goes on, or waits."""

    def event(self, task: BatchTask, event: Event) -> None:
        """A worker is on its way with a task; told from the worker's thread."""


class Silent:
    """A listener that ignores everything."""

    def settled(self, record: Record, progress: Progress) -> None:
        """Ignored."""

    def progress(self, progress: Progress) -> None:
        """Ignored."""

    def notice(self, code: str, message: str) -> None:
        """Ignored."""

    def event(self, task: BatchTask, event: Event) -> None:
        """Ignored."""
