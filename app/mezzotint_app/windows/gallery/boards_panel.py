"""The list of boards beside the grid, on which images are dropped."""

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QAction, QDragEnterEvent, QDragMoveEvent, QDropEvent, QKeySequence
from PySide6.QtWidgets import QFrame, QHBoxLayout, QListWidget, QListWidgetItem, QToolButton, QVBoxLayout, QWidget

from mezzotint_app.resources import icon_in
from mezzotint_app.viewmodel.foreign_text import plain_tooltip
from mezzotint_app.viewmodel.gallery.boards import GalleryBoards
from mezzotint_app.viewmodel.gallery.gallery import GalleryModel
from mezzotint_app.widgets.confirm import confirm
from mezzotint_app.widgets.icon_button import icon_button
from mezzotint_app.widgets.labels import plain_label
from mezzotint_app.windows.gallery.name_dialog import ask_name

_NAME = Qt.ItemDataRole.UserRole  # of the board; None: all images
_SMART = Qt.ItemDataRole.UserRole + 1


class BoardList(QListWidget):
    """Takes files that are dropped on a board."""

    dropped = Signal(str, list)  # name of the board, paths

    def __init__(self) -> None:
        super().__init__()
        self.setAcceptDrops(True)
        self.setDragDropMode(QListWidget.DragDropMode.DropOnly)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802, D102
        event.setAccepted(event.mimeData().hasUrls())

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:  # noqa: N802, D102
        board = self._board_at(event)
        event.setAccepted(board is not None)
        if board is not None:
            event.setDropAction(Qt.DropAction.CopyAction)

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802, D102
        board = self._board_at(event)
        paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if board is not None and paths:
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
            self.dropped.emit(board, paths)

    def _board_at(self, event: QDropEvent) -> str | None:
        item = self.itemAt(event.position().toPoint())
        return None if item is None or item.data(_SMART) else item.data(_NAME)


class BoardsPanel(QFrame):
    """All images, the boards, and buttons to create, rename and remove them."""

    def __init__(self, boards: GalleryBoards, model: GalleryModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._boards, self._model = boards, model
        self.list = BoardList()
        self.add = icon_button("add", self.tr("New board"))
        self.save = icon_button("search", self.tr("Save the search as a smart board"))
        self.rename = icon_button("edit", self.tr("Rename the board"), shortcut="F2")
        self.remove = icon_button("trash", self.tr("Remove the board; its images stay"), shortcut="Delete")
        self._build()
        self._connect()
        self._show()

    def sizeHint(self) -> QSize:  # noqa: N802  Qt's name
        """Room for names."""
        return QSize(190, 480)

    def _build(self) -> None:
        self.setMinimumWidth(150)
        self.list.setAccessibleName(self.tr("Boards"))
        self.list.setToolTip(self.tr("Boards: choose one to see its images, drop images on one to put them there"))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        buttons = QHBoxLayout()
        buttons.setSpacing(2)
        for button in self._buttons():
            buttons.addWidget(button)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 4, 8, 0)
        column.setSpacing(4)
        column.addWidget(plain_label(self.tr("Boards"), role="heading"))
        column.addWidget(self.list, 1)
        column.addLayout(buttons)

    def _buttons(self) -> tuple[QToolButton, ...]:
        return self.add, self.save, self.rename, self.remove

    def _connect(self) -> None:
        self.list.currentItemChanged.connect(lambda item, _before: self._choose(item))
        self.list.dropped.connect(lambda name, paths: self._boards.put_paths(paths, name))
        self.add.clicked.connect(lambda: ask_name(self, self.tr("New board"), self.tr("Name"), self._boards.create))
        self.save.clicked.connect(self._save_search)
        self.rename.clicked.connect(self._rename)
        self.remove.clicked.connect(self._remove)
        for key, do in (("F2", self._rename), ("Delete", self._remove)):
            action = QAction(self.list)
            action.setShortcut(QKeySequence(key))
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            action.triggered.connect(do)
            self.list.addAction(action)
        self._boards.changed.connect(self._show)
        self._model.query_changed.connect(self._show_chosen)

    def _show(self) -> None:
        blocked = QSignalBlocker(self.list)
        self.list.clear()
        self._add(self.tr("All images"), "gallery", None, smart=True)
        for board in self._boards.all():
            smart = board.search is not None
            text = board.name if smart else f"{board.name} ({board.count})"
            item = self._add(text, "search" if smart else "board", board.name, smart=smart)
            item.setToolTip(plain_tooltip(board.search or board.name))
        del blocked
        self._show_chosen()

    def _add(self, text: str, drawing: str, name: str | None, *, smart: bool) -> QListWidgetItem:
        item = QListWidgetItem(icon_in(drawing, "text"), text)  # the same on the pale ground of the chosen one
        item.setData(_NAME, name)
        item.setData(_SMART, smart)
        self.list.addItem(item)
        return item

    def _show_chosen(self) -> None:
        query = self._model.query()
        rows = (row for row in range(self.list.count()) if self.list.item(row).data(_NAME) == query.board)
        blocked = QSignalBlocker(self.list)
        self.list.setCurrentRow(next(rows, 0))
        del blocked
        for button in (self.rename, self.remove):
            button.setEnabled(self._chosen() is not None)
        self.save.setEnabled(bool(query.search or query.model or query.rating))

    def _chosen(self) -> str | None:
        item = self.list.currentItem()
        name: str | None = None if item is None else item.data(_NAME)
        return name

    def _choose(self, item: QListWidgetItem | None) -> None:
        self._boards.show(None if item is None else item.data(_NAME))

    def _save_search(self) -> None:
        text = self._model.query().search
        ask_name(self, self.tr("New smart board"), self.tr("Name"), self._boards.save_search, text)

    def _rename(self) -> None:
        name = self._chosen()
        if name is not None:
            ask_name(self, self.tr("Rename"), self.tr("Name"), lambda text: self._boards.rename(name, text), name)

    def _remove(self) -> None:
        name = self._chosen()
        if name is not None:
            confirm(
                self,
                self.tr("Remove board"),
                self.tr("Remove the board {name}? Its images stay in the gallery.").format(name=name),
                self.tr("Remove"),
                lambda _never: self._boards.remove(name),
            )
