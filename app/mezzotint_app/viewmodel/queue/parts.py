"""Creates the queue's view models and connects them."""

from PySide6.QtCore import QObject

from mezzotint_app.background import Executor
from mezzotint_app.viewmodel.queue.access import QueueAccess
from mezzotint_app.viewmodel.queue.actions import QueueActions
from mezzotint_app.viewmodel.queue.details import QueueDetails
from mezzotint_app.viewmodel.queue.interrupted import QueueInterrupted
from mezzotint_app.viewmodel.queue.queue import QueueModel
from mezzotint_app.viewmodel.queue.running import QueueRunning, Runner
from mezzotint_app.viewmodel.queue.summary import QueueSummary
from mezzotint_app.viewmodel.queue.watch import QueueWatch
from mezzotint_app.viewmodel.reveal import Reveal
from mezzotint_app.viewmodel.thumbnails import Thumbnails


class Queue(QObject):
    """The view models of the Queue page and the status bar."""

    def __init__(
        self,
        access: QueueAccess,
        runner: Runner,
        thumbnails: Thumbnails,
        background: Executor,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.access, self.runner = access, runner
        self.watch = QueueWatch(access, self)
        self.running = QueueRunning(access, self.watch, runner, self)
        self.model = QueueModel(access, self.watch, self.running, thumbnails, self)
        self.details = QueueDetails(access, self.watch, thumbnails, self)
        self.summary = QueueSummary(access, self.watch, self.running, runner, self)
        self.interrupted = QueueInterrupted(access, self.watch, self)
        self.actions = QueueActions(access, runner, self)
        self.reveal = Reveal(background, self)
        self.actions.open_folder.connect(self.reveal.show_folder)
