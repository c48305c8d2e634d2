"""Star ratings in a journal."""

from collections.abc import Mapping
from pathlib import Path

from mezzotint.library.gallery.journal import Journal

MOST_STARS = 5


class StarJournal:
    """Stars of images by content key; the last line of each image counts."""

    def __init__(self, path: Path) -> None:
        self._journal = Journal(path, _star)

    def size(self) -> int:
        """Return the file size in bytes; while it is unchanged, so are the stars."""
        return self._journal.size()

    def read(self) -> dict[str, int]:
        """Read all stars."""
        found, lines = self._journal.read()
        stars = dict(found)
        self._journal.compact(list(stars.items()), lines)
        return stars

    def add(self, stars: Mapping[str, int]) -> None:
        """Append stars. Raises StorageError."""
        self._journal.add(stars.items())


def _star(line: object) -> tuple[str, int] | None:
    if not isinstance(line, list) or len(line) != 2:
        return None
    content, rating = line
    fits = isinstance(content, str) and type(rating) is int and 0 <= rating <= MOST_STARS
    return (content, rating) if fits else None
