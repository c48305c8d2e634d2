"""A notice above Generate while the queue is paused, with the reason and Resume."""

from PySide6.QtWidgets import QPushButton

from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.queue.parts import Queue
from mezzotint_app.widgets.notice_bar import NoticeBar


class PausedNotice(NoticeBar):
    """Hidden unless the queue is paused."""

    def __init__(self, queue: Queue) -> None:
        super().__init__("pause", "text")
        self._queue = queue
        self.resume = self.add_button(QPushButton(icon("play"), self.tr("Resume")))
        self.resume.setToolTip(self.tr("Resume the queue"))
        self.resume.setAccessibleName(self.tr("Resume the queue"))
        self.resume.clicked.connect(self._resume)
        queue.actions.changed.connect(self._show)
        queue.summary.changed.connect(self._show)
        self._show()

    def _resume(self) -> None:
        if self._queue.actions.is_paused():
            self._queue.actions.pause_or_resume()

    def _show(self) -> None:
        message = ""
        if self._queue.actions.is_paused():
            why = self._queue.summary.why_paused().rstrip(".")
            message = self.tr("Queue is paused: {why}").format(why=why) if why else self.tr("Queue is paused")
        if message != self.text():
            self.show_text(message)
