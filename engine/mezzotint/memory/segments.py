"""Placement of weights in a segment."""

from collections.abc import Iterator, Sequence

from torch import Tensor

from mezzotint.memory.arena import ALIGNMENT
from mezzotint.memory.host import TensorLayout


def placed(layouts: Sequence[TensorLayout]) -> tuple[tuple[int, ...], int]:
    """Return the offset of each tensor, packed at aligned addresses, and the total bytes."""
    offsets, end = [], 0
    for layout in layouts:
        offsets.append(end)
        end += -(-layout.bytes // ALIGNMENT) * ALIGNMENT
    return tuple(offsets), end


def views_in(memory: Tensor, layouts: Sequence[TensorLayout]) -> Iterator[Tensor]:
    """Tensors of these layouts in bytes `(n,)`, at the offsets from `placed`."""
    offsets, _ = placed(layouts)
    for layout, offset in zip(layouts, offsets, strict=True):
        numbers = memory[offset:][: layout.bytes].view(layout.dtype)
        yield numbers.as_strided(layout.shape, layout.stride)
