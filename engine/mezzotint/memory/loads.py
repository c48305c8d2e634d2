"""Loads: the weights of a block, copied together into one contiguous run of device memory."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, wait
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import torch
from torch import Tensor

from mezzotint.memory.host import HostTensor, Source, locked_bytes
from mezzotint.memory.segments import placed, views_in

PART = 4 * 2**20  # bytes that one thread reads at a time


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A weight and its position in the run."""

    source: Source
    offset: int
    size: int

    @property
    def end(self) -> int:
        """The offset just past its last byte."""
        return self.offset + self.size


@dataclass(frozen=True, slots=True, eq=False)
class Copy:
    """Adjacent weights of the run that are copied together."""

    placed: tuple[Placed, ...]
    target: Tensor  # (n,) of uint8 on the device, covering the weights and the gaps between them
    locked: Tensor | None  # the same bytes in page-locked memory, including gaps; None: they have to be gathered


class Load:
    """Weights to copy into a run of memory, in a single copy if they are laid out the same way on the host."""

    def __init__(self, memory: Tensor, sources: Sequence[Source]) -> None:
        """`memory` `(n,)` of uint8 receives the sources at the offsets from `placed`."""
        layouts = [source.layout for source in sources]
        offsets, _ = placed(layouts)
        self.memory = memory
        # With versions of their own: autograd need not know when a block returns to the memory that others shared.
        self.tensors = tuple(views_in(memory.data, layouts))
        sizes = (layout.bytes for layout in layouts)
        self.placed = tuple(map(Placed, sources, offsets, sizes))

    @property
    def on_disk(self) -> bool:
        """Whether any weight is read from a file."""
        return any(each.source.on_disk for each in self.placed)

    @cached_property
    def supports_async_copy(self) -> bool:
        """Whether a GPU can copy all of it asynchronously from page-locked memory."""
        return all(copy.locked is not None for copy in self.copies)

    @cached_property
    def copies(self) -> tuple[Copy, ...]:
        """The load in as few copies as possible."""
        filled = (each for each in self.placed if each.size)
        return tuple(self._copy(tuple(group)) for _, group in groupby(filled, _lies))

    def _copy(self, group: tuple[Placed, ...]) -> Copy:
        start, end = group[0].offset, group[-1].end
        first = group[0].source
        locked = locked_bytes(first.tensor(), end - start) if first.supports_async_copy else None
        return Copy(group, self.memory[start:end], locked)


class Gathering:
    """Gathers the bytes of weights in host memory; several threads read files."""

    def __init__(self, placed: Sequence[Placed], threads: Executor | None) -> None:
        self._placed, self._threads = placed, threads
        self._cut: dict[Placed, Source] = {}  # weights read as a whole whose bytes are not all used yet

    def fill(self, memory: Tensor, start: int) -> None:
        """Fill `(n,)` bytes with the run's content from offset `start`."""
        reading: list[Future[None]] = []
        try:
            for each in self._placed:
                low, high = max(each.offset, start), min(each.end, start + len(memory))
                if low < high:
                    reading += self._bring(each, memory[low - start : high - start], low - each.offset)
        finally:
            wait(reading)  # the caller reuses the memory
        for part in reading:
            part.result()

    def _bring(self, each: Placed, target: Tensor, start: int) -> Iterator[Future[None]]:
        source = each.source
        if not source.supports_partial_reads:
            if len(target) == each.size:
                source.read_into(next(views_in(target, [source.layout])))
                return
            source = self._whole(each, last=start + len(target) == each.size)
        if self._threads is None or not source.on_disk:
            source.read_part(target, start)
            return
        for first in range(0, len(target), PART):
            yield self._threads.submit(source.read_part, target[first : first + PART], start + first)

    def _whole(self, each: Placed, *, last: bool) -> Source:
        """Read a whole weight that does not support partial reads and does not fit the buffer."""
        made = self._cut.pop(each, None)
        if made is None:
            layout = each.source.layout
            tensor = torch.empty_strided(layout.shape, layout.stride, dtype=layout.dtype)
            each.source.read_into(tensor)
            made = HostTensor(tensor)
        if not last:
            self._cut[each] = made
        return made


def _lies(each: Placed) -> tuple[int, int] | None:
    """Key that is equal for page-locked weights that one copy can move; None for those that have to be gathered."""
    if not each.source.supports_async_copy:
        return None
    tensor = each.source.tensor()
    return tensor.untyped_storage().data_ptr(), tensor.data_ptr() - each.offset
