"""A single weight file, whatever its container: safetensors or GGUF."""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.checkpoints.gguf_header import read_gguf_header
from mezzotint.checkpoints.header import Header, TensorSpec, read_header
from mezzotint.checkpoints.read import read_tensors

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightSpec:
    """Shape and size of a tensor in a file."""

    shape: tuple[int, ...]
    bytes: int  # in the file


def is_gguf(path: Path) -> bool:
    """Whether the file name says that it is a GGUF."""
    return path.suffix.lower() == ".gguf"


def weight_specs(path: Path) -> dict[str, WeightSpec]:
    """Shape and size of each tensor, read from the header alone; raises ModelRefused if that is invalid."""
    if is_gguf(path):
        return {
            name: WeightSpec(shape=each.shape, bytes=each.end - each.start)
            for name, each in read_gguf_header(path).tensors.items()
        }
    return {
        name: WeightSpec(shape=each.shape, bytes=each.end - each.start)
        for name, each in read_header(path).tensors.items()
    }


def weight_header(path: Path) -> Header:
    """A file's header, whatever its container; quantized tensors have their dequantized shapes."""
    if not is_gguf(path):
        return read_header(path)
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
    else:
        yield from read_tensors(files, on_bytes=on_bytes, cancelled=cancelled, names=names)
