"""A file that is being received: summed while it grows, and never larger than was announced."""

import hashlib
import os
from collections.abc import Callable
from typing import BinaryIO

_CHUNK = 4 * 2**20


class TooLarge(OSError):
    """More came than was announced."""


class Sink:
    """Takes what comes, after what an earlier try has left in the file; it can be begun anew, as a transfer may ask."""

    def __init__(self, file: BinaryIO, limit: int, on_bytes: Callable[[int], None] = lambda _: None) -> None:
        self._file = file
        self._limit = limit
        self._on_bytes = on_bytes
        self.size = 0
        self._start()
        self._take_up()

    def write(self, data: bytes) -> int:
        """Keep what came."""
        if self.size + len(data) > self._limit:
            raise TooLarge(f"more than the {self._limit} bytes that were announced")
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]  # unbuffered files may take less
        self._count(data)
        return len(data)

    def tell(self) -> int:
        """Where the next bytes go."""
        return self.size

    def seek(self, position: int) -> int:
        """To the beginning only: what follows is `truncate`."""
        if position != 0:
            raise ValueError(f"a file that is being received is begun anew or resumed, not at byte {position}")
        return 0

    def truncate(self) -> None:
        """Begin anew."""
        self._on_bytes(-self.size)
        self._file.seek(0)
        self._file.truncate()
        self._start()

    def flush(self) -> None:
        """Make it last."""
        self._file.flush()
        os.fsync(self._file.fileno())

    @property
    def sha256(self) -> str:
        """Of all that is there."""
        return self._sha256.hexdigest()

    @property
    def blob(self) -> str:
        """Git's sha1, as the hub lists it for small files; of all that was announced."""
        return self._blob.hexdigest()

    def _start(self) -> None:
        self.size = 0
        self._sha256 = hashlib.sha256()
        self._blob = hashlib.sha1(b"blob %d\0" % self._limit, usedforsecurity=False)

    def _take_up(self) -> None:
        """Sum what is there already; more than was announced is thrown away."""
        while data := self._file.read(_CHUNK):
            if self.size + len(data) > self._limit:
                return self.truncate()
            self._count(data)
        return None

    def _count(self, data: bytes) -> None:
        self._sha256.update(data)
        self._blob.update(data)
        self.size += len(data)
        self._on_bytes(len(data))
