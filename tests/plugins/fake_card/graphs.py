"""CUDA graphs: what is queued between begin and end of a capture, done again at each replay on the same bytes.

Nothing of Python but the operations themselves runs in a replay. What a capture may not do fails as CUDA has it: the
host waits for nothing, and copies nothing from pages that are not locked. What a graph reads or writes and was not made
inside is looked for at each replay: memory that is another's by then is a hazard. What it makes inside has no numbers
until it is replayed.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

import torch
from fake_card.memory import Allocation, allocation_of, span
from fake_card.state import card
from torch import Tensor
from torch.utils._pytree import tree_leaves

_NO_NUMBER = 0xFF  # each byte

_numbers = count(1)
_users: Counter[tuple[int, int]] = Counter()  # graphs of each pool


def new_pool() -> tuple[int, int]:
    """torch.cuda.graph_pool_handle: of a pool that is not there yet."""
    return (0, next(_numbers))


class CUDAGraph:
    """torch.cuda.CUDAGraph."""

    def __init__(self, keep_graph: bool = False) -> None:
        self._work: list[Callable[[], None]] = []
        self._outside: dict[tuple[int, int, int, bool], tuple[Allocation, str]] = {}
        self._made: list[Allocation] = []
        self._pool = 0
        self._handle: tuple[int, int] | None = None
        self.replays = 0
        self.invalid = ""

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global", **_: Any) -> None:
        """From here on this thread's work is recorded."""
        stream = card.current_stream()
        if stream.number < len(card.devices):
            raise RuntimeError("CUDA graphs must be captured on a non-default stream.")
        if pool in _users and not _users[pool]:
            raise RuntimeError("INTERNAL ASSERT FAILED: use_count > 0: no graph holds the pool any more")
        self._handle = pool or new_pool()
        _users[self._handle] += 1
        self._device = card.device(stream.device_index)
        self._begun, self._before = self._device.allocated, self._device.peak
        self._device.peak = self._begun
        card.capture = self

    def capture_end(self) -> None:
        """The graph is whole."""
        card.capture = None
        highest = self._device.peak
        self._device.peak = max(self._before, highest)
        for made in self._made:
            made.host.fill_(_NO_NUMBER)
        if self.invalid:
            raise torch.AcceleratorError("CUDA error: operation failed due to a previous error during capture")
        self._pool = max(0, highest - self._device.allocated)
        self._device.pools += self._pool

    def adopted(self, allocation: Allocation) -> None:
        """Memory that was taken inside stays the graph's."""
        self._made.append(allocation)

    def record(self, work: Callable[[], None]) -> None:
        """Do it at each replay."""
        self._work.append(work)

    def touched(self, tensor: Tensor, writes: bool, what: str) -> None:
        """An operation reads or writes it."""
        self.touched_bytes(allocation_of(tensor), *span(tensor), writes, what)

    def touched_bytes(self, allocation: Allocation, low: int, high: int, writes: bool, what: str) -> None:
        """The same of bytes of an allocation."""
        if not any(made is allocation for made in self._made[-64:]) and allocation not in self._made:
            self._outside[allocation.address, low, high, writes] = (allocation, what)

    def operation(self, operation: Any, there: Sequence[Any], named: Mapping[str, Any], given: Any) -> None:
        """One that was computed: what it gives comes to lie where it lay."""
        ours = {each.untyped_storage().data_ptr() for each in tree_leaves((there, named)) if isinstance(each, Tensor)}
        outputs = [each for each in tree_leaves(given) if isinstance(each, Tensor)]
        fresh = [n for n, each in enumerate(outputs) if each.untyped_storage().data_ptr() not in ours]
        writes = any(each.alias_info and each.alias_info.is_write for each in operation._schema.arguments)
        if not fresh and not writes:
            return  # a view

        def again() -> None:
            made = [each for each in tree_leaves(operation(*there, **named)) if isinstance(each, Tensor)]
            for n in fresh:
                outputs[n].copy_(made[n])

        self.record(again)

    def replay(self) -> None:
        """All of it once more, on the current stream."""
        card.check("graph")
        if card.capture is not None:
            raise RuntimeError("a graph is replayed while another is captured")
        if not self._work:
            raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")
        card.operations["graph"] += 1
        stream = card.current_stream()
        stream.run()
        stream.tick()
        for (address, low, high, writes), (allocation, what) in self._outside.items():
            if card.allocations.get(address) is not allocation:
                card.hazard(f"a graph's {what} is at {address:#x}, which was freed since")
            allocation.touch(low, high, writes, "graph")
        for made in self._made:
            if card.allocations.get(made.address) is made:
                made.touch(0, len(made.host), True, "graph")
        with torch.inference_mode():
            for work in self._work:
                work()
        self.replays += 1

    def reset(self) -> None:
        """Let go of its memory."""
        if self._pool:
            self._device.pools -= self._pool
        if self._handle is not None:
            _users[self._handle] -= 1
        self._pool, self._handle = 0, None
        self._work, self._made = [], []
        self._outside = {}

    def pool(self) -> tuple[int, int] | None:
        """Where its memory is from."""
        return self._handle
