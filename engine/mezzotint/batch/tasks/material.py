"""The sources of tasks: an image with its mask and sidecar, a request of a list, or prompts alone."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from mezzotint.batch.job.from_metadata import Installed, request_from_metadata
from mezzotint.batch.job.job import InputFolder, JobFile
from mezzotint.batch.job.pruned import pruned
from mezzotint.batch.tasks.cells import THE_INPUT, THE_MASK
from mezzotint.batch.tasks.inputs import Found, Listdir, Search, mask_of, scan, sidecar_of
from mezzotint.batch.tasks.skipped import Skipped, kind_of_refused
from mezzotint.checkpoints.fingerprint import fingerprint
from mezzotint.checkpoints.regular_file import is_folder
from mezzotint.errors import MezzotintError, UsageError
from mezzotint.images.naming import from_home
from mezzotint.library.recorded_files import RecordedFiles
from mezzotint.protocol import ControlRef, GenerateRequest, ImageInput
from mezzotint.trouble import shown
from mezzotint.values.regions import RegionRef


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """One source of tasks."""

    input: str | None = None  # relative to the input folder
    path: Path | None = None
    mask: Path | None = None
    caption: str | None = None  # its own prompt
    base_request: GenerateRequest | None = None  # a complete request, which the job's settings override
    identity: str | None = None  # sha256 of `base_request`
    notices: tuple[str, ...] = ()  # what of its metadata is not in `base_request`

    @property
    def is_again(self) -> bool:
        """Whether the image is to be generated again, and is itself not part of the request."""
        return self.path is not None and self.base_request is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class HashedImages:
    """The images of a task, opened and hashed."""

    images: tuple[ImageInput, ...]
    hash: str | None  # sha256 of the content of all images; None without images
    controls: tuple[ControlRef, ...] = ()
    regions: tuple[RegionRef, ...] = ()


def materials(job: JobFile, base: Path, output: Path, listdir: Listdir | None = None) -> Iterator[Material | Skipped]:
    """Yield every source of a job's tasks; opens files only to read metadata and sidecars."""
    if job.input is not None:
        yield from _of_folder(job.input, base, output, listdir)
    elif job.requests:
        for request in job.requests:
            text = json.dumps(pruned(request), sort_keys=True)
            yield Material(base_request=request, identity=hashlib.sha256(text.encode()).hexdigest())
    else:
        yield Material()


def input_folder(folder: InputFolder, base: Path) -> Path:
    """Return the folder of a job's input images."""
    return base / from_home(folder.folder)


def search_of(asked: InputFolder, base: Path, output: Path) -> Search:
    """Return the search for the images of an input folder; excludes masks and generated images."""
    masks = _masks(asked, base)
    return Search(
        folder=input_folder(asked, base),
        recursive=asked.recursive,
        glob=asked.glob,
        limit=asked.limit,
        leave_out=(output,) if masks is None else (output, masks),
    )


def _masks(asked: InputFolder, base: Path) -> Path | None:
    return None if asked.masks is None else base / from_home(asked.masks)


def _of_folder(asked: InputFolder, base: Path, output: Path, listdir: Listdir | None) -> Iterator[Material | Skipped]:
    masks = _masks(asked, base)
    _check_folders(input_folder(asked, base), masks, output)
    for found in scan(search_of(asked, base, output), listdir=listdir):
        yield found if isinstance(found, Skipped) else _of_image(found, asked, masks)


def _check_folders(folder: Path, masks: Path | None, output: Path) -> None:
    if _is_same(output, folder):
        raise UsageError(
            f"{shown(folder)} is both the input folder and the output folder: choose another output folder"
        )
    if masks is None:
        return
    if not is_folder(masks):
        raise UsageError(f"the mask folder {shown(masks)} does not exist")
    if _is_same(masks, folder):
        raise UsageError(f"masks and images are in the same folder, {shown(folder)}: move the masks to another folder")


def _is_same(one: Path, other: Path) -> bool:
    """Whether both exist and are the same folder."""
    try:
        return one.samefile(other)
    except OSError:
        return False


def _of_image(found: Found, asked: InputFolder, masks: Path | None) -> Material | Skipped:
    material = Material(input=found.relative, path=found.path)
    try:
        if asked.sidecars:
            material = replace(material, caption=sidecar_of(found))
        if asked.work == "again":
            return _with_recorded(material, found)
    except MezzotintError as error:
        return Skipped(input=found.relative, reason=str(error), kind=kind_of_refused(found.relative, error.kind))
    if masks is None:
        return material
    mask = mask_of(found, masks)
    return mask if isinstance(mask, Skipped) else replace(material, mask=mask)


def _with_recorded(material: Material, found: Found) -> Material:
    """Add the request in an image's metadata, without other programs' models: their names differ by machine."""
    from mezzotint.images.metadata import read_metadata

    notices: list[str] = []
    request = request_from_metadata(read_metadata(found.path), found.path.name, _files_near(found.path)).take(
        notices.append
    )
    return replace(material, base_request=request, notices=tuple(notices))


def _files_near(image: Path) -> Installed:
    return Installed(files=RecordedFiles(folders=(image.parent,)))


def hash_images(
    material: Material,
    images: tuple[ImageInput, ...],
    controls: tuple[ControlRef, ...] = (),
    regions: tuple[RegionRef, ...] = (),
) -> HashedImages:
    """Open and hash the images of a task, control images and masks of regions last.

    Raises MezzotintError with the image that cannot be used, and why.
    """
    own = {THE_INPUT: material.path, THE_MASK: material.mask}
    known: list[str] = [_sha256(material.path)] if material.is_again and material.path is not None else []
    paths = [(own.get(image.path) or Path(image.path)).absolute() for image in images]
    hashes = [_recorded_hash(path, image.sha256) for path, image in zip(paths, images, strict=True)]
    of_controls = [_recorded_hash(Path(one.image), one.image_sha256) for one in controls]
    masked = tuple(_hashed_region(one) for one in regions)
    known += [*hashes, *of_controls, *(one.mask_sha256 for one in masked if one.mask_sha256 is not None)]
    combined = known[0] if len(known) == 1 else hashlib.sha256(" ".join(known).encode()).hexdigest()
    return HashedImages(
        images=tuple(
            replace(image, path=str(path), sha256=digest)
            for image, path, digest in zip(images, paths, hashes, strict=True)
        ),
        hash=combined if known else None,
        controls=tuple(replace(one, image_sha256=digest) for one, digest in zip(controls, of_controls, strict=True)),
        regions=masked,
    )


def _hashed_region(region: RegionRef) -> RegionRef:
    if region.mask is None:
        return region
    return replace(region, mask_sha256=_recorded_hash(Path(region.mask), region.mask_sha256))


def _recorded_hash(path: Path, recorded: str | None) -> str:
    """The hash of an image, or the one that was recorded: the engine refuses another one and reports the change."""
    digest = _sha256(path)
    return digest if recorded is None else recorded


def _sha256(path: Path) -> str:
    from mezzotint.images.reading import open_image

    with open_image(path):
        pass  # raises if it is not an image, or too large
    return fingerprint(path, None).sha256
