"""A file in a list."""

from pathlib import PureWindowsPath

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from mezzotint_app.viewmodel.foreign_text import plain_tooltip
from mezzotint_app.widgets.icon_button import icon_button
from mezzotint_app.widgets.labels import ElidedLabel


class PathRow(QFrame):
    """The file's name and a button to remove it."""

    removed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._name = ElidedLabel()
        self._remove = icon_button("remove", self.tr("Remove"))
        self._remove.clicked.connect(self.removed)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self._name, 1)
        row.addWidget(self._remove)

    def show_path(self, path: str) -> None:
        """Show a file's name, with the full path as tooltip."""
        name = file_name(path)
        self._name.setText(name)
        self._name.setToolTip(plain_tooltip(path))
        self._remove.setAccessibleName(self.tr("Remove {name}").format(name=name))

    def remove_button(self) -> QWidget:
        """The button that removes the file."""
        return self._remove


def file_name(path: str) -> str:
    """The file name of a path of any system, without the extension .safetensors."""
    return PureWindowsPath(path).name.removesuffix(".safetensors") or path
