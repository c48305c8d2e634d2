"""The images of a dataset as a list: what is used of each, its captions, which can be edited, and its problems."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRectF, Qt, Signal

from mezzotint.training_protocol import DatasetImage, TrainingCheck
from mezzotint_app.viewmodel.thumbnails import ThumbnailKey, Thumbnails

Index = QModelIndex | QPersistentModelIndex

THUMBNAIL = Qt.ItemDataRole.UserRole  # QImage | None
CROP = Qt.ItemDataRole.UserRole + 1  # QRectF of the used part, in shares of the image
CAPTION = Qt.ItemDataRole.UserRole + 2
PROBLEM = Qt.ItemDataRole.UserRole + 3
BROKEN = Qt.ItemDataRole.UserRole + 4

_VIEWER = "dataset"


class DatasetModel(QAbstractListModel):
    """Rows keep their places while the folder stays the same, so that an edited one does not move away."""

    edited = Signal(str, tuple)  # path of an image, its new captions

    def __init__(self, thumbnails: Thumbnails, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thumbnails = thumbnails
        self._images: list[DatasetImage] = []
        self._problems: dict[str, str] = {}
        self._side = 256
        thumbnails.changed.connect(self._thumbnail_changed)

    # ---- contents

    def use(self, found: TrainingCheck | None) -> None:
        """Show the images of a check."""
        images = () if found is None else found.images
        problems = {} if found is None else _by_image(found)
        fresh = {one.path: one for one in images}
        if fresh.keys() == {one.path for one in self._images}:
            self._images, self._problems = [fresh[one.path] for one in self._images], problems
            if self._images:
                self.dataChanged.emit(self.index(0), self.index(len(self._images) - 1))
            return
        self.beginResetModel()
        self._images, self._problems = list(images), problems
        self.endResetModel()

    def image(self, row: int) -> DatasetImage:
        """Return the image in a row."""
        return self._images[row]

    def show_rows(self, rows: Iterable[int], side: int) -> None:
        """Request the thumbnails of the visible rows."""
        self._side = side
        wanted = [self._key(self._images[row]) for row in rows if row < len(self._images)]
        self._thumbnails.show(wanted, _VIEWER)

    # ---- QAbstractListModel

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802  Qt's name
        """The number of images."""
        return 0 if parent.isValid() else len(self._images)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Captions can be edited."""
        return super().flags(index) | Qt.ItemFlag.ItemIsEditable

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401
        """The data of an image."""
        if not index.isValid() or index.row() >= len(self._images):
            return None
        image = self._images[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.AccessibleTextRole:
                return self._words(image)
            case Qt.ItemDataRole.EditRole:
                return "\n".join(image.captions)
            case Qt.ItemDataRole.ToolTipRole:
                return self._tooltip(image)
            case _:
                return self._drawn(image, role)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:  # noqa: ANN401, N802
        """Take an edited caption; several lines are alternatives."""
        if not index.isValid() or role != Qt.ItemDataRole.EditRole:
            return False
        image = self._images[index.row()]
        captions = tuple(" ".join(line.split()) for line in str(value).splitlines() if line.strip())
        if captions == image.captions:
            return False
        self._images[index.row()] = replace(image, captions=captions)
        self.dataChanged.emit(index, index)
        self.edited.emit(image.path, captions)
        return True

    # ---- internals

    def _drawn(self, image: DatasetImage, role: int) -> Any:  # noqa: ANN401
        if role == THUMBNAIL:
            return self._thumbnails.thumbnail(self._key(image))
        if role == BROKEN:
            return self._thumbnails.why_broken(self._key(image))
        if role == CROP:
            left, top, right, bottom = image.box
            width, height = max(1, image.width), max(1, image.height)
            return QRectF(left / width, top / height, (right - left) / width, (bottom - top) / height)
        if role == CAPTION:
            return " / ".join(image.captions)
        return self._problems.get(image.path, "") if role == PROBLEM else None

    def _words(self, image: DatasetImage) -> str:
        parts = (Path(image.path).name, " / ".join(image.captions) or self.tr("no caption"))
        return ": ".join(parts) + (f"\n{problem}" if (problem := self._problems.get(image.path)) else "")

    def _tooltip(self, image: DatasetImage) -> str:
        size = self.tr("{width} × {height} pixels, used as {used_width} × {used_height}").format(
            width=image.width, height=image.height, used_width=image.used_width, used_height=image.used_height
        )
        kind = self.tr("Regularization image") if image.regularization else ""
        return "\n".join(part for part in (self._words(image), size, kind) if part)

    def _key(self, image: DatasetImage) -> ThumbnailKey:
        return ThumbnailKey(path=image.path, side=self._side)

    def _thumbnail_changed(self, path: str) -> None:
        for row, image in enumerate(self._images):
            if image.path == path:
                self.dataChanged.emit(self.index(row), self.index(row))


def _by_image(found: TrainingCheck) -> dict[str, str]:
    """Problems by the image that they are about."""
    problems: dict[str, list[str]] = {}
    for one in found.problems:
        problems.setdefault(one.path, []).append(one.message)
    return {path: "\n".join(messages) for path, messages in problems.items()}
