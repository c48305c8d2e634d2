"""The latest results in a row."""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QPixmap, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QListView

from mezzotint_app.viewmodel.create.state import Result
from mezzotint_app.viewmodel.foreign_text import plain_tooltip
from mezzotint_app.viewmodel.thumbnails import ThumbnailKey, Thumbnails, side_for
from mezzotint_app.widgets.inputs.path_row import file_name

_SIDE = 72
_VIEWER = "create"


class ResultStrip(QListView):
    """`chosen` emits the path to show, `opened` the path activated by Enter or a double click."""

    chosen = Signal(str)
    opened = Signal(str)
    menu_wanted = Signal(str, object)  # path, and position on screen

    def __init__(self, thumbnails: Thumbnails) -> None:
        super().__init__()
        self._thumbnails = thumbnails
        self._rows = QStandardItemModel(self)
        self._results: tuple[Result, ...] = ()
        self.setModel(self._rows)
        self.setAccessibleName(self.tr("Recent images"))
        self.setToolTip(self.tr("Recent images; Enter shows one in full screen"))
        self.setFlow(QListView.Flow.LeftToRight)
        self.setWrapping(False)
        self.setIconSize(QSize(_SIDE, _SIDE))
        self.setUniformItemSizes(True)
        self.setHorizontalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setProperty("role", "strip")
        self.setFixedHeight(_SIDE + 28)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._ask_menu)
        self.selectionModel().currentChanged.connect(self._choose)
        self.clicked.connect(self._choose)
        self.activated.connect(lambda index: self.opened.emit(self._path(index)))
        thumbnails.changed.connect(self._arrived)

    def show_results(self, results: Sequence[Result]) -> None:
        """Show these results, newest first."""
        if tuple(results) == self._results:
            return
        self._results = tuple(results)
        self.selectionModel().blockSignals(True)
        self._rows.clear()
        for one in self._results:
            self._rows.appendRow(_item(one))
        self.selectionModel().blockSignals(False)
        self.setVisible(bool(self._results))
        self._thumbnails.show([self._wanted(one.path) for one in self._results], _VIEWER)
        for one in self._results:
            self._arrived(one.path)

    def paths(self) -> tuple[str, ...]:
        """The paths of the shown results."""
        return tuple(one.path for one in self._results)

    def _wanted(self, path: str) -> ThumbnailKey:
        return ThumbnailKey(path=path, side=side_for(_SIDE * self.devicePixelRatioF()))

    def _arrived(self, path: str) -> None:
        image = self._thumbnails.thumbnail(self._wanted(path))
        if image is None or path not in self.paths():
            return
        room = round(_SIDE * self.devicePixelRatioF())
        smooth = Qt.TransformationMode.SmoothTransformation
        thumbnail = QPixmap.fromImage(image.scaled(room, room, Qt.AspectRatioMode.KeepAspectRatio, smooth))
        thumbnail.setDevicePixelRatio(self.devicePixelRatioF())
        self._rows.item(self.paths().index(path)).setIcon(QIcon(thumbnail))

    def _choose(self, index: QModelIndex, _before: object = None) -> None:
        if index.isValid():
            self.chosen.emit(self._path(index))

    def _path(self, index: QModelIndex) -> str:
        return str(index.data(Qt.ItemDataRole.UserRole))

    def _ask_menu(self, where: object) -> None:
        index = self.indexAt(where)  # type: ignore[arg-type]
        index = index if index.isValid() else self.currentIndex()
        if index.isValid():
            self.menu_wanted.emit(self._path(index), self.viewport().mapToGlobal(where))  # type: ignore[call-overload]


def _item(result: Result) -> QStandardItem:
    item = QStandardItem()
    blank = QPixmap(_SIDE, _SIDE)
    blank.fill(Qt.GlobalColor.transparent)
    item.setIcon(QIcon(blank))
    item.setData(result.path, Qt.ItemDataRole.UserRole)
    name = f"{file_name(result.path)}, {result.seed}"
    item.setData(name, Qt.ItemDataRole.AccessibleTextRole)
    item.setData(plain_tooltip(result.path), Qt.ItemDataRole.ToolTipRole)
    return item
