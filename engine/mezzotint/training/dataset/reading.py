"""Read a folder of images and captions as a dataset, from headers and checksums; bad files are reported, not fatal."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from mezzotint.checkpoints.fingerprint import fingerprint
from mezzotint.errors import Cancelled, MezzotintError, StorageError
from mezzotint.images.masks import check_shape
from mezzotint.protocol import IsCancelled
from mezzotint.training.dataset.caption_files import read_caption_file
from mezzotint.training.dataset.common_problems import tell_common_problems
from mezzotint.training.dataset.headers import read_size
from mezzotint.training.dataset.listing import (
    CAPTION_SUFFIXES,
    Listing,
    is_regularization,
    key_of,
    list_files,
    repeats_of,
)
from mezzotint.training.dataset.metadata import metadata_captions
from mezzotint.training.dataset.records import Dataset, Problem, TrainingImage
from mezzotint.trouble import shown

OnImages = Callable[[int, int], None]  # images read, images in all

_TOGETHER = 64  # images between two reports of progress
_THREADS = 4  # checksums wait for the disk, and are computed without Python's lock

_Captions = Mapping[str, tuple[str, ...]]


def _ignore(done: int, total: int) -> None:
    pass


def read_dataset(folder: Path, *, cancelled: IsCancelled, on_images: OnImages = _ignore) -> Dataset:
    """Read a dataset; files that cannot be used are left out and become problems.

    Captions are the lines of `image.txt` or `image.caption`, else the `text` of metadata.jsonl. Masks are
    `image_mask.png` or `image-masklabel.png`. Folders `10_name` repeat their images, `reg` has regularization images.
    Raises StorageError if there is no such folder, UsageError if it contains too many files, Cancelled.
    """
    if not folder.is_dir():
        raise StorageError(f"{shown(folder)} is not a folder: choose a folder of images with captions")
    listing = list_files(folder, cancelled)
    images = list(_usable_images(listing, cancelled, on_images))
    tell_common_problems(listing, images)
    return Dataset(folder=folder, images=tuple(images), problems=tuple(listing.problems))


def _usable_images(listing: Listing, cancelled: IsCancelled, on_images: OnImages) -> Iterator[TrainingImage]:
    stated, total = metadata_captions(listing), len(listing.images)
    with ThreadPoolExecutor(_THREADS) as threads:
        for first in range(0, total, _TOGETHER):
            paths = listing.images[first : first + _TOGETHER]
            opened = [_opened(listing, path, stated, cancelled) for path in paths]
            yield from _told(listing, paths, threads.map(lambda one: _with_checksums(one, cancelled), opened))
            on_images(first + len(paths), total)


def _told(
    listing: Listing, paths: Iterable[Path], results: Iterable[TrainingImage | MezzotintError]
) -> Iterator[TrainingImage]:
    """Yield the images among the results; the errors become problems."""
    for path, result in zip(paths, results, strict=True):
        if isinstance(result, TrainingImage):
            yield result
        else:
            listing.problems.append(Problem(path=path, severity="error", message=f"{result}; the image is left out"))


def _opened(listing: Listing, path: Path, stated: _Captions, cancelled: IsCancelled) -> TrainingImage | MezzotintError:
    """An image without its checksums, or why it cannot be used."""
    if cancelled():
        raise Cancelled(f"Stopped while {shown(listing.root)} was read")
    relative = path.relative_to(listing.root)
    mask = listing.masks.get(key_of(relative.with_suffix("")))
    try:
        width, height = read_size(path)
        if mask is not None:
            check_shape(mask, read_size(mask), (width, height))
        captions, caption_file = _captions(listing, relative, stated)
    except MezzotintError as error:
        return error
    return TrainingImage(
        path=path,
        width=width,
        height=height,
        captions=captions,
        caption_file=caption_file,
        mask=mask,
        repeats=repeats_of(relative),
        regularization=is_regularization(relative),
        content="",
    )


def _captions(listing: Listing, relative: Path, stated: _Captions) -> tuple[tuple[str, ...], Path | None]:
    """An image's captions, and the file beside it that they are from or would be; text files count before metadata."""
    files = listing.captions.get(key_of(relative.with_suffix("")), [])
    used = min(files, key=lambda file: CAPTION_SUFFIXES.index(file.suffix.lower()), default=None)
    for other in files:
        if used is not None and other != used:
            listing.tell(other, "warning", f"is not used: the caption is read from {shown(used.name)}")
    captions = read_caption_file(used) if used else ()
    return captions or stated.get(key_of(relative), ()), used


def _with_checksums(image: TrainingImage | MezzotintError, cancelled: IsCancelled) -> TrainingImage | MezzotintError:
    if not isinstance(image, TrainingImage):
        return image
    try:
        content = fingerprint(image.path, None, cancelled=cancelled).sha256
        mask = fingerprint(image.mask, None, cancelled=cancelled).sha256 if image.mask else ""
    except Cancelled:
        raise
    except MezzotintError as error:
        return error
    return replace(image, content=content, mask_content=mask)
