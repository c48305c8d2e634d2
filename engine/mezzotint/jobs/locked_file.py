"""A file that one process at a time holds: the system lets go of it when that process ends, however it ends."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from mezzotint.trouble import storage_error

_FAR = 1 << 30  # the byte that is locked on Windows, past all that is written: what is locked there cannot be read

Lock = Callable[[int], None]  # raises OSError when another process holds the file


def _lock_windows(handle: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        os.lseek(handle, _FAR, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)


def _lock_posix(handle: int) -> None:
    # Not lockf: its locks are lost as soon as this process closes the file anywhere else.
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


SYSTEM_LOCK: Lock = _lock_windows if sys.platform == "win32" else _lock_posix


class LockedFile:
    """A file that is held from `take` to `release`, or to the end of the process."""

    def __init__(self, path: Path, handle: int) -> None:
        self.path = path
        self._handle: int | None = handle

    @classmethod
    def take(cls, path: Path, lock: Lock = SYSTEM_LOCK) -> "LockedFile | None":
        """Hold the file, which is made when it is not there; None when another holds it."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
            handle = os.open(path, flags, 0o666)
        except OSError as error:
            raise storage_error("open", path, error) from error
        try:
            lock(handle)
        except (BlockingIOError, PermissionError):  # the two systems' words for: another has it
            os.close(handle)
            return None
        except OSError as error:
            os.close(handle)
            raise storage_error("lock", path, error) from error
        return cls(path, handle)

    def write(self, data: bytes) -> None:
        """What others may read while it is held."""
        if self._handle is None:
            return
        try:
            os.ftruncate(self._handle, 0)
            os.lseek(self._handle, 0, os.SEEK_SET)
            os.write(self._handle, data)
        except OSError as error:
            raise storage_error("write", self.path, error) from error

    def release(self) -> None:
        """Let others have it. The file stays: were it removed, two could hold two files of one name."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
