"""An append-only file of JSON lines, so that damage to the gallery's index loses nothing of what users have added."""

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

from mezzotint.atomic import atomic_write
from mezzotint.trouble import storage_error

_LARGEST_FILE = 256 << 20
_ROOM = 1000  # lines beyond twice the needed ones before the file is compacted

Line = TypeVar("Line")


class Journal(Generic[Line]):
    """Lines of one kind; those that `parse` does not recognize, such as truncated ones, are skipped."""

    def __init__(self, path: Path, parse: Callable[[object], Line | None]) -> None:
        self._path, self._parse = path, parse

    def size(self) -> int:
        """Return the file size in bytes; while it is unchanged, so is the content."""
        try:
            return self._path.stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            return 0
        except OSError as error:
            raise storage_error("read", self._path, error) from error

    def read(self) -> tuple[list[Line], int]:
        """Return the lines, and how many there are in the file, recognized or not."""
        try:
            with open(self._path, "rb") as file:
                lines = file.read(_LARGEST_FILE).split(b"\n")
        except FileNotFoundError:
            return [], 0
        except OSError as error:
            raise storage_error("read", self._path, error) from error
        return list(self._parsed(lines)), len(lines)

    def compact(self, needed: list[object], lines: int) -> None:
        """Rewrite the file with the needed lines if it has far more."""
        if lines > 2 * len(needed) + _ROOM:
            atomic_write(self._path, b"\n" + _written(needed), overwrite=True)

    def add(self, lines: Iterable[object]) -> None:
        """Append lines and fsync; truncated back on failure. Raises StorageError."""
        before = self.size()
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with open(self._path, "ab") as file:
                file.write(b"\n" + _written(lines))  # terminates a previously truncated line
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            with contextlib.suppress(OSError):
                os.truncate(self._path, before)
            raise storage_error("write", self._path, error) from error

    def _parsed(self, lines: Iterable[bytes]) -> Iterator[Line]:
        for line in lines:
            with contextlib.suppress(ValueError, TypeError, RecursionError):
                found = self._parse(json.loads(line))
                if found is not None:
                    yield found


def _written(lines: Iterable[object]) -> bytes:
    return "".join(f"{json.dumps(line)}\n" for line in lines).encode()
