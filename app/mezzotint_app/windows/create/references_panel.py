"""The reference images of the Create page: dropped, pasted or chosen, and reordered by dragging."""

from PySide6.QtCore import QEvent, QModelIndex, QObject, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QKeyEvent, QPixmap
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.create.images.references import Reference, ReferencesModel
from mezzotint_app.viewmodel.dropped.data import DropData
from mezzotint_app.viewmodel.dropped.folder_of_images import SUFFIXES
from mezzotint_app.viewmodel.foreign_text import plain_tooltip
from mezzotint_app.widgets.drop_area import DropArea, DropHint
from mezzotint_app.widgets.icon_button import icon_button
from mezzotint_app.widgets.inputs.path_list import file_dialog
from mezzotint_app.widgets.inputs.path_row import file_name

_THUMBNAIL = QSize(48, 48)
_ROWS_SHOWN = 4  # without scrolling


class ReferencesPanel(DropArea):
    """Shows a ReferencesModel and passes on what is done to it."""

    message = Signal(str)  # a message for the user

    def __init__(self, model: ReferencesModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.setAccessibleName(self.tr("Reference images"))
        self._hint = DropHint(self.tr("Drop reference images here"))
        self.list = QListWidget()
        self.up = icon_button("up", self.tr("Move up (Alt+Up)"))
        self.down = icon_button("down", self.tr("Move down (Alt+Down)"))
        self.remove = icon_button("remove", self.tr("Remove (Delete)"))
        self.add = QPushButton(icon("add"), self.tr("Add images…"))
        self.clipboard = QPushButton(icon("paste"), self.tr("Paste"))
        self._build()
        self._connect()
        self.show_model()

    def show_model(self) -> None:
        """Show the list."""
        items, place = self._model.items(), self.list.currentRow()
        self.list.blockSignals(True)
        self.list.clear()
        for number, one in enumerate(items, 1):
            self.list.addItem(self._row(number, one))
        self.list.setCurrentRow(min(max(place, 0), len(items) - 1))
        self.list.blockSignals(False)
        self.list.setVisible(bool(items))
        self.list.setFixedHeight(min(len(items), _ROWS_SHOWN) * (_THUMBNAIL.height() + 14) + 6)
        self._hint.setVisible(not items)
        self._show_buttons()

    def take(self, what: DropData) -> None:
        """Add what was dropped or pasted."""
        if what.paths:
            self._model.add(what.paths)
        elif what.image is not None:
            self._model.paste(what.image)
        elif what.elsewhere:
            self.message.emit(self.tr("That is a web address, not a file: save the image first, then drop the file."))
        else:
            self.message.emit(self.tr("There is no image on the clipboard."))

    def choose(self) -> QFileDialog:
        """Open the file dialog."""
        dialog = file_dialog(self, self.tr("Choose reference images"), SUFFIXES)
        dialog.filesSelected.connect(self._model.add)
        dialog.open()
        return dialog

    def move_selected(self, by: int) -> None:
        """Move the selected image up (-1) or down (1)."""
        place = self.list.currentRow()
        if place < 0 or not 0 <= place + by < self.list.count():
            return
        self.list.setCurrentRow(place + by)
        self._model.move(place, place + by)

    def remove_selected(self) -> None:
        """Remove the selected image."""
        if self.list.currentRow() >= 0:
            self._model.remove(self.list.currentRow())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802  Qt's name
        """Alt+Up, Alt+Down and Delete in the list."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            alt = event.modifiers() == Qt.KeyboardModifier.AltModifier
            if alt and event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
                self.move_selected(-1 if event.key() == Qt.Key.Key_Up else 1)
                return True
            if event.key() == Qt.Key.Key_Delete:
                self.remove_selected()
                return True
        return super().eventFilter(watched, event)

    # ---- inside

    def _build(self) -> None:
        self.list.setAccessibleName(self.tr("List of reference images"))
        self.list.setToolTip(self.tr("Drag to reorder: prompts name them by their order, as image 1, image 2"))
        self.list.setIconSize(_THUMBNAIL)
        self.list.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.installEventFilter(self)
        self.add.setAccessibleName(self.tr("Add reference images"))
        self.add.setToolTip(self.tr("Choose image files, or drop them here"))
        self.clipboard.setAccessibleName(self.tr("Paste a reference image"))
        self.clipboard.setToolTip(self.tr("Use the image on the clipboard (Ctrl+V)"))
        row = QHBoxLayout()
        row.setSpacing(4)
        row.addWidget(self.add)
        row.addWidget(self.clipboard)
        row.addStretch()
        for button in (self.up, self.down, self.remove):
            row.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(self._hint)
        layout.addWidget(self.list)
        layout.addLayout(row)

    def _connect(self) -> None:
        self._model.changed.connect(self.show_model)
        self._model.message.connect(self.message)
        self.dropped.connect(self.take)
        self.add.clicked.connect(self.choose)
        self.clipboard.clicked.connect(self.paste)
        self.up.clicked.connect(lambda: self.move_selected(-1))
        self.down.clicked.connect(lambda: self.move_selected(1))
        self.remove.clicked.connect(self.remove_selected)
        self.list.currentRowChanged.connect(lambda _row: self._show_buttons())
        # Queued: the list is filled again, which must wait until the drop is over.
        self.list.model().rowsMoved.connect(self._dragged, Qt.ConnectionType.QueuedConnection)

    def _dragged(self, _parent: QModelIndex, first: int, _last: int, _to: QModelIndex, row: int) -> None:
        """A row was dragged in front of `row`."""
        self._model.move(first, row - 1 if row > first else row)

    def _row(self, number: int, one: Reference) -> QListWidgetItem:
        shown = QListWidgetItem(self._text(number, one))
        shown.setToolTip(plain_tooltip(one.problem or one.path))
        shown.setSizeHint(QSize(0, _THUMBNAIL.height() + 14))
        image = QPixmap(_THUMBNAIL)
        image.fill(Qt.GlobalColor.transparent)
        if one.image is not None:
            image = QPixmap.fromImage(one.image.image)
        elif one.problem:
            image = icon("error").pixmap(_THUMBNAIL)
        shown.setIcon(QIcon(image))
        return shown

    def _text(self, number: int, one: Reference) -> str:
        name = f"{number}. {file_name(one.path)}"
        if one.problem:
            return self.tr("{name}: cannot be used").format(name=name)
        return name if one.image is None else f"{name}, {one.image.width} × {one.image.height}"

    def _show_buttons(self) -> None:
        place, count = self.list.currentRow(), self.list.count()
        self.up.setEnabled(place > 0)
        self.down.setEnabled(0 <= place < count - 1)
        self.remove.setEnabled(place >= 0)
        for button in (self.up, self.down, self.remove):
            button.setVisible(count > 0)
