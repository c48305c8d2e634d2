"""A list of files that are chosen or dropped."""

from collections.abc import Iterable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QPushButton, QVBoxLayout, QWidget

from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.dropped.data import DropData
from mezzotint_app.widgets.drop_area import DropArea
from mezzotint_app.widgets.inputs.path_row import PathRow

ENDINGS = (".safetensors", ".pt", ".bin")


class PathList(DropArea):
    """Emits `edited` with the paths after each change by the user."""

    edited = Signal(tuple)

    def __init__(self, add: str, tip: str, *, endings: tuple[str, ...] = ENDINGS) -> None:
        super().__init__()
        self._paths: tuple[str, ...] = ()
        self._rows: list[PathRow] = []
        self._endings = endings
        self._title = add
        self._add = QPushButton(icon("add"), add)
        self._add.setAccessibleName(add)
        self._add.setToolTip(tip)
        self._add.clicked.connect(self.choose)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(4)
        self._layout.addWidget(self._add, 0, Qt.AlignmentFlag.AlignLeft)
        self.dropped.connect(self.take)

    def show_paths(self, paths: Sequence[str]) -> None:
        """Show these paths."""
        self._paths = tuple(paths)
        while len(self._rows) > len(self._paths):
            row = self._rows.pop()
            self._layout.removeWidget(row)
            row.deleteLater()
        while len(self._rows) < len(self._paths):
            self._make_row(len(self._rows))
        for row, path in zip(self._rows, self._paths, strict=True):
            row.show_path(path)

    def paths(self) -> tuple[str, ...]:
        """The shown paths."""
        return self._paths

    def rows(self) -> tuple[PathRow, ...]:
        """One row per path."""
        return tuple(self._rows)

    def take(self, data: DropData) -> None:
        """Add dropped files with a matching extension."""
        self.add(path for path in data.paths if path.lower().endswith(self._endings))

    def add(self, paths: Iterable[str]) -> None:
        """Add files that are not in the list yet."""
        wanted = tuple(dict.fromkeys([*self._paths, *paths]))
        if wanted != self._paths:
            self._emit_edited(wanted)

    def choose(self) -> QFileDialog:
        """Open a file dialog."""
        dialog = file_dialog(self, self._title, self._endings)
        dialog.filesSelected.connect(self.add)
        dialog.open()
        return dialog

    def _emit_edited(self, paths: tuple[str, ...]) -> None:
        self.show_paths(paths)  # at once, as the next change builds on it
        self.edited.emit(paths)

    def _make_row(self, place: int) -> None:
        row = PathRow()
        row.removed.connect(lambda: self._remove(place))
        self._rows.append(row)
        self._layout.insertWidget(place, row)

    def _remove(self, place: int) -> None:
        self._add.setFocus()
        self._emit_edited(self._paths[:place] + self._paths[place + 1 :])


def file_dialog(parent: QWidget, title: str, endings: tuple[str, ...]) -> QFileDialog:
    """A dialog for choosing files with these extensions."""
    dialog = QFileDialog(parent, title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    names = " ".join(f"*{ending}" for ending in endings)
    dialog.setNameFilters([f"{title} ({names})", "* (*)"])
    return dialog
