"""The details of a queue entry, beside the list."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractItemView,
    QGridLayout,
    QListView,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from mezzotint_app.viewmodel.queue.details import QueueDetails, ThumbnailRole
from mezzotint_app.viewmodel.queue.texts import images_text, state_word
from mezzotint_app.viewmodel.thumbnails import side_for
from mezzotint_app.widgets.images.grid_view import GridView
from mezzotint_app.widgets.images.thumbnail_delegate import ThumbnailDelegate
from mezzotint_app.widgets.labels import plain_label, sentence
from mezzotint_app.widgets.task_delegate import TaskDelegate

_SIDE = 88
_TASKS_HEIGHT = 160


class QueueDetailsPane(QScrollArea):
    """Shows the prompt, the tasks with their errors, the images, and actions."""

    open_full_screen = Signal(list, int)  # paths, and index of the one to show

    def __init__(self, details: QueueDetails, actions: list[QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._details = details
        self._form = QWidget()
        self._title = plain_label(role="heading", wrap=True, selectable=True)
        self._state = plain_label(role="muted", wrap=True)
        self._error = plain_label(role="error", wrap=True, selectable=True)
        self._advice = plain_label(wrap=True, selectable=True)
        self._tasks = QListView()
        self._images = GridView()
        self._delegate = ThumbnailDelegate(thumbnail=ThumbnailRole, parent=self)
        self._build(actions)
        details.changed.connect(self._show)
        self._show()

    def sizeHint(self) -> QSize:  # noqa: N802  Qt's name
        """Room for tasks and images."""
        return QSize(320, 480)

    def _build(self, actions: list[QAction]) -> None:
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMinimumWidth(260)
        form = self._form
        form.setProperty("role", "form")
        column = QVBoxLayout(form)
        column.setContentsMargins(16, 12, 12, 12)
        column.setSpacing(8)
        self._title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._error.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        buttons = QGridLayout()
        buttons.setSpacing(0)
        for number, action in enumerate(actions):
            buttons.addWidget(action_button(action), number // 2, number % 2)
        for part in (self._title, self._state, self._error, self._advice):
            column.addWidget(part)
        column.addLayout(buttons)
        self._tasks_title = plain_label(self.tr("Tasks"), role="heading")
        column.addWidget(self._tasks_title)
        column.addWidget(self._tasks_list())
        self._images_title = plain_label(self.tr("Images"), role="heading")
        column.addWidget(self._images_title)
        column.addWidget(self._images_grid(), 1)
        column.addStretch(0)
        self.setWidget(form)

    def _tasks_list(self) -> QListView:
        view = self._tasks
        view.setModel(self._details.tasks)
        view.setAccessibleName(self.tr("Tasks of this job"))
        view.setToolTip(self.tr("Each task is one request to the engine, with its own seed and result"))
        view.setItemDelegate(TaskDelegate(view))
        view.setResizeMode(QListView.ResizeMode.Adjust)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        view.setMaximumHeight(_TASKS_HEIGHT)
        return view

    def _images_grid(self) -> GridView:
        view = self._images
        self._delegate.set_side(_SIDE)
        view.setItemDelegate(self._delegate)
        view.set_cell(self._delegate.cell())
        view.setModel(self._details.images)
        view.setAccessibleName(self.tr("Images of this job"))
        view.setToolTip(self.tr("Press Enter or double-click to view an image full screen"))
        view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        view.setMinimumHeight(2 * self._delegate.cell().height())
        view.activated.connect(lambda index: self.open_full_screen.emit(self._details.images.paths(), index.row()))
        view.visible_rows_changed.connect(self._want_images)
        return view

    def _want_images(self, first: int, last: int) -> None:
        self._details.images.show_rows(first, last, side_for(_SIDE * self.devicePixelRatioF()))

    def _show(self) -> None:
        entry = self._details.entry()
        self._form.setVisible(entry is not None)
        if entry is None:
            return
        row = entry.row
        self._title.setText(row.title.strip() or self.tr("No prompt"))
        self._state.setText(f"{state_word(row.state)} · {images_text(row)}")
        self._error.setText(sentence(row.error or ""))
        self._error.setVisible(bool(row.error) and row.state != "waiting")
        advice = self._details.advice()
        self._advice.setText(advice)
        self._advice.setVisible(bool(advice))
        several = len(entry.tasks) > 1
        self._tasks.setVisible(several)
        self._tasks_title.setVisible(several)
        some = self._details.images.rowCount() > 0
        self._images.setVisible(some)
        self._images_title.setVisible(some)
        if some:
            shown = self._images.rows_in_sight()
            self._want_images(shown.start, max(shown.start, shown.stop - 1))


def action_button(action: QAction) -> QToolButton:
    """A button for an action, with its icon and text."""
    button = QToolButton()
    button.setProperty("role", "line")
    button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    button.setDefaultAction(action)
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    button.setAccessibleName(action.text())
    return button
