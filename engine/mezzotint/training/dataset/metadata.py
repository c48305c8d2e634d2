"""The captions that the metadata.jsonl files of a folder state for its images."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from mezzotint.errors import MezzotintError
from mezzotint.training.dataset.caption_files import MetadataLine, read_metadata
from mezzotint.training.dataset.listing import Listing, key_of
from mezzotint.training.dataset.records import Severity

MOST_TOLD = 10  # problems of one file that are told one by one

_Problem = tuple[Severity, str]


def metadata_captions(listing: Listing) -> dict[str, tuple[str, ...]]:
    """Captions by the `key_of` of the image's path relative to the folder; tells the listing of unusable lines."""
    images = {key_of(path.relative_to(listing.root)) for path in listing.images}
    captions: dict[str, tuple[str, ...]] = {}
    for path in listing.metadata:
        problems = list(_read(listing.root, path, images, captions))
        for severity, message in problems[:MOST_TOLD]:
            listing.tell(path, severity, message)
        if len(problems) > MOST_TOLD:
            more = len(problems) - MOST_TOLD
            listing.tell(path, "warning", f"has {more} more lines that cannot be used, for reasons like these")
    return captions


def _read(root: Path, path: Path, images: set[str], captions: dict[str, tuple[str, ...]]) -> Iterator[_Problem]:
    """Add the captions of one file; yield its problems."""
    try:
        for line in read_metadata(path):
            if isinstance(line, MezzotintError):
                yield "error", f"has a line that is left out: {line}"
                continue
            key = _key(root, path, line)
            if key is None or key not in images:
                yield "warning", f"describes {line.file_name!r} in line {line.number}, but there is no such image"
            elif key in captions:
                yield "warning", f"describes {line.file_name!r} again in line {line.number}: the first one is used"
            else:
                captions[key] = line.captions
    except MezzotintError as error:
        yield "error", f"cannot be read to its end: {error}"


def _key(root: Path, path: Path, line: MetadataLine) -> str | None:
    """The key of the image that a line describes; None if its name leads out of the file's folder."""
    name = PurePosixPath(line.file_name.replace("\\", "/"))
    if name.is_absolute() or ".." in name.parts:
        return None
    return key_of(path.parent.relative_to(root) / name)
