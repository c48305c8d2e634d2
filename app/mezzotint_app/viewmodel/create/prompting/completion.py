"""Completion in a prompt: what is being typed, what it could become, and the edit that completes it."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, QTimer, Signal

from mezzotint.library_protocol import Completion, CompletionKind, CompletionQuery, ModelCard
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored

DELAY = 120  # milliseconds
SHORTEST = 2  # letters, of a tag or an embedding
_SHORTEST_LAST = 3  # letters of the last word of a sentence
_LONGEST = 100  # characters before the cursor that are looked at

_BEGINS: tuple[tuple[re.Pattern[str], tuple[CompletionKind, ...]], ...] = (
    (re.compile(r"<(?:l(?:o(?:r(?:a(?::([^<>:]*))?)?)?)?)?\Z"), ("lora",)),
    (re.compile(r"(?:^|(?<=[^\w]))__((?:(?!__)[\w./-])*)\Z"), ("wildcard",)),
    (re.compile(r"(?:^|[,\n(){}|\[\]<>])\s*([^,\n(){}|\[\]<>:]*)\Z"), ("embedding", "style", "tag", "lora")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """What is being typed: `text[start:end]` would be replaced."""

    word: str
    kinds: tuple[CompletionKind, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEdit:
    """`text[start:end]` is replaced with `text`, and the cursor put behind it."""

    start: int
    end: int
    text: str


def typed_at(text: str, place: int) -> Typed | None:
    """What is being typed before a place in a text; None if that cannot be completed."""
    begin = max(0, place - _LONGEST)
    before = text[begin:place]
    for pattern, kinds in _BEGINS:
        found = pattern.search(before)
        if found is None:
            continue
        word = (found[1] or "").lstrip()
        if kinds[0] == "embedding" and (len(word.strip()) < SHORTEST or "__" in word):
            return None
        start = found.start() if kinds[0] != "embedding" else len(before) - len(word)
        return Typed(word=word, kinds=kinds, start=begin + start, end=place)
    return None


def last_word(typed: Typed) -> Typed | None:
    """The last of several words typed, such as of a sentence; None if it is too short to be completed."""
    words, space, last = typed.word.rpartition(" ")
    if len(typed.kinds) == 1 or not words.strip() or not space or len(last) < _SHORTEST_LAST:
        return None
    return replace(typed, word=last, start=typed.end - len(last))


def edit_of(typed: Typed, chosen: Completion, after: str) -> TextEdit:
    """The edit that completes what was typed; `after` is the text behind it. LoRAs and styles are taken out."""
    if chosen.kind in ("lora", "style"):
        return TextEdit(start=typed.start, end=typed.end, text="")
    if chosen.kind == "wildcard":
        return TextEdit(start=typed.start, end=typed.end, text=f"__{chosen.text}__")
    words = chosen.text
    if chosen.kind == "tag":
        words = re.sub(r"([()\[\]\\])", r"\\\1", words if len(words) < 4 else words.replace("_", " "))
    goes_on = after.lstrip(" ")[:1] in tuple(",)]}|")
    return TextEdit(start=typed.start, end=typed.end, text=words if after and goes_on else f"{words}, ")


class PromptCompletion(QObject):
    """Asks the library service shortly after typing stops; stale answers are dropped."""

    changed = Signal()
    lora_chosen = Signal(str)  # its file
    lora_described = Signal(str, tuple, object)  # of one chosen: its file, trigger words, and weight or None
    embedding_chosen = Signal(str)
    style_chosen = Signal(str)  # its name
    failed = Signal(str)

    def __init__(self, librarian: Service, settings: Stored[Settings], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._librarian, self._settings = librarian, settings
        self._typed: Typed | None = None
        self._completed: Typed | None = None  # it, or its last word
        self._found: tuple[Completion, ...] = ()
        self._told = ""  # the failure that was told last
        self._waiting = QTimer(self)
        self._waiting.setSingleShot(True)
        self._waiting.setInterval(DELAY)
        self._waiting.timeout.connect(self._ask)

    def found(self) -> tuple[Completion, ...]:
        """Return what the typed word could become, best first."""
        return self._found

    def is_named(self) -> bool:
        """Whether what was typed can only be what is offered, such as after `<lora:`."""
        return self._typed is not None and len(self._typed.kinds) == 1

    def type(self, text: str, place: int) -> None:
        """Look at what was typed before a place."""
        typed = typed_at(text, place)
        if typed == self._typed:
            return
        self._typed = typed
        if typed is None:
            self.dismiss()
        else:
            self._waiting.start()

    def dismiss(self) -> None:
        """Offer nothing until something else is typed."""
        self._waiting.stop()
        self._take(())

    def choose(self, number: int, text: str) -> TextEdit | None:
        """Return the edit of a text for one of those found, and tell of its file."""
        if self._typed is None or self._completed is None or not 0 <= number < len(self._found):
            return None
        typed, chosen = self._completed, self._found[number]
        self._typed = None
        self.dismiss()
        told = {"lora": self.lora_chosen, "embedding": self.embedding_chosen}.get(chosen.kind)
        if told is not None:
            told.emit(chosen.path)
            if chosen.kind == "lora":
                self._describe(chosen.path)
        elif chosen.kind == "style":
            self.style_chosen.emit(chosen.text)
        return edit_of(typed, chosen, text[typed.end :])

    def _describe(self, path: str) -> None:
        """Tell of a LoRA's trigger words and weight, which are in its file or beside it."""

        def tell(cards: tuple[ModelCard, ...]) -> None:
            for card in cards:
                self.lora_described.emit(path, card.trigger_words, card.weight)

        self._librarian.ask("cards", {"paths": [path]}, answer=tuple[ModelCard, ...], then=tell)

    def _ask(self) -> None:
        if self._typed is not None:
            self._ask_for(self._typed, self._typed, self._settings.value().tag_file)

    def _ask_for(self, typed: Typed, part: Typed, tag_file: str) -> None:
        """Ask what a part of what was typed could become; its last word if that is nothing."""

        def take(found: tuple[Completion, ...]) -> None:
            shorter = None if found else last_word(part)
            if shorter is not None:
                self._ask_for(typed, shorter, tag_file)
            else:
                self._completed = part
                self._take(found)

        def refused(failure: Failure) -> None:
            self._tell(failure)
            if failure.kind == "usage" and tag_file:
                self._ask_for(typed, part, "")  # the others can be offered nevertheless
            else:
                self._take(())

        wildcards = self._settings.value().wildcard_folder
        query = CompletionQuery(word=part.word, kinds=part.kinds, tag_file=tag_file, wildcards=wildcards)
        self._librarian.ask(
            "complete",
            query,
            answer=tuple[Completion, ...],
            then=self._if_still(typed, take),
            failed=self._if_still(typed, refused),
        )

    def _if_still(self, typed: Typed, then: "Callable[..., None]") -> "Callable[..., None]":
        return lambda answer: then(answer) if typed == self._typed else None

    def _tell(self, failure: Failure) -> None:
        if failure.kind == "usage" and failure.message != self._told:
            self._told = failure.message
            self.failed.emit(failure.message)

    def _take(self, found: tuple[Completion, ...]) -> None:
        if tuple(found) != self._found:
            self._found = tuple(found)
            self.changed.emit()
