"""Where each weight lies in a segment, and which blocks stay."""

from collections.abc import Iterator, Sequence

from torch import Tensor

from mezzotint.memory.arena import ALIGNMENT, Segment
from mezzotint.memory.host import Form


def placed(forms: Sequence[Form]) -> tuple[tuple[int, ...], int]:
    """The offset of each, one after another at aligned addresses, and the bytes of all."""
    offsets, end = [], 0
    for form in forms:
        offsets.append(end)
        end += -(-form.bytes // ALIGNMENT) * ALIGNMENT
    return tuple(offsets), end


def views(segment: Segment, forms: Sequence[Form]) -> Iterator[Tensor]:
    """Tensors of these forms in a segment, as `placed` has them."""
    return views_in(segment.memory, forms)


def views_in(memory: Tensor, forms: Sequence[Form]) -> Iterator[Tensor]:
    """Tensors of these forms in bytes `(n,)`, as `placed` has them."""
    offsets, _ = placed(forms)
    for form, offset in zip(forms, offsets, strict=True):
        numbers = memory[offset:][: form.bytes].view(form.dtype)
        yield numbers.as_strided(form.shape, form.stride)


def spread(count: int, chosen: int) -> tuple[bool, ...]:
    """Which of some blocks stay, as evenly among the others as can be (Bresenham's line)."""
    return tuple((index + 1) * chosen // count > index * chosen // count for index in range(count))
