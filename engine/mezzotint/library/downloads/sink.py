"""A file that is being downloaded: resumed at its end, and never larger than announced."""

import os
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class TooLarge(OSError):
    """More bytes arrived than were announced."""


class Sink(FileIO):
    """File for huggingface_hub to write to; adds a size limit, which it lacks; it may truncate to restart."""

    def __init__(self, path: Path, limit: int, on_bytes: Callable[[int], None] = lambda _: None) -> None:
        super().__init__(path, "r+")
        self._limit = limit
        self._on_bytes = on_bytes
        self.size = self.seek(0, os.SEEK_END)
        on_bytes(self.size)
        if self.size > limit:
            self.restart()

    def write(self, data: "ReadableBuffer", /) -> int:
        """Write all of `data`. Raises TooLarge beyond the limit."""
        view = memoryview(data)
        if self.size + len(view) > self._limit:
            raise TooLarge(f"more than the {self._limit} bytes that were announced")
        while view:
            taken = super().write(view)
            view = view[taken:]
            self.size += taken
            self._on_bytes(taken)
        return len(memoryview(data))

    def truncate(self, size: int | None = None, /) -> int:
        """Truncate, and subtract the lost bytes from the progress."""
        kept = super().truncate(size)
        self._on_bytes(kept - self.size)
        self.size = kept
        return kept

    def restart(self) -> None:
        """Discard the content and start over."""
        self.seek(0)
        self.truncate()
