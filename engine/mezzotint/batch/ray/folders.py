"""Folders for what is under way on a node, and for Ray itself; those of processes that are no more are removed."""

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
    """One that nobody else may look into, with the number of this process in its name."""
    return Path(tempfile.mkdtemp(prefix=f"{_host_prefix()}{os.getpid()}-"))


def sweep(where: Path | None = None, is_alive: Callable[[int], bool] = psutil.pid_exists) -> None:
    """Remove those of processes of this machine that are no more. What cannot be removed is left."""
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
    """With all that is in it."""
    shutil.rmtree(folder, ignore_errors=True)


def _host_prefix() -> str:
    """Short, for names of sockets go below it; numbers of processes mean nothing on another host, or in a container."""
    return f"mezzotint-{zlib.crc32(platform.node().encode()) & 0xFFFF:04x}-"


def _is_ours(entry: "os.DirEntry[str]") -> bool:
    try:
        owner = entry.stat(follow_symlinks=False).st_uid
        return entry.is_dir(follow_symlinks=False) and (os.name == "nt" or owner == os.getuid())
    except OSError:
        return False
