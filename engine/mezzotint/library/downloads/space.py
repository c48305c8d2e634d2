"""Check disk space for a download."""

import shutil
from pathlib import Path

from mezzotint.checkpoints.plain_text import size
from mezzotint.trouble import shown

_LEAST_LEFT = 256 * 2**20  # reserve: a completely full disk breaks other programs
_MARGIN = 100  # 1/_MARGIN of the download is required on top


def free_bytes(path: Path) -> int:
    """Return the free bytes of the disk of `path`, which need not exist."""
    for folder in (path, *path.parents):
        try:
            return shutil.disk_usage(folder).free
        except OSError:
            continue  # not there yet
    return 0


def why_no_room(coming: int, free: int, where: Path) -> str | None:
    """Return why a download does not fit, or None if it does."""
    needed = coming + coming // _MARGIN + _LEAST_LEFT
    if coming == 0 or needed <= free:
        return None
    return (
        f"the disk of {shown(where)} is too full: {size(needed)} are needed ({size(coming)} to download, plus a "
        f"reserve), {size(free)} are free: free some space, or choose another folder"
    )
