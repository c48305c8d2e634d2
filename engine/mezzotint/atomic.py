"""Atomic file writes: temporary name, fsync, publish, fsync of the folder."""

import contextlib
import ctypes
import errno
import hashlib
import os
import secrets
import sys
import time
from collections.abc import Callable, Collection
from pathlib import Path

from mezzotint.trouble import storage_error

TEMPORARY_PREFIX = ".mezzotint-"
TEMPORARY_SUFFIX = ".part"

_SHARING_ERRORS = (5, 32, 33)  # Windows: access denied, sharing violation, lock violation; a scanner holds the file
_RETRY_SECONDS = (0.02, 0.05, 0.1, 0.25, 0.5, 1.0)
_NO_LINKS = {errno.EPERM, errno.ENOSYS, errno.EMLINK, errno.EXDEV, errno.EACCES, errno.ENOTSUP, errno.EOPNOTSUPP}
_NO_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EBADF, errno.EACCES, errno.EPERM}

_NO_EXCLUSIVE_RENAME = _NO_LINKS | {errno.EINVAL}
_HERE = -100  # AT_FDCWD: paths as in other calls
_LINUX_NO_REPLACE, _MACOS_EXCLUSIVE = 1, 4

Move = Callable[[Path, Path], None]


def _rename_exclusively(source: Path, target: Path, platform: str = sys.platform) -> None:
    """Rename unless the name is taken, by Linux's renameat2 or macOS's renamex_np; raises OSError."""
    system = ctypes.CDLL(None, use_errno=True)
    before, after = os.fsencode(source), os.fsencode(target)
    try:
        if platform == "darwin":
            failed = system.renamex_np(before, after, _MACOS_EXCLUSIVE)
        else:
            failed = system.renameat2(_HERE, before, _HERE, after, _LINUX_NO_REPLACE)
    except AttributeError:  # an older system library
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), str(target)) from None
    if failed:
        raise OSError(number := ctypes.get_errno(), os.strerror(number), str(target))


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
    temporary: Path,
    path: Path,
    *,
    windows: bool = os.name == "nt",
    link: Move = os.link,
    rename: Move = os.rename,
    rename_exclusively: Move = _rename_exclusively,
) -> None:
    """Give a finished file its name without a race; raises FileExistsError if the name is taken.

    The name never belongs to anything but the finished file, even if the process is killed meanwhile.
    """
    if windows:
        retry_sharing(rename, temporary, path)  # rename itself fails there if the name is taken
        return
    exclusive = ((link, _NO_LINKS), (rename_exclusively, _NO_EXCLUSIVE_RENAME))  # exFAT, many network shares: no links
    if not any(_moved(move, temporary, path, unsupported) for move, unsupported in exclusive):
        _publish_by_claim(temporary, path)


def _moved(move: Move, source: Path, target: Path, unsupported: Collection[int]) -> bool:
    """Move, or return False if the file system does not know how."""
    try:
        move(source, target)
    except OSError as error:
        if error.errno not in unsupported:
            raise
        return False
    return True


def _publish_by_claim(temporary: Path, path: Path) -> None:
    """Publish where neither hard links nor exclusive renames exist: one of our processes at a time claims the name.

    A claim that a killed process leaves has a temporary file's name, and is removed as one.
    """
    digest = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]
    claim = path.with_name(f"{TEMPORARY_PREFIX}{digest}{TEMPORARY_SUFFIX}")
    os.close(os.open(claim, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    try:
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        temporary.rename(path)
    finally:
        claim.unlink(missing_ok=True)


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
