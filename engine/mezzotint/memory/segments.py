"""Placement of weights in a segment, and of resident blocks in a network."""

from collections.abc import Iterator, Sequence

from torch import Tensor

from mezzotint.memory.arena import ALIGNMENT, Segment
from mezzotint.memory.host import Form


def placed(forms: Sequence[Form]) -> tuple[tuple[int, ...], int]:
    """Return the offset of each tensor, packed at aligned addresses, and the total bytes."""
    offsets, end = [], 0
    for form in forms:
        offsets.append(end)
        end += -(-form.bytes // ALIGNMENT) * ALIGNMENT
    return tuple(offsets), end


def views(segment: Segment, forms: Sequence[Form]) -> Iterator[Tensor]:
    """Tensors of these forms in a segment, at the offsets from `placed`."""
    return views_in(segment.memory, forms)


def views_in(memory: Tensor, forms: Sequence[Form]) -> Iterator[Tensor]:
    """Tensors of these forms in bytes `(n,)`, at the offsets from `placed`."""
    offsets, _ = placed(forms)
    for form, offset in zip(forms, offsets, strict=True):
        numbers = memory[offset:][: form.bytes].view(form.dtype)
        yield numbers.as_strided(form.shape, form.stride)


def spread(count: int, chosen: int) -> tuple[bool, ...]:
    """Which of `count` blocks are resident, spread as evenly as possible (Bresenham's line)."""
    return tuple((index + 1) * chosen // count > index * chosen // count for index in range(count))
