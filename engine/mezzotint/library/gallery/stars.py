"""Star ratings in an append-only journal, so that damage to the gallery's index loses none."""

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from mezzotint.atomic import atomic_write
from mezzotint.trouble import storage_error

MOST_STARS = 5
_LARGEST_FILE = 256 << 20
_ROOM = 1000  # lines beyond twice the number of stars before the file is compacted


class StarJournal:
    """Stars of images by content key; the last line of each image counts."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def size(self) -> int:
        """Return the file size in bytes; while it is unchanged, so are the stars."""
        try:
            return self._path.stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            return 0
        except OSError as error:
            raise storage_error("read", self._path, error) from error

    def read(self) -> dict[str, int]:
        """Read all stars, skipping invalid lines, such as one truncated by a power failure."""
        try:
            with open(self._path, "rb") as file:
                lines = file.read(_LARGEST_FILE).split(b"\n")
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise storage_error("read", self._path, error) from error
        stars = dict(star for line in lines if (star := _star(line)) is not None)
        if len(lines) > 2 * len(stars) + _ROOM:
            atomic_write(self._path, b"\n" + _lines(stars), overwrite=True)
        return stars

    def add(self, stars: Mapping[str, int]) -> None:
        """Append stars and fsync; truncated back on failure. Raises StorageError."""
        before = self.size()
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with open(self._path, "ab") as file:
                file.write(b"\n" + _lines(stars))  # terminates a previously truncated line
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            with contextlib.suppress(OSError):
                os.truncate(self._path, before)
            raise storage_error("write", self._path, error) from error


def _lines(stars: Mapping[str, int]) -> bytes:
    return "".join(f"{json.dumps([content, rating])}\n" for content, rating in stars.items()).encode()


def _star(line: bytes) -> tuple[str, int] | None:
    try:
        content, rating = json.loads(line)
    except (ValueError, TypeError, RecursionError):
        return None
    fits = isinstance(content, str) and type(rating) is int and 0 <= rating <= MOST_STARS
    return (content, rating) if fits else None
