"""Find the images of a folder one at a time, in the same order on every machine, without opening any."""

import fnmatch
import os
import stat
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mezzotint.batch.tasks.skipped import IMAGE_SUFFIXES, Skipped
from mezzotint.checkpoints.regular_file import is_file, is_folder, read_limited
from mezzotint.errors import ModelRefused, StorageError, UsageError
from mezzotint.trouble import meaning, shown, storage_error
from mezzotint.values.basic import is_text

_MOST_SIDECAR = 256 << 10  # bytes
_TURNS_AROUND = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")  # display gnp.exe as exe.png

Listdir = Callable[[Path], Iterator["os.DirEntry[str]"]]  # lists a folder; an exception ends the scan


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A file that may be an image."""

    path: Path
    relative: str  # relative to the input folder, with / as separator


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Which images to find."""

    folder: Path
    recursive: bool = False
    glob: tuple[str, ...] = ()
    limit: int | None = None
    leave_out: tuple[Path, ...] = ()  # folders: outputs must not become inputs


def scan(search: Search, *, listdir: Listdir | None = None) -> Iterator[Found | Skipped]:
    """Yield every matching file, those of a folder before its subfolders; holds the names of one folder at a time.

    Does not follow links to folders, so there are no cycles. Raises StorageError if the folder itself is unreadable.
    """
    real = _real_folder(search.folder)
    left_out = {os.path.realpath(path) for path in search.leave_out}
    waiting, found = [""], 0
    while waiting:
        below = waiting.pop()
        entries = _listed(search, below, listdir or scandir)
        if isinstance(entries, Skipped):
            yield entries
            continue
        folders = []
        for name, kind in entries:
            relative = f"{below}{name}"
            if kind == "folder":
                folders.append(f"{relative}/")
                continue
            one = _judged(search, real, relative, kind)
            if isinstance(one, Found) and search.limit is not None and found >= search.limit:
                return
            if one is not None:
                found += isinstance(one, Found)
                yield one
        if search.recursive:
            waiting += [name for name in reversed(folders) if _is_inside(search.folder, name, left_out)]


def _real_folder(folder: Path) -> str:
    if not is_folder(folder):
        what = "is not a folder" if os.path.lexists(folder) else "does not exist"
        raise StorageError(f"the input folder {shown(folder)} {what}: give the folder with the images")
    return os.path.realpath(folder)


def _is_inside(folder: Path, relative: str, left_out: set[str]) -> bool:
    return os.path.realpath(folder / relative) not in left_out


_Entry = tuple[str, str]  # name; folder, file, link or another kind


def _listed(search: Search, below: str, listdir: Listdir) -> list[_Entry] | Skipped:
    """List one folder in an order independent of the disk; names equal up to case or normalization are adjacent."""
    try:
        entries = [(entry.name, _kind(entry)) for entry in listdir(search.folder / below)]
    except OSError as error:
        if not below:
            raise storage_error("read", search.folder, error) from error
        reason = f"the folder cannot be read: {meaning(error)}"
        return Skipped(input=_safe(below.rstrip("/")), reason=reason, kind="storage")
    return sorted((entry for entry in entries if not entry[0].startswith(".")), key=_order)


def scandir(folder: Path) -> "Iterator[os.DirEntry[str]]":
    """Yield the entries of a folder in the order of the file system."""
    with os.scandir(folder) as entries:
        yield from entries


def _order(entry: _Entry) -> tuple[str, str]:
    return folded(entry[0]), entry[0]


def folded(name: str) -> str:
    """Fold case and Unicode normalization: equal for names that some file systems treat as one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _kind(entry: "os.DirEntry[str]") -> str:
    try:
        if entry.is_symlink() or getattr(entry, "is_junction", bool)():
            return "link"
        if entry.is_dir(follow_symlinks=False):
            return "folder"
        return "file" if entry.is_file(follow_symlinks=False) else _odd_kind(entry.stat(follow_symlinks=False).st_mode)
    except OSError:
        return "file that cannot be read"


def _odd_kind(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "pipe"
    return "socket" if stat.S_ISSOCK(mode) else "device"


# ---- one file


def _judged(search: Search, real: str, relative: str, kind: str) -> Found | Skipped | None:
    """Return None for a file that does not match, and Skipped with a reason for a match that cannot be used."""
    if not _fits(search, relative):
        is_way = kind == "link" and search.recursive and os.path.isdir(search.folder / relative)  # noqa: PTH112
        reason = "it is a link to a folder, which is not followed"
        return Skipped(input=_safe(relative), reason=reason, kind="link") if is_way else None
    if not _is_name(relative):
        reason = "its name contains bytes or characters that are invalid: rename it"
        return Skipped(input=_safe(relative), reason=reason, kind="name")
    path = search.folder / relative
    if kind == "link":
        trouble = _link_trouble(path, real)
        if trouble is not None:
            return Skipped(input=relative, reason=trouble, kind="link")
    elif kind != "file":
        return Skipped(input=relative, reason=f"it is a {kind}, not an image", kind="not_a_file")
    return Found(path=path, relative=relative)


def _is_name(relative: str) -> bool:
    """Whether a terminal can show it unchanged. Spaces of any width, joined emoji and new letters are allowed."""
    return is_text(relative) and not any(
        unicodedata.category(one) in ("Cc", "Zl", "Zp") or unicodedata.bidirectional(one) in _TURNS_AROUND
        for one in relative
    )


def _fits(search: Search, relative: str) -> bool:
    name = relative.rpartition("/")[2]
    if not search.glob:
        return name.lower().endswith(IMAGE_SUFFIXES)
    return any(fnmatch.fnmatchcase(relative if "/" in glob else name, glob) for glob in search.glob)


def _link_trouble(path: Path, real: str) -> str | None:
    """Return why a link is not followed; None if it leads to a file in the folder."""
    try:
        target = os.path.realpath(path, strict=True)
        mode = Path(target).stat().st_mode
    except (OSError, ValueError, RuntimeError):
        return "it is a link that is broken or circular"
    if not Path(target).is_relative_to(real):
        return "it is a link to a file outside the input folder: copy the image into the folder"
    return None if stat.S_ISREG(mode) else "it is a link to something that is not a file"


def _safe(relative: str) -> str:
    """Escape a name for messages and records, whatever bytes it holds."""
    text = relative.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(one if one.isprintable() else f"\\x{ord(one):02x}" for one in text)


# ---- masks and sidecars


def mask_of(found: Found, masks: Path) -> Path | Skipped:
    """Return the mask with the same stem, in the corresponding subfolder of `masks`."""
    stem = masks / found.relative.rpartition(".")[0]
    there = _images_of(stem, IMAGE_SUFFIXES) or _images_of(stem, tuple(map(str.upper, IMAGE_SUFFIXES)))
    if len(there) == 1:
        return there[0]
    if there:
        reason = f"it has several masks: {', '.join(path.name for path in there)}; keep only one"
    else:
        reason = f"it has no mask: expected {shown(stem)} with .png, .jpg or another image suffix"
    return Skipped(input=found.relative, reason=reason, kind="no_mask")


def _images_of(stem: Path, suffixes: tuple[str, ...]) -> list[Path]:
    return [path for suffix in suffixes if is_file(path := stem.with_name(stem.name + suffix))]


def sidecar_of(found: Found) -> str | None:
    """Return the prompt in the .txt with the same stem; None if absent or empty. Raises UsageError."""
    path = found.path.with_suffix(".txt")
    if not os.path.lexists(path):
        return None
    try:
        text = read_limited(path, _MOST_SIDECAR).decode("utf-8-sig").replace("\r\n", "\n")
    except (ModelRefused, StorageError) as error:
        raise UsageError(f"its text file cannot be used: {error}") from None
    except UnicodeDecodeError:
        raise UsageError(f"its text file {path.name} is not valid UTF-8: save it as UTF-8") from None
    if not is_text(text):
        raise UsageError(f"its text file {path.name} contains control characters: remove them")
    return " ".join(text.split()) or None
