"""Files that were being written when their process was ended: swept out of an output folder after a while."""

import os
import re
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

from mezzotint.atomic import TEMPORARY_PREFIX, TEMPORARY_SUFFIX

OLD = 3600.0  # seconds: nobody writes an image for so long

_OURS = re.compile(f"{re.escape(TEMPORARY_PREFIX)}[0-9a-f]{{16}}{re.escape(TEMPORARY_SUFFIX)}")


def sweep(folder: Path, now: float, stopped: threading.Event) -> int:
    """Remove what is older than an hour at `now`, as the folder's disk counts time; how many there were.

    Whose process has ended cannot be seen, for it may have been on another machine; what is young may be being written.
    """
    swept = 0
    for path in _leftovers(folder, now, stopped):
        try:
            path.unlink()
        except OSError:  # it is in the way of nobody
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
