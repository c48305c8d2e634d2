"""Atomic file writes: temporary name, fsync, publish, fsync of the folder."""

import contextlib
import errno
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from mezzotint.trouble import storage_error

TEMPORARY_PREFIX = ".mezzotint-"
TEMPORARY_SUFFIX = ".part"

_SHARING_ERRORS = (5, 32, 33)  # Windows: access denied, sharing violation, lock violation; a scanner holds the file
_RETRY_SECONDS = (0.02, 0.05, 0.1, 0.25, 0.5, 1.0)
_NO_LINKS = {errno.EPERM, errno.ENOSYS, errno.EMLINK, errno.EXDEV, errno.EACCES, errno.ENOTSUP, errno.EOPNOTSUPP}
_NO_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EBADF, errno.EACCES, errno.EPERM}

Move = Callable[[Path, Path], None]


def atomic_write(path: Path, data: bytes, *, overwrite: bool) -> None:
    """Write a file atomically; without `overwrite` an existing file raises FileExistsError."""
    temporary = path.parent / f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}{TEMPORARY_SUFFIX}"
    try:
        _write_through(temporary, data)
        if overwrite:
            retry_sharing(os.replace, temporary, path)
        else:
            publish_new(temporary, path)
        sync_folder(path.parent)
    except FileExistsError:
        raise
    except OSError as error:
        raise storage_error("write", path, error) from error
    finally:
        # Also on Ctrl-C. Failing to remove a leftover must not hide the original error.
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def publish_new(
    temporary: Path, path: Path, *, windows: bool = os.name == "nt", link: Move = os.link, rename: Move = os.rename
) -> None:
    """Give a finished file its name without a race; raises FileExistsError if the name is taken."""
    if windows:
        retry_sharing(rename, temporary, path)  # rename itself fails there if the name is taken
        return
    try:
        link(temporary, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _publish_by_reservation(temporary, path)


def _publish_by_reservation(temporary: Path, path: Path) -> None:
    """For file systems without hard links (exFAT, many network shares): reserve the name with O_EXCL, then replace."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    try:
        temporary.replace(path)
    except BaseException:
        path.unlink(missing_ok=True)  # our own empty placeholder
        raise


def retry_sharing(move: Move, source: Path, target: Path, *, sleep: Callable[[float], None] = time.sleep) -> None:
    """Move a file, retrying while another program holds it open on Windows."""
    for seconds in _RETRY_SECONDS:
        try:
            move(source, target)
            return
        except FileExistsError:
            raise
        except OSError as error:
            if getattr(error, "winerror", None) not in _SHARING_ERRORS:
                raise
        sleep(seconds)
    move(source, target)


def _write_through(path: Path, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    with os.fdopen(os.open(path, flags, 0o666), "wb") as file:
        file.write(data)
        file.flush()
        _sync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Make the new name durable; Windows has no such call, and some network disks refuse it."""
    if os.name == "nt":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:
        return  # a folder that may be written but not listed
    try:
        _sync(handle)
    finally:
        os.close(handle)


def _sync(handle: int) -> None:
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
