"""A single weight file, whatever its container: safetensors, GGUF, or a delta file, as if that held whole tensors."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.checkpoints.delta.layout import TRUNK, is_delta, open_delta, trunks_of
from mezzotint.checkpoints.gguf_header import read_gguf_header
from mezzotint.checkpoints.header import Header, TensorSpec, read_header
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.read import read_tensors
from mezzotint.errors import ModelRefused

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightSpec:
    """Shape and size of a tensor in a file."""

    shape: tuple[int, ...]
    bytes: int  # in the file; of a delta file: of the whole tensor


def is_gguf(path: Path) -> bool:
    """Whether the file name says that it is a GGUF."""
    return path.suffix.lower() == ".gguf"


def is_delta_file(path: Path) -> bool:
    """Whether a file builds on another one; raises ModelRefused if it is invalid."""
    return not is_gguf(path) and is_delta(read_header(path))


def trunk_of(path: Path) -> str:
    """FOLDER/COMPONENT that a file builds on; empty for most. Raises ModelRefused if it is invalid."""
    return "" if is_gguf(path) else read_header(path).metadata.get(TRUNK, "")


def with_trunks(files: Iterable[Path]) -> tuple[Path, ...]:
    """The files, and those that they build on; raises ModelRefused if one is invalid, StorageError if it is gone."""
    return tuple(dict.fromkeys(each for path in files for each in (path, *(() if is_gguf(path) else trunks_of(path)))))


def weight_specs(path: Path) -> dict[str, WeightSpec]:
    """Shape and size of each tensor, read from the header alone; raises ModelRefused if that is invalid."""
    if is_gguf(path):
        return {
            name: WeightSpec(shape=each.shape, bytes=each.end - each.start)
            for name, each in read_gguf_header(path).tensors.items()
        }
    return {
        name: WeightSpec(shape=each.shape, bytes=each.end - each.start)
        for name, each in weight_header(path).tensors.items()
    }


def weight_header(path: Path) -> Header:
    """A file's header, whatever its container; quantized tensors have their dequantized shapes.

    For delta files, where tensors are means nothing.
    """
    if not is_gguf(path):
        header = read_header(path)
        return open_delta(header).header if is_delta(header) else header
    found = read_gguf_header(path)
    tensors = {
        name: TensorSpec(dtype=each.type, shape=each.shape, start=each.start, end=each.end)
        for name, each in found.tensors.items()
    }
    metadata = {key: value for key, value in found.metadata.items() if isinstance(value, str)}
    return Header(path=path, tensors=tensors, metadata=metadata, bytes=found.bytes)


def read_weights(
    files: Sequence[Path],
    *,
    on_bytes: Callable[[int], None],
    cancelled: Callable[[], bool],
    names: Container[str] | None = None,
    packed: Container[str] = (),
) -> Iterator[tuple[str, "torch.Tensor"]]:
    """Yield the tensors in `names` one by one, like `read_tensors`.

    Quantized tensors of a GGUF file are dequantized, except those in `packed`, which are returned as bytes.
    """
    if len(files) == 1 and is_gguf(files[0]):
        from mezzotint.checkpoints.gguf_file import read_gguf_tensors

        yield from read_gguf_tensors(files[0], on_bytes=on_bytes, cancelled=cancelled, names=names, packed=packed)
    elif any(map(is_delta_file, files)):
        if len(files) > 1:
            raise ModelRefused(
                f"{plain(files[0], 300)}: one of {len(files)} files builds on another model; it must be one file"
            )
        from mezzotint.checkpoints.delta.reading import read_delta

        yield from read_delta(files[0], on_bytes=on_bytes, cancelled=cancelled, names=names)
    else:
        yield from read_tensors(files, on_bytes=on_bytes, cancelled=cancelled, names=names)
