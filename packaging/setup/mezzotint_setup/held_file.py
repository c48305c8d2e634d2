"""A file that one process holds, or several share; the system frees it when they end, however they end."""

import os
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int, *, shared: bool) -> None:
        if not shared:  # Windows refuses to remove files in use by itself
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import errno
    import fcntl

    _NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}  # some network disks

    def _lock(handle: int, *, shared: bool) -> None:
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise


class HeldFile:
    """An open file with a lock on it."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    @classmethod
    def take(cls, path: Path, *, shared: bool = False, inherited: bool = False) -> "HeldFile | None":
        """Hold the file, or return None if others do; an inherited hold outlasts `exec`."""
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(handle, shared=shared)
        except OSError:
            os.close(handle)
            return None
        os.set_inheritable(handle, inherited)
        return cls(handle)

    def release(self) -> None:
        """Let others have it."""
        os.close(self._handle)
