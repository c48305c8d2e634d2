"""uv's cache: its files are hard links of the installed ones, so only what no version uses takes room."""

import stat
from pathlib import Path

from mezzotint_setup.root import remove


def drop_unused(cache: Path) -> None:
    """Remove unpacked wheels of which no file is linked elsewhere."""
    for archives in cache.glob("archive-v*"):
        for archive in archives.iterdir():
            if archive.is_dir() and not _is_linked(archive):
                remove(archive)


def _is_linked(folder: Path) -> bool:
    for path in folder.rglob("*"):
        found = path.lstat()
        if stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
            return True
    return False
