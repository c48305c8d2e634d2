"""The Queue page: the jobs in their order, their progress and their errors."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QItemSelectionModel, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QMenu,
    QPushButton,
    QSplitter,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from mezzotint.jobs.store import EntryRow
from mezzotint_app.resources import icon, icon_in
from mezzotint_app.viewmodel.queue.actions import can_cancel, can_retry
from mezzotint_app.viewmodel.queue.parts import Queue
from mezzotint_app.viewmodel.queue.texts import entries_count
from mezzotint_app.viewmodel.thumbnails import side_for
from mezzotint_app.widgets.confirm import confirm
from mezzotint_app.widgets.empty_state import EmptyState
from mezzotint_app.widgets.flow_layout import FlowLayout
from mezzotint_app.widgets.labels import plain_label
from mezzotint_app.widgets.notice_bar import NoticeBar
from mezzotint_app.widgets.queue_list import QueueList
from mezzotint_app.windows.queue.details_pane import QueueDetailsPane

_LOOKED_AT = 200  # at most this many selected rows are checked for which actions are possible
_THUMBNAIL = 64  # device-independent pixels


class QueuePage(QWidget):
    """A list, the details of one entry, and notices above them."""

    edit_again = Signal(object)  # GenerateRequest, for the Create page
    create_asked = Signal()
    open_full_screen = Signal(list, int)  # paths, and index of the one to show
    message = Signal(str)  # a message for the status bar

    def __init__(self, queue: Queue, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._queue = queue
        self._unlisted = False  # whether the notice says that the list could not be read
        self.list = QueueList()
        self._make_actions()
        self.details = QueueDetailsPane(queue.details, self._entry_actions)
        self.interrupted = NoticeBar("warning", "warning")
        self.elsewhere = NoticeBar("info", "text")
        self.problem = NoticeBar("error", "danger", closable=True)
        self.empty = EmptyState("queue")
        self._summary = plain_label(role="heading", wrap=True)
        self._build()
        self._connect()
        self._show_all()

    def focus_first(self) -> None:
        """Give the focus to the list, or to the placeholder's button if the list is empty."""
        (self.list if self._stack.currentIndex() == 0 else self.empty.button).setFocus()

    def sizeHint(self) -> QSize:  # noqa: N802  Qt's name
        """Room for the list and the details."""
        return QSize(960, 640)

    # ---- setup

    def _make_actions(self) -> None:
        acts, model = self._queue.actions, self._queue.model
        self.cancel = self._action(
            "cancel", self.tr("Cancel"), self.tr("Cancel these jobs; finished images are kept"), "Ctrl+Backspace",
            lambda: self._with_ids(acts.cancel),
        )  # fmt: skip
        self.retry = self._action(
            "retry", self.tr("Retry"), self.tr("Generate the missing images of the selected jobs"), "Ctrl+R",
            lambda: self._with_ids(acts.retry),
        )  # fmt: skip
        self.front = self._action(
            "up", self.tr("Move to front"), self.tr("Move the selected jobs to the front"), "Ctrl+Home",
            lambda: self._with_ids(acts.to_front),
        )  # fmt: skip
        self.duplicate = self._action(
            "copy", self.tr("Duplicate"), self.tr("Add the selected jobs again, with new random seeds where "
            "none was locked"), "Ctrl+D", lambda: self._with_ids(acts.duplicate),
        )  # fmt: skip
        self.edit = self._action(
            "edit", self.tr("Load settings"), self.tr("Load the settings of this job on the Create page"), "F2",
            lambda: self._with_current(lambda row: acts.edit(row.id)),
        )  # fmt: skip
        self.folder = self._action(
            "folder", self.tr("Open folder"), self.tr("Open the folder with this job's images"), "Ctrl+O",
            lambda: self._with_current(lambda row: acts.show_folder(row.id)),
        )  # fmt: skip
        self.remove = self._action(
            "trash", self.tr("Remove"), self.tr("Remove the selected jobs from the queue; images are kept"), "Delete",
            self._remove,
        )  # fmt: skip
        self.up = self._action(
            "up", self.tr("Move up"), self.tr("Move the selected jobs up by one"), "Ctrl+Up",
            lambda: model.move_up(self.list.selected_rows()),
        )  # fmt: skip
        self.down = self._action(
            "down", self.tr("Move down"), self.tr("Move the selected jobs down by one"), "Ctrl+Down",
            lambda: model.move_down(self.list.selected_rows()),
        )  # fmt: skip
        self._entry_actions = [
            self.cancel, self.retry, self.front, self.duplicate, self.edit, self.folder, self.remove,
        ]  # fmt: skip

    def _action(self, drawing: str, text: str, help_text: str, key: str, do: Callable[[], object]) -> QAction:
        action = QAction(icon(drawing), text, self)
        action.setShortcut(QKeySequence(key))
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        action.setToolTip(f"{help_text} ({keys})")
        action.triggered.connect(lambda _checked=False: do())
        self.list.addAction(action)
        return action

    def _build(self) -> None:
        page = QVBoxLayout(self)
        page.setContentsMargins(0, 0, 0, 0)
        page.setSpacing(0)
        page.addWidget(self._toolbar())
        notices = QVBoxLayout()
        notices.setContentsMargins(16, 8, 16, 0)
        notices.setSpacing(8)
        for bar in (self.interrupted, self.elsewhere, self.problem):
            notices.addWidget(bar)
        notices.addWidget(self._summary)
        page.addLayout(notices)
        self._build_interrupted()
        self._stack = QStackedLayout()
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self._splitter.addWidget(self.list)
        self._splitter.addWidget(self.details)
        self._splitter.setStretchFactor(0, 1)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.setSizes([640, 320])
        self._splitter.setObjectName("queue")
        frame = QWidget()
        around = QVBoxLayout(frame)
        around.setContentsMargins(16, 8, 16, 16)
        around.addWidget(self._splitter)
        self._stack.addWidget(frame)
        self._stack.addWidget(self.empty)
        page.addLayout(self._stack, 1)
        self.list.setModel(self._queue.model)
        self.list.setAccessibleName(self.tr("Jobs in the queue"))
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)

    def _toolbar(self) -> QFrame:
        bar = QFrame()
        bar.setProperty("role", "bar")
        row = FlowLayout(bar)
        row.setContentsMargins(16, 8, 16, 8)
        self.pause = QPushButton()
        self.finish = QPushButton(icon("finish"), self.tr("Stop after current"))
        self.finish.setToolTip(self.tr("Finish all images of the running task, then pause the queue"))
        self.clear = QPushButton(icon("clear"), self.tr("Clear finished"))
        self.clear.setToolTip(self.tr("Remove finished and cancelled jobs from the list; images are kept"))
        self.which = QComboBox()
        self.which.setAccessibleName(self.tr("Jobs to show"))
        self.which.setToolTip(self.tr("Jobs to show"))
        self.which.addItem(self.tr("Active and failed"), "to_do")
        self.which.addItem(self.tr("Finished"), "finished")
        self.which.addItem(self.tr("All"), "all")
        for button in (self.pause, self.finish, self.clear):
            button.setAccessibleName(button.text())
        for part in (self.pause, self.finish, self.which, self.clear):
            row.addWidget(part)
        return bar

    def _build_interrupted(self) -> None:
        asked = self._queue.interrupted
        self.resume_interrupted = QPushButton(self.tr("Resume"))
        self.resume_interrupted.setProperty("role", "primary")
        self.resume_interrupted.setToolTip(self.tr("Continue where it stopped, then with the rest of the queue"))
        self.keep_paused = QPushButton(self.tr("Keep paused"))
        self.keep_paused.setToolTip(self.tr("Start nothing; the jobs stay in the list, and Retry resumes them"))
        self.discard = QPushButton(self.tr("Discard"))
        self.discard.setToolTip(self.tr("Cancel the interrupted jobs; finished images are kept"))
        answers = {
            self.resume_interrupted: asked.resume,
            self.keep_paused: asked.keep_paused,
            self.discard: asked.discard,
        }
        for button, answer in answers.items():
            button.clicked.connect(lambda _checked=False, answer=answer: answer())
            button.setAccessibleName(button.text())
            self.interrupted.add_button(button)

    def _connect(self) -> None:
        queue = self._queue
        self.pause.clicked.connect(queue.actions.pause_or_resume)
        self.finish.clicked.connect(queue.actions.pause_after_current)
        self.clear.clicked.connect(queue.actions.clear_finished)
        self.which.currentIndexChanged.connect(lambda _row: queue.model.show(self.which.currentData()))
        queue.model.show_changed.connect(lambda: self.which.setCurrentIndex(self.which.findData(queue.model.shows())))
        self.list.visible_rows_changed.connect(queue.model.show_rows)
        self.list.customContextMenuRequested.connect(self._show_menu)
        self.list.activated.connect(lambda _index: self._open_images())
        self.list.selectionModel().currentChanged.connect(self._current_changed)
        self.list.selectionModel().selectionChanged.connect(self._enable_actions)
        for changed in (queue.model.answered, queue.model.modelReset, queue.model.rowsRemoved, queue.model.dataChanged):
            changed.connect(self._rows_changed)
        queue.summary.changed.connect(self._show_summary)
        queue.actions.changed.connect(self._show_summary)
        queue.runner.changed.connect(self._show_summary)
        queue.interrupted.changed.connect(self._show_interrupted)
        queue.model.failed.connect(self._not_listed)
        for failed in (
            queue.actions.failed, queue.details.failed, queue.interrupted.failed,
            queue.watch.failed, queue.reveal.failed, queue.access.unusable,
        ):  # fmt: skip
            failed.connect(self.problem.show_text)
        queue.access.opened.connect(lambda notice: self.problem.show_text(notice or ""))
        queue.actions.message.connect(self.message)
        queue.actions.edit_again.connect(self.edit_again)
        self.details.open_full_screen.connect(self.open_full_screen)
        self.empty.button.clicked.connect(self.create_asked)

    # ---- display

    def _not_listed(self, why: str) -> None:
        self._unlisted = True
        self.problem.show_text(why)

    def _show_all(self) -> None:
        self._queue.model.set_thumbnails(side_for(_THUMBNAIL * self.devicePixelRatioF()))
        self._show_summary()
        self._show_interrupted()
        self._rows_changed()

    def _show_summary(self) -> None:
        queue = self._queue
        going_on = not (queue.actions.is_paused() or queue.actions.stops_after_current())
        elsewhere = queue.runner.state == "elsewhere"
        running = (elsewhere and queue.summary.counts().running is not None) or queue.running.entry() is not None
        self._summary.setText(queue.summary.text())
        self.pause.setText(self.tr("Pause") if going_on else self.tr("Resume"))
        self.pause.setIcon(icon("pause") if going_on else icon_in("play", "accent_text"))
        self.pause.setAccessibleName(self.pause.text())
        self.pause.setToolTip(
            self.tr("Stop immediately and free the device; the current image starts over after Resume")
            if going_on
            else self.tr("Resume the queue")
        )
        self._set_role(self.pause, "" if going_on else "primary")
        self.finish.setEnabled(going_on and running)
        self.elsewhere.show_text(queue.summary.text() if elsewhere else "")
        self._summary.setVisible(not elsewhere)

    def _set_role(self, button: QPushButton, role: str) -> None:
        if (button.property("role") or "") != role:
            button.setProperty("role", role)
            button.style().unpolish(button)
            button.style().polish(button)

    def _show_interrupted(self) -> None:
        self.interrupted.show_text(self._queue.interrupted.text())

    def _rows_changed(self, *_: object) -> None:
        model = self._queue.model
        if self._unlisted and model.is_up_to_date():
            self._unlisted = False
            self.problem.show_text("")
        empty = model.is_loaded() and model.rowCount() == 0
        if empty:
            self._show_empty()
        self._stack.setCurrentIndex(1 if empty else 0)
        self._enable_actions()
        if not self.list.currentIndex().isValid() and model.rowCount() and model.peek(0) is not None:
            self.list.selectionModel().setCurrentIndex(model.index(0), QItemSelectionModel.SelectionFlag.ClearAndSelect)
        self._look_at_current()

    def _show_empty(self) -> None:
        if self._queue.model.shows() == "finished":
            self.empty.show_words(self.tr("No finished jobs yet"), "")
            return
        self.empty.show_words(
            self.tr("Queue empty"),
            self.tr(
                "Jobs from the Create page wait here and run one after another, even after Mezzotint was "
                "closed or the computer was restarted."
            ),
            self.tr("Create images"),
            self.tr("Open the Create page (Ctrl+1)"),
        )

    def _current_changed(self, *_: object) -> None:
        self._look_at_current()
        self._enable_actions()

    def _look_at_current(self) -> None:
        row = self._queue.model.peek(self.list.currentIndex().row())
        if row is not None or not self.list.currentIndex().isValid():
            self._queue.details.set_current(None if row is None else row.id)

    def _enable_actions(self, *_: object) -> None:
        count = self.list.selected_count()
        looked_at = self.list.selected_rows() if count <= _LOOKED_AT else []
        rows = [row for at in looked_at if (row := self._queue.model.peek(at)) is not None]
        unknown = count > len(rows)
        current = self._queue.model.peek(self.list.currentIndex().row())
        self.cancel.setEnabled(unknown or can_cancel(rows))
        self.retry.setEnabled(unknown or can_retry(rows))
        for action in (self.front, self.duplicate, self.remove, self.up, self.down):
            action.setEnabled(count > 0)
        self.edit.setEnabled(current is not None)
        self.folder.setEnabled(current is not None and current.first_image is not None)

    # ---- actions

    def _with_rows(self, then: Callable[[list[EntryRow]], None]) -> None:
        rows = self.list.selected_rows()
        if rows:
            self._queue.model.gather(rows, then)

    def _with_ids(self, then: Callable[[list[int]], None]) -> None:
        self._with_rows(lambda rows: then([row.id for row in rows]))

    def _with_current(self, then: Callable[[EntryRow], object]) -> None:
        row = self._queue.model.peek(self.list.currentIndex().row())
        if row is not None:
            then(row)

    def _remove(self) -> None:
        self._with_rows(self._remove_rows)

    def _remove_rows(self, rows: Sequence[EntryRow]) -> None:
        ids = [row.id for row in rows]
        unfinished = sum(row.state in ("waiting", "running", "interrupted") for row in rows)
        if not unfinished:
            self._queue.actions.remove(ids)
            return
        confirm(
            self,
            self.tr("Remove from queue"),
            self.tr("Not finished yet: {0}. Missing images will not be generated; finished images are kept.").format(
                entries_count(unfinished)
            ),
            self.tr("Remove"),
            lambda _do_not_ask: self._queue.actions.remove(ids),
        )

    def _open_images(self) -> None:
        paths = self._queue.details.images.paths()
        if paths:
            self.open_full_screen.emit(paths, 0)

    def _show_menu(self, at: QPoint) -> None:
        if not self.list.selected_count():
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addActions([self.up, self.down, self.front])
        menu.addSeparator()
        menu.addActions([self.cancel, self.retry, self.duplicate, self.edit, self.folder])
        menu.addSeparator()
        menu.addAction(self.remove)
        menu.popup(self.list.viewport().mapToGlobal(at))
