"""A path in one line: typed, chosen or dropped."""

from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLineEdit

from mezzotint_app.viewmodel.dropped.data import DropData
from mezzotint_app.viewmodel.foreign_text import plain_tooltip
from mezzotint_app.widgets.drop_area import DropArea
from mezzotint_app.widgets.icon_button import icon_button

Kind = Literal["folder", "file"]


class BatchPath(DropArea):
    """Emits `edited` when the user changes the path, but not from `show_path`."""

    edited = Signal(str)

    def __init__(self, name: str, tip: str, kind: Kind, *, patterns: str = "*") -> None:
        super().__init__()
        self._name, self._tip, self._kind, self._patterns = name, tip, kind, patterns
        self.line = QLineEdit()
        self.line.setAccessibleName(name)
        self.line.setToolTip(tip)
        self.line.setAcceptDrops(False)  # the whole row accepts drops
        self.button = icon_button("folder", self.tr("Choose: {name}").format(name=name))
        self.button.clicked.connect(self.choose)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self.line, 1)
        row.addWidget(self.button)
        self.setFocusProxy(self.line)
        self.line.editingFinished.connect(lambda: self._emit_edited(self.line.text()))
        self.dropped.connect(self._use)
        self._last_path = ""

    def show_path(self, path: str, placeholder: str = "") -> None:
        """Show a path, unless the user is typing one."""
        self.line.setPlaceholderText(placeholder)
        self._last_path = path
        if self.line.text() != path and not (self.line.hasFocus() and self.line.isModified()):
            self.line.setText(path)
        self.line.setToolTip(plain_tooltip(f"{self._tip}\n{path or placeholder}".strip()))

    def choose(self) -> QFileDialog:
        """Open a file dialog."""
        dialog = QFileDialog(self, self._name)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if self._kind == "folder":
            dialog.setFileMode(QFileDialog.FileMode.Directory)
            dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        else:
            dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
            dialog.setNameFilters([f"{self._name} ({self._patterns})", "* (*)"])
        dialog.fileSelected.connect(self._chosen)
        dialog.open()
        return dialog

    def _chosen(self, path: str) -> None:
        self.line.setText(path)
        self._emit_edited(path)

    def _use(self, what: DropData) -> None:
        if what.paths:
            self._chosen(what.paths[0])

    def _emit_edited(self, path: str) -> None:
        self.line.setModified(False)
        if path != self._last_path:
            self._last_path = path
            self.edited.emit(path)
