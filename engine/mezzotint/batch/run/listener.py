"""Listeners of a run: a terminal, a program, a window."""

from typing import Protocol

from mezzotint.batch.manifest.record import Record
from mezzotint.batch.run.progress import Progress
from mezzotint.batch.tasks.tasks import BatchTask
from mezzotint.protocol import Event


class Listener(Protocol):
    """Receives the events of a run; all but `event` are called from the thread that runs the batch."""

    def settled(self, record: Record, progress: Progress) -> None:
        """A task has ended, and its record is synced to disk."""

    def progress(self, progress: Progress) -> None:
        """The current progress, sent periodically."""

    def notice(self, code: str, message: str) -> None:
        """A message for the user; the run continues or waits."""

    def event(self, task: BatchTask, event: Event) -> None:
        """Progress of a worker on a task; called from the worker's thread."""


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
