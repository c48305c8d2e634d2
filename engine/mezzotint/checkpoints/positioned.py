"""Random-access reads of a file from any thread, as long as the file does not change."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import open_regular, reason
from mezzotint.errors import StorageError

ReadAt: TypeAlias = Callable[[int, memoryview, int], int]  # (descriptor, target, position) -> bytes read

_MOST = 2**28  # bytes per call: operating systems limit a read to about 2 GB


class PositionedFile:
    """A file open for reading; it may be unlinked meanwhile, but must not change in size or modification time."""

    def __init__(self, path: Path, read_at: ReadAt | None = None) -> None:
        self.path = path
        self._file = open_regular(path)
        self._read_at = read_at or choose_read_at()
        self._stat = self._size_and_mtime()

    @property
    def bytes(self) -> int:
        """Size of the file when it was opened."""
        return self._stat[0]

    def read_into(self, target: memoryview, position: int) -> None:
        """Fill `target` from `position` on; raises StorageError if the file has changed or cannot be read."""
        if position + len(target) > self.bytes:
            raise StorageError(
                f"{plain(self.path, 300)}: bytes {position} to {position + len(target)} were requested, "
                f"and it has {self.bytes}; download it again"
            )
        done = 0
        while done < len(target):
            try:
                got = self._read_at(self._file.fileno(), target[done : done + _MOST], position + done)
            except (OSError, ValueError) as error:  # ValueError: the file is closed
                raise StorageError(f"{plain(self.path, 300)} cannot be read: {reason(error)}") from None
            if not got:
                raise StorageError(
                    f"{plain(self.path, 300)} became shorter while it was in use: {done} of {len(target)} bytes "
                    f"at {position} could be read, it had {self.bytes}; download it again"
                )
            done += got
        self._check_unchanged()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _check_unchanged(self) -> None:
        now = self._size_and_mtime()
        if now != self._stat:
            raise StorageError(
                f"{plain(self.path, 300)} changed while it was in use: {self._stat[0]} bytes, now {now[0]}; "
                "do not change model files while an image is generated, and try again"
            )

    def _size_and_mtime(self) -> tuple[int, int]:
        """Size and date."""
        try:
            stat = os.fstat(self._file.fileno())
        except (OSError, ValueError) as error:
            raise StorageError(f"{plain(self.path, 300)} cannot be read: {reason(error)}") from None
        return stat.st_size, stat.st_mtime_ns


def choose_read_at(system: object = os) -> ReadAt:
    """The best call that the system has: preadv into the target, else pread and a copy, else seek and read."""
    preadv, pread = getattr(system, "preadv", None), getattr(system, "pread", None)
    if preadv is not None:
        return lambda descriptor, target, position: int(preadv(descriptor, [target], position))
    if pread is not None:

        def copied(descriptor: int, target: memoryview, position: int) -> int:
            data = pread(descriptor, len(target), position)
            target[: len(data)] = data
            return len(data)

        return copied
    return _seeking(threading.Lock())


def _seeking(lock: threading.Lock) -> ReadAt:
    def read(descriptor: int, target: memoryview, position: int) -> int:
        with lock:  # a descriptor has only one position
            os.lseek(descriptor, position, os.SEEK_SET)
            data = os.read(descriptor, len(target))
        target[: len(data)] = data
        return len(data)

    return read
