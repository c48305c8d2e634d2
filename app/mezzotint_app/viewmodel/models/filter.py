"""The models that are shown: by words, family and tag, with their pictures."""

from typing import Any

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QSortFilterProxyModel, Qt
from PySide6.QtGui import QImage

from mezzotint.protocol import ModelInfo
from mezzotint_app.viewmodel.models.cards import CardFilter, ModelCards
from mezzotint_app.viewmodel.models.models import ModelLibrary
from mezzotint_app.viewmodel.models.table import ID_ROLE, NAME, SORT_ROLE
from mezzotint_app.viewmodel.thumbnails import ThumbnailKey, Thumbnails

Index = QModelIndex | QPersistentModelIndex
_VIEWER = "models table"
_SIDE = 28  # pixels of the pictures


class ModelsFilter(QSortFilterProxyModel):
    """Sorts and filters a ModelsTable."""

    def __init__(
        self, library: ModelLibrary, cards: ModelCards, thumbnails: Thumbnails, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._library, self._cards, self._thumbnails = library, cards, thumbnails
        self._wanted, self._family = CardFilter(), ""
        self.setSortRole(SORT_ROLE)
        library.changed.connect(self.read_cards)
        cards.changed.connect(lambda _path: self._refresh())
        thumbnails.changed.connect(lambda path: self._refresh() if path in self._pictures() else None)

    def read_cards(self) -> None:
        """Read what is known of all models again."""
        self._cards.read(model.path for model in self._library.models)

    def families(self) -> tuple[str, ...]:
        """Return the families of the models."""
        return tuple(sorted({model.family for model in self._library.models if model.family}))

    def tags(self) -> tuple[str, ...]:
        """Return the tags of the models."""
        cards = (self._cards.card(model.path) for model in self._library.models)
        return tuple(sorted({tag for card in cards if card is not None for tag in card.tags}, key=str.casefold))

    def show_only(self, *, text: str, family: str, tag: str) -> None:
        """Show the models that match; empty arguments match all."""
        self._wanted, self._family = CardFilter(text=text, tag=tag), family
        self.invalidateFilter()

    def filterAcceptsRow(self, row: int, parent: Index) -> bool:  # noqa: N802  Qt's name
        """Whether a model matches."""
        model = self._model(self.sourceModel().index(row, NAME, parent))
        if model is None or (self._family and model.family != self._family):
            return False
        card = self._cards.card(model.path)
        found = self._wanted.text.casefold() in model.id.casefold()
        if card is None:
            return found and not self._wanted.tag
        return self._wanted.takes(card) or (found and (not self._wanted.tag or self._wanted.tag in card.tags))

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401
        """Return the table's data, and a picture beside the name."""
        if role == Qt.ItemDataRole.DecorationRole and index.column() == NAME:
            return self._picture(self._model(index))
        return super().data(index, role)

    def _model(self, index: Index) -> ModelInfo | None:
        return self._library.model(index.data(ID_ROLE) or "")

    def _picture(self, model: ModelInfo | None) -> QImage | None:
        key = None if model is None else self._key(model)
        image = None if key is None else self._thumbnails.thumbnail(key)
        if image is None:
            return None
        ratio, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
        return image.scaled(_SIDE, _SIDE, ratio, smooth)

    def _key(self, model: ModelInfo) -> ThumbnailKey | None:
        card = self._cards.card(model.path)
        return None if card is None else self._cards.picture_key(card)

    def _pictures(self) -> set[str]:
        return {key.path for model in self._library.models if (key := self._key(model)) is not None}

    def _refresh(self) -> None:
        keys = (self._key(model) for model in self._library.models)
        self._thumbnails.show([key for key in keys if key is not None], _VIEWER)
        self.invalidateFilter()
        if self.rowCount():
            self.dataChanged.emit(self.index(0, NAME), self.index(self.rowCount() - 1, NAME))
