"""The models as a table model."""

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QCoreApplication, QModelIndex, QObject, QPersistentModelIndex, Qt

from mezzotint.protocol import ModelInfo, Plan
from mezzotint_app.amounts import bytes_text
from mezzotint_app.processes.service import Failure
from mezzotint_app.viewmodel.models.models import ModelLibrary

translate = QCoreApplication.translate
Index = QModelIndex | QPersistentModelIndex

NAME, FAMILY, PRECISION, SIZE, NEED, SOURCE = range(6)
ID_ROLE = int(Qt.ItemDataRole.UserRole)
SORT_ROLE = ID_ROLE + 1
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class ModelsTable(QAbstractTableModel):
    """Name, family, precision, size, memory requirement and source of each model."""

    def __init__(self, library: ModelLibrary, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._library = library
        self._shown: tuple[ModelInfo, ...] = library.models
        library.changed.connect(self._refresh)
        library.memory_plan_changed.connect(self._need_changed)
        library.memory_plans_discarded.connect(self._needs_forgotten)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008, D102
        return 0 if parent.isValid() else len(self._shown)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008, D102
        return 0 if parent.isValid() else 6

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:  # noqa: N802, ANN401, D102
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.TextAlignmentRole and section == SIZE:
            return _RIGHT
        if orientation != Qt.Orientation.Horizontal or role != Qt.ItemDataRole.DisplayRole:
            return None
        return (
            self.tr("Model"),
            self.tr("Family"),
            self.tr("Precision"),
            self.tr("Size"),
            self.tr("Memory needed"),
            self.tr("From"),
        )[section]

    def data(self, index: Index, role: int = 0) -> Any:  # noqa: ANN401
        """Return a cell's text, sort key or accessible text."""
        if not index.isValid() or index.row() >= len(self._shown):
            return None
        model = self._shown[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(model, index.column())
        if role == ID_ROLE:
            return model.id
        if role == SORT_ROLE:
            return model.bytes if index.column() == SIZE else self._text(model, index.column()).casefold()
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() == SIZE:
            return _RIGHT
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{self.headerData(index.column(), Qt.Orientation.Horizontal)}: {self._text(model, index.column())}"
        return None

    def row_of(self, identity: str) -> int | None:
        """Return the row of a model, or None."""
        return next((row for row, model in enumerate(self._shown) if model.id == identity), None)

    def _text(self, model: ModelInfo, column: int) -> str:
        if column == NAME:
            return model.id
        if column == FAMILY:
            known = " ".join(part for part in (model.family, model.variant) if part)
            return known if known and model.problem is None else self.tr("cannot be used")
        if column == PRECISION:
            return (model.scheme or self.tr("full")) if model.family else ""
        if column == SIZE:
            return bytes_text(model.bytes) if model.bytes else ""
        if column == NEED:
            return self._need(model)
        return self.source_name(model.source)

    def source_name(self, source: str) -> str:
        """Return the translated name of a model's source."""
        return {
            "bundled": self.tr("bundled"),
            "models": self.tr("your models"),
            "folder": self.tr("added folder"),
            "huggingface": self.tr("Hugging Face cache"),
            "a1111": self.tr("A1111"),
            "comfyui": self.tr("ComfyUI"),
            "path": self.tr("added file"),
        }.get(source, source)

    def _need(self, model: ModelInfo) -> str:
        if not model.family:
            return ""
        need = self._library.memory_plan(model.id)
        if need is None:
            return "…"
        return need_text(need)

    def _refresh(self) -> None:
        if self._shown != self._library.models:
            self.beginResetModel()
            self._shown = self._library.models
            self.endResetModel()

    def _needs_forgotten(self) -> None:
        if self._shown:
            self.dataChanged.emit(self.index(0, NEED), self.index(len(self._shown) - 1, NEED))

    def _need_changed(self, identity: str) -> None:
        row = self.row_of(identity)
        if row is not None:
            index = self.index(row, NEED)
            self.dataChanged.emit(index, index)


def need_text(need: Plan | Failure) -> str:
    """Return a plan as a short text: peak memory, and whether the model is streamed or does not fit."""
    if isinstance(need, Failure):
        return translate("ModelsTable", "unknown")
    if not need.fits:
        least = need.smallest_vram_bytes or need.smallest_ram_bytes
        return translate("ModelsTable", "does not fit: needs at least {least}").format(least=bytes_text(least))
    peak = need.peak_vram_bytes or need.peak_ram_bytes
    if need.seconds > 1.3 * need.seconds_resident:
        return translate("ModelsTable", "{peak}, streamed").format(peak=bytes_text(peak))
    return bytes_text(peak)
