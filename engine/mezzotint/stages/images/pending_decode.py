"""An undecoded image as a file: its latents and everything that its record needs."""

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.atomic import atomic_write
from mezzotint.checkpoints.header import read_header
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.read import read_tensors
from mezzotint.errors import ImageRefused, MezzotintError, ProtocolError, StorageError
from mezzotint.images.metadata import read_metadata
from mezzotint.images.own_record import metadata_of_record
from mezzotint.images.record import ImageRecord, record_from_json, record_to_json
from mezzotint.paths import make_private
from mezzotint.protocol import ImageMetadata
from mezzotint.trouble import storage_error

if TYPE_CHECKING:
    import torch

SUFFIX = ".latents.safetensors"
LARGEST = 2**28  # bytes: four times 16 channels of a 16384 x 16384 image
_TENSOR, _RECORD, _WANTED = "latents", "mezzotint_record", "mezzotint_path"
_NUMBERS = 4  # dimensions
_MOST_METADATA = 2**19  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingDecode:
    """The path and record of an image, still without the hash of its pixels."""

    path: Path
    record: ImageRecord


def write_latents(folder: Path, latents: "torch.Tensor", image: PendingDecode) -> Path:
    """Write latents `(1, c, h, w)` to a new file in a folder, atomically; raises StorageError if that fails."""
    from safetensors.torch import save

    record = record_to_json(image.record)
    metadata = {_RECORD: record, _WANTED: str(image.path.absolute())}
    if sum(map(len, metadata.values())) > _MOST_METADATA:
        raise StorageError("the prompt is too long to store with the latents")
    data = save({_TENSOR: latents.detach().float().cpu().contiguous()}, metadata)
    try:
        make_private(folder)
    except OSError as error:
        raise storage_error("create the folder", folder, error) from error
    stem = f"{image.path.stem[:80]}-{image.record.image.seed}-"
    superseded = [path for path in undecoded(folder) if path.name.startswith(stem) and _is_same_image(path, image)]
    for number in range(1000):
        path = folder / f"{stem}{number}{SUFFIX}"
        with contextlib.suppress(FileExistsError):
            atomic_write(path, data, overwrite=False)
            _remove(superseded)
            return path
    raise StorageError(f"{plain(str(folder), 300)} is full of latents that were never decoded: `mezzotint decode` them")


def _is_same_image(path: Path, image: PendingDecode) -> bool:
    """Whether latents are those of an earlier attempt at the same image, whose process was killed."""
    with contextlib.suppress(MezzotintError):
        other = read_pending(path)
        return (other.path, other.record.request) == (image.path.absolute(), image.record.request)
    return False


def _remove(paths: list[Path]) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink()


def is_saved(path: Path) -> bool:
    """Whether the image of these latents is where it was to go: a kill left only the latents behind."""
    with contextlib.suppress(MezzotintError):
        pending = read_pending(path)
        return _identity(read_metadata(pending.path)) == _identity(metadata_of_record(record_to_json(pending.record)))
    return False


def _identity(metadata: ImageMetadata) -> tuple[object, ...]:
    return (
        metadata.program,
        metadata.prompt,
        metadata.negative_prompt,
        metadata.seed,
        metadata.width,
        metadata.height,
        metadata.steps,
        metadata.sampler,
        metadata.model_hash,
    )


def read_pending(path: Path) -> PendingDecode:
    """Read the file's record without its latents; raises ImageRefused or ModelRefused if we did not write it."""
    header = read_header(path)
    spec = header.tensors.get(_TENSOR)
    if set(header.tensors) != {_TENSOR} or spec is None or _RECORD not in header.metadata:
        raise _refused(path, "it does not contain latents written by Mezzotint")
    if spec.dtype != "F32" or len(spec.shape) != _NUMBERS or spec.shape[0] != 1 or spec.end - spec.start > LARGEST:
        raise _refused(path, f"its latents are {spec.dtype} of shape {spec.shape}, expected F32 (1, c, h, w)")
    try:
        record = record_from_json(header.metadata[_RECORD])
    except ProtocolError as error:
        raise _refused(path, f"its record cannot be read: {error}") from None
    return PendingDecode(path=Path(header.metadata.get(_WANTED, path.name)), record=record)


def read_latents(path: Path) -> tuple["torch.Tensor", PendingDecode]:
    """Read the latents `(1, c, h, w)`, float32, and the record; raises ImageRefused if we did not write the file."""
    import torch

    pending = read_pending(path)
    latents = next(tensor for _, tensor in read_tensors([path], on_bytes=lambda _: None, cancelled=lambda: False))
    if not bool(torch.isfinite(latents).all()):
        raise _refused(path, "its latents are not finite")
    return latents, pending


def undecoded(folder: Path) -> list[Path]:
    """The undecoded files in a folder, oldest first; empty if the folder does not exist."""
    try:
        found = [path for path in folder.iterdir() if path.name.endswith(SUFFIX) and path.is_file()]
        return sorted(found, key=lambda path: (path.stat().st_mtime_ns, path.name))
    except OSError:
        return []


def _refused(path: Path, why: str) -> ImageRefused:
    return ImageRefused(f"{plain(str(path), 300)} cannot be decoded: {why}")
