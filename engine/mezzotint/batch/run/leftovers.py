"""Remove temporary files that killed processes left in an output folder."""

import os
import re
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

from mezzotint.atomic import TEMPORARY_PREFIX, TEMPORARY_SUFFIX

OLD = 3600.0  # seconds: no image takes that long to write

_OURS = re.compile(f"{re.escape(TEMPORARY_PREFIX)}[0-9a-f]{{16}}{re.escape(TEMPORARY_SUFFIX)}")


def sweep(folder: Path, now: float, stopped: threading.Event) -> int:
    """Remove temporary files older than an hour at `now`, by the clock of the folder's disk; return how many.

    Only age counts, since the process may have been on another machine; younger files may still be being written.
    """
    swept = 0
    for path in _leftovers(folder, now, stopped):
        try:
            path.unlink()
        except OSError:  # harmless if it stays
            continue
        swept += 1
    return swept


def _leftovers(folder: Path, now: float, stopped: threading.Event) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder, onerror=None, followlinks=False):
        if stopped.is_set():
            return
        folders.sort()
        for name in names:
            path = Path(parent, name)
            if _OURS.fullmatch(name) and _is_old_file(path, now):
                yield path


def _is_old_file(path: Path, now: float) -> bool:
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and now - status.st_mtime > OLD
