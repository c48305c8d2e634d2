"""What is known of models and LoRAs: pictures, tags, trigger words and notes, which the library service keeps."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace

from PySide6.QtCore import QMimeData, QObject, QUrl, Signal

from mezzotint.library_protocol import CardPicture, ModelCard, SaveCard
from mezzotint.protocol import ModelInfo
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.viewmodel.thumbnails import ThumbnailKey

LORA_FORMAT = "application/x-mezzotint-lora"  # of drag and drop within the window
PICTURE_SIDE = 256  # pixels of thumbnails


@dataclass(frozen=True, slots=True, kw_only=True)
class CardFilter:
    """Which cards are shown; empty fields match all."""

    text: str = ""  # in name, title, tags or trigger words
    base: str = ""
    tag: str = ""

    def takes(self, card: ModelCard) -> bool:
        """Whether a card matches."""
        words = "\n".join((card.name, card.title, *card.tags, *card.trigger_words)).casefold()
        matches_base = not self.base or card.base == self.base
        return self.text.casefold() in words and matches_base and (not self.tag or self.tag in card.tags)


def is_for(card: ModelCard, info: ModelInfo | None) -> bool:
    """Whether a LoRA may be for a model, as far as both are known."""
    return info is None or not card.families or info.family in card.families


class ModelCards(QObject):
    """Cards by path; changes are shown at once and stored in the background."""

    changed = Signal(str)  # path
    listed = Signal()  # the LoRAs
    message = Signal(str)

    def __init__(self, librarian: Service, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._librarian = librarian
        self._cards: dict[str, ModelCard] = {}
        self._loras: tuple[str, ...] = ()
        self._pictures: dict[str, int] = {}  # by path: how often its picture has changed
        self._loading = False
        self.loras_known = False

    # ---- queries

    def card(self, path: str) -> ModelCard | None:
        """Return a card, if it has been read."""
        return self._cards.get(path)

    def loras(self) -> tuple[ModelCard, ...]:
        """Return the cards of all LoRAs found."""
        return tuple(self._cards[path] for path in self._loras)

    def picture_key(self, card: ModelCard) -> ThumbnailKey | None:
        """Return the thumbnail to show for a card, or None if it has no picture."""
        if card.picture is None:
            return None
        return ThumbnailKey(path=card.picture, side=PICTURE_SIDE, stamp=float(self._pictures.get(card.path, 0)))

    def refresh_loras(self) -> None:
        """Search for LoRAs again."""
        if not self._loading:
            self._loading = True
            self._librarian.ask("loras", answer=tuple[ModelCard, ...], then=self._found, failed=self._not_found)

    def read(self, paths: Iterable[str]) -> None:
        """Read the cards of models again."""
        wanted = tuple(paths)
        if wanted:
            self._librarian.ask(
                "cards", {"paths": list(wanted)}, answer=tuple[ModelCard, ...], then=self._have, failed=self._fail
            )

    # ---- changes

    def save(self, path: str, *, tags: tuple[str, ...], trigger_words: tuple[str, ...], notes: str) -> None:
        """Store what the user says of a file."""
        before = self._cards.get(path)
        if before is None:
            return
        self._put(replace(before, tags=tags, trigger_words=trigger_words, notes=notes))
        self._librarian.ask(
            "save_card",
            SaveCard(path=path, tags=tags, trigger_words=trigger_words, notes=notes),
            failed=self._fail,
        )

    def set_picture(self, path: str, picture: str) -> None:
        """Use a small copy of an image as the picture of a file."""

        def stored(at: str) -> None:
            self._pictures[path] = self._pictures.get(path, 0) + 1
            card = self._cards.get(path)
            if card is not None:
                self._put(replace(card, picture=at or None))

        self._librarian.ask(
            "card_picture", CardPicture(path=path, picture=picture), answer=str, then=stored, failed=self._fail
        )

    # ---- answers

    def _put(self, card: ModelCard) -> None:
        self._cards[card.path] = card
        self.changed.emit(card.path)

    def _have(self, cards: Iterable[ModelCard]) -> None:
        for card in cards:
            self._put(card)

    def _found(self, cards: tuple[ModelCard, ...]) -> None:
        self._loading, self.loras_known = False, True
        self._cards |= {card.path: card for card in cards}
        self._loras = tuple(card.path for card in cards)
        self.listed.emit()

    def _not_found(self, failure: Failure) -> None:
        self._loading = False
        self._fail(failure)

    def _fail(self, failure: Failure) -> None:
        self.message.emit(failure.message)


def lora_data(card: ModelCard) -> QMimeData:
    """The data of a dragged LoRA: its file, and for the prompt its trigger words."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(card.path)])
    words = {"path": card.path, "words": card.trigger_words, "weight": card.weight}
    data.setData(LORA_FORMAT, json.dumps(words).encode())
    return data


def dragged_lora(data: QMimeData) -> tuple[str, tuple[str, ...], float | None] | None:
    """The path, trigger words and weight of a dragged LoRA; None for anything else."""
    if not data.hasFormat(LORA_FORMAT):
        return None
    try:
        found = json.loads(bytes(data.data(LORA_FORMAT).data()))
        return str(found["path"]), tuple(map(str, found["words"])), found["weight"]
    except (ValueError, KeyError, TypeError):
        return None  # another program's data under this name
