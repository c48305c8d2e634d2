"""Whether there is room on a disk for what is to come."""

import shutil
from pathlib import Path

from mezzotint.checkpoints.plain_text import size
from mezzotint.trouble import shown

_LEAST_LEFT = 256 * 2**20  # that a disk keeps free: one that is all full stops other programs
_MARGIN = 100  # the part of what comes that is asked for on top, as a divisor


def free_bytes(path: Path) -> int:
    """Of the disk that the path is on, or would be."""
    for folder in (path, *path.parents):
        try:
            return shutil.disk_usage(folder).free
        except OSError:
            continue  # not there yet
    return 0


def why_no_room(coming: int, free: int, where: Path) -> str | None:
    """None where there is room."""
    needed = coming + coming // _MARGIN + _LEAST_LEFT
    if coming == 0 or needed <= free:
        return None
    return (
        f"the disk of {shown(where)} is too full: {size(needed)} are needed ({size(coming)} to fetch, and some to "
        f"spare), {size(free)} are free: free some space, or choose another folder"
    )
