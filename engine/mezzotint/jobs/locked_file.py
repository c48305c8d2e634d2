"""A file lock for one process at a time: the system releases it when the process ends, however it ends."""

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

from mezzotint.errors import StorageError
from mezzotint.trouble import shown, storage_error

_FAR = 1 << 30  # the byte that is locked on Windows, beyond all data, since locked bytes cannot be read there

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL)
_NO_LOCKS_ADVICE = (
    "this disk does not support file locks, so that two programs could overwrite each other's work: choose an output "
    "folder on another disk; for the queue, set MEZZOTINT_STATE to a folder on a local disk"
)

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
    """A file that is locked from `take` to `release`, or to the end of the process."""

    def __init__(self, path: Path, handle: int) -> None:
        self.path = path
        self._handle: int | None = handle

    @classmethod
    def take(cls, path: Path, lock: Lock = SYSTEM_LOCK) -> "LockedFile | None":
        """Lock the file, creating it if absent; None if another process holds it. Raises StorageError."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
            handle = os.open(path, flags, 0o666)
        except OSError as error:
            raise storage_error("open", path, error) from error
        try:
            lock(handle)
        except (BlockingIOError, PermissionError):  # on POSIX and on Windows: another process holds it
            os.close(handle)
            return None
        except OSError as error:
            os.close(handle)
            if error.errno in _NO_LOCKS:
                raise StorageError(f"cannot lock {shown(path)}: {_NO_LOCKS_ADVICE}") from error
            raise storage_error("lock", path, error) from error
        return cls(path, handle)

    def write(self, data: bytes) -> None:
        """Write data that others may read while it is locked."""
        if self._handle is None:
            return
        try:
            os.ftruncate(self._handle, 0)
            os.lseek(self._handle, 0, os.SEEK_SET)
            os.write(self._handle, data)
        except OSError as error:
            raise storage_error("write", self.path, error) from error

    def release(self) -> None:
        """Release the lock. The file stays: if it were removed, two processes could lock two files of one name."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
