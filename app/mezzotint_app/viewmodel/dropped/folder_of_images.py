"""The images in a folder, and the requests that make each of them anew."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from mezzotint.errors import StorageError
from mezzotint.protocol import GenerateRequest, ImageInput
from mezzotint.trouble import storage_error
from mezzotint_app.viewmodel.natural_order import natural

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".avif", ".tif", ".tiff", ".bmp", ".gif")
MOST_IMAGES = 10_000  # that become one entry of the queue
MOST_ENTRIES = 100_000  # that are looked at
STRENGTH = 0.6  # where none was chosen

Scan = Callable[[str], Iterable["os.DirEntry[str]"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Images:
    """What a batch is made of."""

    folder: str  # or what they have in common, for a title
    paths: tuple[str, ...]
    complete: bool = True  # False: there are more than are taken


def images_in(folder: str, *, scan: Scan = os.scandir) -> Images:
    """In it and in the folders in it, in the order that people count; off the window's thread.

    Links and what is hidden are skipped, and so are folders within it that cannot be read. Raises a StorageError
    where the folder itself cannot be.
    """
    found: list[str] = []
    pending, left = [folder], MOST_ENTRIES
    while pending and left > 0 and len(found) <= MOST_IMAGES:
        here = pending.pop()
        try:
            entries = [entry for _, entry in zip(range(left), scan(here), strict=False)]
        except OSError as error:
            if here == folder:
                raise storage_error("read", folder, error) from error
            continue
        left -= len(entries)
        for entry in entries:
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append(entry.path)
            elif entry.name.lower().endswith(SUFFIXES):
                found.append(entry.path)
    found.sort(key=natural)
    complete = not pending and left > 0 and len(found) <= MOST_IMAGES
    return Images(folder=folder, paths=tuple(found[:MOST_IMAGES]), complete=complete)


def checked(images: Images) -> Images:
    """The same; a StorageError where there are none."""
    if not images.paths:
        raise StorageError(f"there are no images in {Path(images.folder).name}: drop a folder that holds some")
    return images


def batch_of(request: GenerateRequest, paths: Iterable[str]) -> tuple[GenerateRequest, ...]:
    """The request with each image in turn as its init image; reference images stay, the mask does not."""
    strength = STRENGTH if request.strength is None else request.strength
    references = tuple(image for image in request.images if image.role == "reference")
    return tuple(
        replace(request, images=(ImageInput(path=path), *references), inpaint=None, strength=strength) for path in paths
    )
