"""CUDA graphs: work queued during a capture is executed again at each replay, on the same bytes.

A replay runs only the operations, no other Python. Operations that are illegal in a capture fail as in CUDA: the host
may not wait, or copy from pageable memory. Memory that a graph uses but did not allocate is checked at each replay: if
it was reallocated by then, that is a hazard. Tensors created inside have no values until the graph is replayed.
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

_NO_NUMBER = 0xFF  # fill byte for memory without values

_numbers = count(1)
_users: Counter[tuple[int, int]] = Counter()  # graphs per pool


def new_pool() -> tuple[int, int]:
    """torch.cuda.graph_pool_handle: return the handle of a new pool."""
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
        """Start recording this thread's work."""
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
        """Finish the capture."""
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
        """Keep memory allocated during the capture."""
        self._made.append(allocation)

    def record(self, work: Callable[[], None]) -> None:
        """Add work to execute at each replay."""
        self._work.append(work)

    def touched(self, tensor: Tensor, writes: bool, what: str) -> None:
        """Record that an operation reads or writes the tensor."""
        self.touched_bytes(allocation_of(tensor), *span(tensor), writes, what)

    def touched_bytes(self, allocation: Allocation, low: int, high: int, writes: bool, what: str) -> None:
        """Record that bytes of an allocation are read or written."""
        if not any(made is allocation for made in self._made[-64:]) and allocation not in self._made:
            self._outside[allocation.address, low, high, writes] = (allocation, what)

    def operation(self, operation: Any, there: Sequence[Any], named: Mapping[str, Any], given: Any) -> None:
        """Record an operation; replays write its outputs to the same memory."""
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
        """Execute everything again on the current stream."""
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
        """Release the graph's memory."""
        if self._pool:
            self._device.pools -= self._pool
        if self._handle is not None:
            _users[self._handle] -= 1
        self._pool, self._handle = 0, None
        self._work, self._made = [], []
        self._outside = {}

    def pool(self) -> tuple[int, int] | None:
        """Return the handle of its memory pool."""
        return self._handle
