"""The images in a folder, and img2img requests for them."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from mezzotint.errors import StorageError
from mezzotint.protocol import GenerateRequest, ImageInput
from mezzotint.trouble import storage_error
from mezzotint_app.viewmodel.create.state import DEFAULT_STRENGTH
from mezzotint_app.viewmodel.natural_order import natural

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".avif", ".tif", ".tiff", ".bmp", ".gif")
MOST_IMAGES = 10_000  # per batch
MOST_ENTRIES = 100_000  # directory entries examined

Scan = Callable[[str], Iterable["os.DirEntry[str]"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Images:
    """The images of a batch."""

    folder: str  # folder or common name, for a title
    paths: tuple[str, ...]
    complete: bool = True  # False: there are more images than the limit


def images_in(folder: str, *, scan: Scan = os.scandir) -> Images:
    """Return the images in a folder and its subfolders in natural order; call this in a worker thread.

    Links, hidden entries and unreadable subfolders are skipped. Raises StorageError if the folder itself
    cannot be read.
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
    """Return `images`; raises StorageError if there are none."""
    if not images.paths:
        raise StorageError(f"there are no images in {Path(images.folder).name}: drop a folder that contains images")
    return images


def batch_of(request: GenerateRequest, paths: Iterable[str]) -> tuple[GenerateRequest, ...]:
    """Return one request per image: `request` with it as init image; reference images stay, the mask does not."""
    strength = DEFAULT_STRENGTH if request.strength is None else request.strength
    references = tuple(image for image in request.images if image.role == "reference")
    return tuple(
        replace(request, images=(ImageInput(path=path), *references), inpaint=None, strength=strength) for path in paths
    )
