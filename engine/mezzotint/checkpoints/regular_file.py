"""Opens only regular files, never a folder, a pipe or a device."""

import codecs
import os
import stat
import time
from pathlib import Path
from typing import BinaryIO

from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused, StorageError

_SECOND = 10**9  # ns
_SETTLED = 2 * _SECOND  # the coarsest file timestamp in use (FAT)
_SETTLED_FINE = 50 * 10**6  # where timestamps have fractions of a second: several ticks of any system's clock


def open_regular(path: Path) -> BinaryIO:
    """Open for reading; raises StorageError if that fails, ModelRefused if it is not a regular file."""
    try:
        _check_kind(path, path.stat().st_mode)  # before opening, which can itself block, or rewind a tape
        # Non-blocking, in case a pipe replaces the file in between.
        flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
        handle = os.open(path, flags)
    except FileNotFoundError:
        raise StorageError(f"{plain(path, 300)} does not exist") from None
    except (OSError, ValueError) as error:
        raise StorageError(f"{plain(path, 300)} cannot be opened: {reason(error)}") from None
    try:
        _check_kind(path, os.fstat(handle).st_mode)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_limited(path: Path, limit: int) -> bytes:
    """Contents of a small file; raises ModelRefused if it is larger than `limit` bytes."""
    with open_regular(path) as file:
        try:
            data = file.read(limit + 1)
        except OSError as error:
            raise StorageError(f"{plain(path, 300)} cannot be read: {reason(error)}") from None
    if len(data) > limit:
        raise ModelRefused(f"{plain(path, 300)} is larger than the {limit} bytes that such a file may have")
    return data


def without_mark(data: bytes) -> bytes:
    """Text of a file as UTF-8 without a byte order mark; the same if there is none.

    Windows's editors and shells write one.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace").encode("utf-8", "replace")
    return data.removeprefix(codecs.BOM_UTF8)


def is_folder(path: Path) -> bool:
    """Whether the path is an accessible folder."""
    try:
        return path.is_dir()
    except OSError:
        return False


def is_file(path: Path) -> bool:
    """Whether the path is an accessible regular file."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_settled(status: os.stat_result) -> bool:
    """Whether a file is old enough that any further change would show in its modification time."""
    needed = _SETTLED_FINE if status.st_mtime_ns % _SECOND else _SETTLED
    return time.time_ns() - status.st_mtime_ns > needed


def reason(error: Exception) -> str:
    """The system's error message, without the path."""
    return error.strerror or type(error).__name__ if isinstance(error, OSError) else plain(error)


def _check_kind(path: Path, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    kind = "a folder" if stat.S_ISDIR(mode) else "a pipe" if stat.S_ISFIFO(mode) else "a device or socket"
    raise ModelRefused(f"{plain(path, 300)} is {kind}, not a file")
