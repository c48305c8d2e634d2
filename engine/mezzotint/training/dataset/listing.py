"""Find the images, captions and masks of a dataset's folder: a bounded walk that leaves it through no link."""

import os
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mezzotint.atomic import TEMPORARY_SUFFIX
from mezzotint.checkpoints.folder_walk import is_inside
from mezzotint.errors import Cancelled, UsageError
from mezzotint.protocol import IsCancelled
from mezzotint.training.dataset.records import Problem, Severity
from mezzotint.trouble import meaning, shown

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".avif", ".tif", ".tiff", ".bmp", ".gif")
CAPTION_SUFFIXES = (".txt", ".caption")  # the first one found is used
METADATA_NAME = "metadata.jsonl"
REGULARIZATION_PROMPTS = "regularization.txt"  # one a line: of images that the model makes itself
REGULARIZATION_FOLDER = "reg"
MAX_DEPTH = 16
MAX_FILES = 500_000
MAX_REPEATS = 1000  # a larger number in a folder's name is taken for a year

_UNSUPPORTED = (".heic", ".heif", ".jxl", ".jp2", ".psd", ".svg", ".dng", ".jfif")
_MASK = re.compile(r"(.+)(?:_mask|-masklabel)\.png", re.IGNORECASE)  # the second is of OneTrainer
_REPEATS = re.compile(r"([0-9]{1,4})_.+")  # kohya's folder names


@dataclass(slots=True, kw_only=True)
class Listing:
    """The files of a folder by what they are; keys are relative names without suffix, see `key_of`."""

    root: Path
    images: list[Path] = field(default_factory=list)
    captions: dict[str, list[Path]] = field(default_factory=dict)
    masks: dict[str, Path] = field(default_factory=dict)
    metadata: list[Path] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def tell(self, path: Path, severity: Severity, what: str) -> None:
        """Add a problem whose message is the path relative to the folder, followed by `what`."""
        self.problems.append(Problem(path=path, severity=severity, message=f"{self.name(path)} {what}"))

    def name(self, path: Path) -> str:
        """The path relative to the folder, for messages."""
        return shown(path.relative_to(self.root)) if path != self.root else shown(path)


def key_of(relative: Path) -> str:
    """A relative path as a key: Unicode NFC, since macOS and other systems write accents differently."""
    return unicodedata.normalize("NFC", relative.as_posix())


def list_files(root: Path, cancelled: IsCancelled) -> Listing:
    """List the files of a folder in order of their paths. Raises UsageError for more than MAX_FILES, Cancelled."""
    listing = Listing(root=root)
    real = (Path(os.path.realpath(root)),)
    for count, path in enumerate(_walk(listing, root, real, 0, cancelled), 1):
        if count > MAX_FILES:
            raise UsageError(f"{shown(root)} contains more than {MAX_FILES} files: choose a folder of training images")
        _sort_in(listing, path)
    return listing


def repeats_of(relative: Path) -> int:
    """How often an epoch contains an image: the number in front of its innermost folder `10_name`, else 1."""
    numbers = (_number(name) for name in reversed(relative.parts[:-1]))
    return next((number for number in numbers if number is not None and number <= MAX_REPEATS), 1)


def is_regularization(relative: Path) -> bool:
    """Whether the image is in the folder `reg`."""
    return len(relative.parts) > 1 and relative.parts[0].lower() == REGULARIZATION_FOLDER


def _number(name: str) -> int | None:
    found = _REPEATS.fullmatch(name)
    return int(found[1]) if found else None


def _walk(listing: Listing, folder: Path, real: tuple[Path, ...], depth: int, cancelled: IsCancelled) -> Iterator[Path]:
    """Yield the files below a folder, skipping hidden and temporary ones, links to folders and links out of `real`."""
    if cancelled():
        raise Cancelled(f"Stopped while {shown(folder)} was read")
    for entry in _entries(listing, folder):
        path = Path(entry.path)
        if not _is_usable(listing, entry, real):
            continue
        if not _is_folder(entry):
            yield path
        elif entry.is_symlink():
            listing.tell(path, "warning", "is a link to a folder, which is not followed: choose that folder itself")
        elif depth == MAX_DEPTH:
            listing.tell(path, "warning", f"is not read: folders are nested more than {MAX_DEPTH} deep")
        else:
            _check_repeats(listing, path)
            yield from _walk(listing, path, real, depth + 1, cancelled)


def _entries(listing: Listing, folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            found = [entry for entry, _ in zip(entries, range(MAX_FILES + 1), strict=False)]
    except OSError as error:
        listing.tell(folder, "error", f"cannot be read: {meaning(error)}")
        return []
    return sorted(found, key=lambda entry: entry.name)


def _is_usable(listing: Listing, entry: os.DirEntry[str], real: tuple[Path, ...]) -> bool:
    if entry.name.startswith(".") or entry.name.endswith(TEMPORARY_SUFFIX):
        return False
    path = Path(entry.path)
    may_be_link = entry.is_symlink() or _is_folder(entry)  # Windows' junctions are folders
    if may_be_link and not is_inside(path, real):
        listing.tell(path, "error", "is a link that leads out of the folder, and is left out: copy what it leads to")
        return False
    if not _is_text(entry.name):
        listing.tell(path, "error", "is left out: its name is not valid Unicode; rename it")
        return False
    return True


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link to itself


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check_repeats(listing: Listing, folder: Path) -> None:
    number = _number(folder.name)
    if number is not None and number > MAX_REPEATS:
        listing.tell(
            folder, "warning", f"is not read as {number} repeats (at most {MAX_REPEATS}); its images count as usual"
        )
    if number == 0:
        listing.tell(folder, "warning", "asks for 0 repeats: its images are left out; rename it to 1_... to use them")


def _sort_in(listing: Listing, path: Path) -> None:
    relative = path.relative_to(listing.root)
    suffix, mask = path.suffix.lower(), _MASK.fullmatch(path.name)
    if repeats_of(relative) == 0:
        return
    if path.name.lower() == METADATA_NAME:
        listing.metadata.append(path)
    elif mask:
        listing.masks[key_of(relative.with_name(mask[1]))] = path
    elif suffix in IMAGE_SUFFIXES:
        listing.images.append(path)
    elif suffix in CAPTION_SUFFIXES and relative != Path(REGULARIZATION_PROMPTS):
        listing.captions.setdefault(key_of(relative.with_suffix("")), []).append(path)
    elif suffix in _UNSUPPORTED:
        listing.tell(path, "warning", f"is left out: {suffix} images cannot be read; convert it to PNG or JPEG")
