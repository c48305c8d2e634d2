"""What is brought to a device at once: the weights of a block, side by side in one run of its memory."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, wait
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import torch
from torch import Tensor

from mezzotint.memory.host import HostTensor, Source, locked_bytes
from mezzotint.memory.segments import placed, views_in

PART = 4 * 2**20  # bytes of a file that one thread reads at a time


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A weight and where it lies in the run."""

    source: Source
    offset: int
    size: int

    @property
    def end(self) -> int:
        """The offset of what comes after its last byte."""
        return self.offset + self.size


@dataclass(frozen=True, slots=True, eq=False)
class Copy:
    """Weights that follow one another in the run and travel together."""

    placed: tuple[Placed, ...]
    target: Tensor  # (n,) of uint8 on the device, from the first weight's first byte to the last one's last
    locked: Tensor | None  # the same bytes in page-locked memory, gaps and all; None: they are gathered first


class Load:
    """Weights on their way to a run of memory; where they lie alike on the host, one copy brings them all."""

    def __init__(self, memory: Tensor, sources: Sequence[Source]) -> None:
        """`memory` `(n,)` of uint8 holds the sources as `placed` has them."""
        forms = [source.form for source in sources]
        offsets, _ = placed(forms)
        self.memory = memory
        self.tensors = tuple(views_in(memory, forms))
        sizes = (form.bytes for form in forms)
        self.placed = tuple(map(Placed, sources, offsets, sizes))

    @property
    def on_disk(self) -> bool:
        """Whether it takes a file to get it."""
        return any(each.source.on_disk for each in self.placed)

    @cached_property
    def at_once(self) -> bool:
        """Whether a card can fetch all of it by itself."""
        return all(copy.locked is not None for copy in self.copies)

    @cached_property
    def copies(self) -> tuple[Copy, ...]:
        """All of it, in as few copies as can be."""
        filled = (each for each in self.placed if each.size)
        return tuple(self._copy(tuple(group)) for _, group in groupby(filled, _lies))

    def _copy(self, group: tuple[Placed, ...]) -> Copy:
        start, end = group[0].offset, group[-1].end
        first = group[0].source
        locked = locked_bytes(first.tensor(), end - start) if first.at_once else None
        return Copy(group, self.memory[start:end], locked)


class Gathering:
    """Brings the bytes of weights together in memory of the host; several threads read what lies in files."""

    def __init__(self, placed: Sequence[Placed], threads: Executor | None) -> None:
        self._placed, self._threads = placed, threads
        self._cut: dict[Placed, Source] = {}  # what comes whole and has not been used up

    def fill(self, memory: Tensor, start: int) -> None:
        """Fill `(n,)` bytes with what lies from `start` on in the run."""
        reading: list[Future[None]] = []
        try:
            for each in self._placed:
                low, high = max(each.offset, start), min(each.end, start + len(memory))
                if low < high:
                    reading += self._bring(each, memory[low - start : high - start], low - each.offset)
        finally:
            wait(reading)  # the memory has another use next
        for part in reading:
            part.result()

    def _bring(self, each: Placed, target: Tensor, start: int) -> Iterator[Future[None]]:
        source = each.source
        if not source.in_parts:
            if len(target) == each.size:
                source.read_into(next(views_in(target, [source.form])))
                return
            source = self._whole(each, last=start + len(target) == each.size)
        if self._threads is None or not source.on_disk:
            source.read_part(target, start)
            return
        for first in range(0, len(target), PART):
            yield self._threads.submit(source.read_part, target[first : first + PART], start + first)

    def _whole(self, each: Placed, *, last: bool) -> Source:
        """What cannot be had in parts, and is longer than what is filled."""
        made = self._cut.pop(each, None)
        if made is None:
            form = each.source.form
            tensor = torch.empty_strided(form.shape, form.stride, dtype=form.dtype)
            each.source.read_into(tensor)
            made = HostTensor(tensor)
        if not last:
            self._cut[each] = made
        return made


def _lies(each: Placed) -> tuple[int, int] | None:
    """The same for weights that lie alike in one page-locked storage and in the run; None: they are gathered."""
    if not each.source.at_once:
        return None
    tensor = each.source.tensor()
    return tensor.untyped_storage().data_ptr(), tensor.data_ptr() - each.offset
