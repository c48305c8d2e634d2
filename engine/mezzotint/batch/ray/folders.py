"""Temporary folders for work on a node and for Ray itself; those of dead processes are removed."""

import os
import platform
import re
import shutil
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path

import psutil


def new_folder() -> Path:
    """Create a private folder with the id of this process in its name."""
    return Path(tempfile.mkdtemp(prefix=f"{_host_prefix()}{os.getpid()}-"))


def sweep(where: Path | None = None, is_alive: Callable[[int], bool] = psutil.pid_exists) -> None:
    """Remove the folders of dead processes of this machine, ignoring what cannot be removed."""
    name = re.compile(rf"{re.escape(_host_prefix())}(\d{{1,10}})-[a-z0-9_]{{8}}")
    try:
        entries = list(os.scandir(where or tempfile.gettempdir()))
    except OSError:
        return
    for entry in entries:
        found = name.fullmatch(entry.name)
        if found and not is_alive(int(found[1])) and _is_ours(entry):
            remove(Path(entry.path))


def remove(folder: Path) -> None:
    """Remove a folder with its contents."""
    shutil.rmtree(folder, ignore_errors=True)


def _host_prefix() -> str:
    """Short, since socket paths go below it; has the host, since process ids differ per host and container."""
    return f"mezzotint-{zlib.crc32(platform.node().encode()) & 0xFFFF:04x}-"


def _is_ours(entry: "os.DirEntry[str]") -> bool:
    try:
        owner = entry.stat(follow_symlinks=False).st_uid
        return entry.is_dir(follow_symlinks=False) and (os.name == "nt" or owner == os.getuid())
    except OSError:
        return False
