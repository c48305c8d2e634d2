"""Boards and tags: names that users give to images, kept in a journal beside the stars."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from mezzotint.errors import UsageError
from mezzotint.library.gallery.journal import Journal
from mezzotint.library_protocol import LabelKind
from mezzotint.trouble import shown

LONGEST_NAME = 100  # characters
MOST_LABELS = 200  # of one image
MOST_BOARDS = 1000
_LONGEST_SEARCH = 1000
_KINDS = get_args(LabelKind)

Label = tuple[LabelKind, str]  # kind and name
Labels = tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class ImageLine:
    """All labels of an image, by its content key."""

    content: str
    labels: Labels


@dataclass(frozen=True, slots=True)
class BoardLine:
    """A board; a search makes it smart, and one that is gone is removed."""

    name: str
    search: str | None = None
    gone: bool = False


@dataclass(slots=True)
class Labelled:
    """What the journal says."""

    images: dict[str, Labels] = field(default_factory=dict)
    boards: dict[str, str | None] = field(default_factory=dict)  # their searches, by name


class LabelJournal:
    """The last line of each image and of each board counts."""

    def __init__(self, path: Path) -> None:
        self._journal: Journal[ImageLine | BoardLine] = Journal(path, _line)

    def size(self) -> int:
        """Return the file size in bytes; while it is unchanged, so is the content."""
        return self._journal.size()

    def read(self) -> Labelled:
        """Read everything."""
        found, lines = self._journal.read()
        made = Labelled()
        for line in found:
            if isinstance(line, ImageLine):
                made.images[line.content] = line.labels
            elif line.gone:
                made.boards.pop(line.name, None)
            else:
                made.boards[line.name] = line.search
        made.images = {content: labels for content, labels in made.images.items() if labels}
        needed: list[ImageLine | BoardLine] = [BoardLine(*board) for board in made.boards.items()]
        needed += [ImageLine(*image) for image in made.images.items()]
        self._journal.compact([_written(line) for line in needed], lines)
        return made

    def add(self, images: Mapping[str, Labels], boards: Iterable[BoardLine] = ()) -> None:
        """Append labels of images, and boards. Raises StorageError."""
        lines: list[ImageLine | BoardLine] = [*boards, *(ImageLine(*image) for image in images.items())]
        self._journal.add([_written(line) for line in lines])


def checked_name(name: str) -> str:
    """Return a board's or tag's name without surrounding spaces. Raises UsageError."""
    stripped = " ".join(name.split())
    if not stripped or not _is_name(stripped):
        raise UsageError(
            f"{shown(name)} cannot name a board or tag: use 1 to {LONGEST_NAME} characters without quotation marks"
        )
    return stripped


def checked_search(search: str) -> str:
    """Return the search of a smart board. Raises UsageError."""
    if not search.strip() or not _is_search(search):
        raise UsageError(f"a board needs a search of 1 to {_LONGEST_SEARCH} characters, not {shown(search[:60])}")
    return search.strip()


def _is_name(name: object) -> bool:
    return isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and name.isprintable() and '"' not in name


def _is_search(search: object) -> bool:
    return isinstance(search, str) and len(search) <= _LONGEST_SEARCH and "\0" not in search


def _line(line: object) -> ImageLine | BoardLine | None:
    match line:
        case ["image", str(content), list(pairs)] if len(pairs) <= MOST_LABELS and all(map(_is_label, pairs)):
            return ImageLine(content, tuple((kind, name) for kind, name in pairs))
        case ["board", name, None | str() as search] if _is_name(name) and (search is None or _is_search(search)):
            return BoardLine(str(name), search)
        case ["board", name, False] if _is_name(name):
            return BoardLine(str(name), gone=True)
    return None


def _is_label(pair: object) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and pair[0] in _KINDS and _is_name(pair[1])


def _written(line: ImageLine | BoardLine) -> list[object]:
    if isinstance(line, ImageLine):
        return ["image", line.content, [list(label) for label in line.labels]]
    return ["board", line.name, False if line.gone else line.search]
