"""The folders searched for models, and the models removed from the list."""

from typing import cast

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from mezzotint.library_protocol import ModelPlace
from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.foreign_text import plain_tooltip
from mezzotint_app.viewmodel.models.models import ModelLibrary
from mezzotint_app.widgets.labels import plain_label

_PLACE = int(Qt.ItemDataRole.UserRole)


class ModelFoldersDialog(QDialog):
    """Lists the folders, of which those added by the user can be removed, and hidden models, which can be restored."""

    def __init__(self, library: ModelLibrary, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Model folders"))
        self._library = library
        self.list = QListWidget()
        self.list.setAccessibleName(self.tr("Searched folders"))
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.add_button = QPushButton(icon("add"), self.tr("Add folder…"))
        self.add_button.setToolTip(
            self.tr("A model folder, or the root folder of a ComfyUI or A1111 installation; nothing is copied")
        )
        self.remove_button = QPushButton(icon("remove"), self.tr("Remove"))
        self.remove_button.setToolTip(self.tr("Stop searching the folder; nothing in it is deleted"))
        self._make_hidden()
        self._build()
        self.list.currentItemChanged.connect(self._chosen)
        self.add_button.clicked.connect(self._add)
        self.remove_button.clicked.connect(self._remove)
        library.changed.connect(self._show)
        library.hidden_changed.connect(self._show_hidden)
        self._show()
        self._show_hidden()
        library.ask_hidden()

    def _make_hidden(self) -> None:
        self.hidden = QListWidget()
        self.hidden.setAccessibleName(self.tr("Models removed from the list"))
        self.hidden.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list_again_button = QPushButton(icon("undo"), self.tr("Restore"))
        self.list_again_button.setToolTip(self.tr("Show the model in the list again"))
        self.list_again_button.clicked.connect(self._list_again)
        self.hidden.currentItemChanged.connect(lambda *_: self._hidden_chosen())
        self.hidden.itemActivated.connect(lambda _item: self._list_again())

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 16, 24, 16)
        words = self.tr("Models are used in place. Unmarked folders belong to the system or to Mezzotint.")
        column.addWidget(plain_label(words, role="muted", wrap=True))
        column.addWidget(self.list, 1)
        row = QHBoxLayout()
        row.addWidget(self.add_button)
        row.addWidget(self.remove_button)
        row.addStretch()
        column.addLayout(row)
        self._off = QWidget()
        off = QVBoxLayout(self._off)
        off.setContentsMargins(0, 8, 0, 0)
        off.addWidget(plain_label(self.tr("Not in the list"), role="heading"))
        off.addWidget(self.hidden, 1)
        off.addWidget(self.list_again_button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._off, 1)
        close = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        close.button(QDialogButtonBox.StandardButton.Close).setToolTip(self.tr("Close"))
        close.rejected.connect(self.reject)
        column.addWidget(close)
        self.resize(720, 540)

    def _show(self) -> None:
        self.list.clear()
        for place in self._library.places:
            item = QListWidgetItem(icon("folder"), self._line(place))
            item.setToolTip(plain_tooltip(place.problem or place.path))
            item.setData(_PLACE, place)
            self.list.addItem(item)
        self._chosen()

    def _show_hidden(self) -> None:
        self.hidden.clear()
        for model in self._library.hidden:
            item = QListWidgetItem(icon("models"), f"{model.id} — {model.path}")
            item.setToolTip(plain_tooltip(model.path))
            item.setData(_PLACE, model.id)
            self.hidden.addItem(item)
        self._off.setVisible(bool(self._library.hidden))
        self._hidden_chosen()

    def _hidden_chosen(self) -> None:
        self.list_again_button.setEnabled(self.hidden.currentItem() is not None)

    def _list_again(self) -> None:
        item = self.hidden.currentItem()
        if item is not None:
            self._library.remember(cast(str, item.data(_PLACE)))

    def _line(self, place: ModelPlace) -> str:
        parts = [place.path]
        if place.own:
            parts.append(self.tr("added by you"))
        if place.problem:
            parts.append(place.problem)
        return " — ".join(parts)

    def _chosen(self) -> None:
        place = self._place()
        self.remove_button.setEnabled(place is not None and place.own)

    def _place(self) -> ModelPlace | None:
        item = self.list.currentItem()
        return cast(ModelPlace, item.data(_PLACE)) if item is not None else None

    def _add(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, self.tr("A model folder, or a ComfyUI or A1111 installation"))
        if folder:
            self._library.add_folder(folder)

    def _remove(self) -> None:
        place = self._place()
        if place is not None:
            self._library.remove_folder(place.path)
