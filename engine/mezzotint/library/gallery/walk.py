"""Find candidate image files in the output folders: a bounded walk that follows no symlinks."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from mezzotint.atomic import TEMPORARY_SUFFIX
from mezzotint.catalog.place import at_home
from mezzotint.errors import Cancelled
from mezzotint.protocol import IsCancelled

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".avif", ".tif", ".tiff", ".bmp", ".gif")
MAX_DEPTH = 16
MAX_FILES = 500_000
_HIDDEN = 2  # FILE_ATTRIBUTE_HIDDEN on Windows


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStamp:
    """mtime and size, to detect whether a file has changed."""

    changed: int  # nanoseconds since 1970
    bytes: int


@dataclass(slots=True, kw_only=True)
class WalkResult:
    """The result of a walk."""

    files: dict[str, FileStamp] = field(default_factory=dict)
    unseen: list[str] = field(default_factory=list)  # folders that could not be read
    unusable: int = 0  # images whose names are not valid Unicode
    cut: bool = False  # there are more files than the limit


def walk(folders: Iterable[str], cancelled: IsCancelled, most: int = MAX_FILES) -> WalkResult:
    """Find all files with an image suffix, skipping hidden and temporary ones. Raises Cancelled."""
    walked = WalkResult()
    for folder in _distinct_roots(folders):
        pending = [(folder, 0)]
        while pending:
            if cancelled():
                raise Cancelled("stopped")
            path, depth = pending.pop()
            inside = _scan_folder(path, walked, most)
            if depth < MAX_DEPTH:
                pending.extend((one, depth + 1) for one in inside)
    return walked


def walk_files(files: Iterable[str], folders: Iterable[str]) -> tuple[WalkResult, tuple[str, ...]]:
    """Return those of `files` that a walk through the folders would find, and those gone, spelled as by the walk."""
    walked, gone = WalkResult(), []
    roots = [(Path(os.path.realpath(folder)), Path(folder)) for folder in _distinct_roots(folders)]
    for file in files:
        path = None if "\0" in file else _path_in_roots(Path(file), roots)
        if path is None:
            continue
        with _unseen_if_broken(str(path.parent), walked):
            if not os.path.lexists(path):
                gone.append(str(path))
            elif not path.is_symlink() and path.is_file():
                _record(path, walked, MAX_FILES)
    return walked, tuple(gone)


def _path_in_roots(file: Path, roots: Iterable[tuple[Path, Path]]) -> Path | None:
    """Return the path as a walk would spell it; None if no walk would find the file."""
    folder = Path(os.path.realpath(file.parent))
    for real, root in roots:
        if folder.is_relative_to(real):
            below = folder.relative_to(real) / file.name
            hidden = any(part.startswith(".") for part in below.parts) or file.name.endswith(TEMPORARY_SUFFIX)
            if hidden or len(below.parts) > MAX_DEPTH + 1 or not file.name.lower().endswith(SUFFIXES):
                return None
            return root / below
    return None


def _distinct_roots(folders: Iterable[str]) -> list[str]:
    """Return absolute folders without duplicates and without folders inside others."""
    kept: dict[str, str] = {}
    usable = {one for one in folders if one and "\0" not in one}
    for folder in sorted({str(at_home(Path(one)).absolute()) for one in usable}, key=len):
        real = os.path.realpath(folder)
        if not any(real == other or Path(real).is_relative_to(other) for other in kept):
            kept[real] = folder
    return list(kept.values())


def _scan_folder(folder: str, walked: WalkResult, most: int) -> list[str]:
    """Record the files of a folder; return its subfolders."""
    inside: list[str] = []
    with _unseen_if_broken(folder, walked), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") or entry.name.endswith(TEMPORARY_SUFFIX) or entry.is_symlink():
                continue
            if entry.is_dir(follow_symlinks=False):
                inside.append(entry.path)
            elif entry.name.lower().endswith(SUFFIXES) and entry.is_file(follow_symlinks=False):
                _record(entry, walked, most)
    return inside


def _record(entry: os.DirEntry[str] | Path, walked: WalkResult, most: int) -> None:
    path = os.fspath(entry)
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return  # deleted meanwhile
    if getattr(status, "st_file_attributes", 0) & _HIDDEN:
        return
    if not path.isascii() and not _is_text(path):
        walked.unusable += 1
    elif len(walked.files) >= most:
        walked.cut = True
    else:
        walked.files[path] = FileStamp(changed=status.st_mtime_ns, bytes=status.st_size)


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


@contextmanager
def _unseen_if_broken(folder: str, walked: WalkResult) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError):
        walked.unseen.append(folder)
