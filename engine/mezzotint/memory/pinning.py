"""Gathers the host's weights into page-locked memory, from which a GPU can copy asynchronously.

A few large buffers are registered with the driver: torch's pinned-memory allocator would round each tensor up to a
power of two. What the system refuses stays pageable, which only costs time.
"""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from mezzotint.memory.host import HostTensor
from mezzotint.memory.segments import placed, views_in
from mezzotint.memory.weights import Weight

CHUNK = 2**30  # bytes of a run; if the system refuses one, the earlier ones stay locked
_PORTABLE = 1  # cudaHostRegisterPortable
_PAGE = 4096  # bytes; runs never share a page


class Locker(Protocol):
    """Locks pages."""

    def lock(self, address: int, size: int) -> bool:
        """Lock a run of pages; False if the system refuses."""

    def unlock(self, address: int) -> None:
        """Unlock a run of pages."""


class CudaLocker:
    """Locks pages through the CUDA driver."""

    def lock(self, address: int, size: int) -> bool:
        """Register a run with the driver, for all GPUs; Windows and WSL often refuse."""
        runtime: Any = torch.cuda.cudart()  # type: ignore[no-untyped-call]
        if int(runtime.cudaHostRegister(address, size, _PORTABLE)) == 0:
            return True
        with contextlib.suppress(RuntimeError):  # CUDA reports the error at the next launch; this launch consumes it
            torch.zeros(1, device="cuda")
        return False

    def unlock(self, address: int) -> None:
        """Unregister a run."""
        runtime: Any = torch.cuda.cudart()  # type: ignore[no-untyped-call]
        runtime.cudaHostUnregister(address)


class Pinned:
    """Runs of page-locked memory, until they are released."""

    def __init__(self, locker: Locker) -> None:
        self._locker = locker
        self._runs: list[Tensor] = []
        self.refused = False  # whether the system ever refused to lock a run

    @property
    def bytes(self) -> int:
        """Bytes of all locked runs."""
        return sum(len(run) for run in self._runs)

    def gather(self, weights: Iterable[Weight], budget: int, chunk: int = CHUNK) -> bool:
        """Move weights in RAM into locked runs, up to the budget; False if the system refused a run.

        Each weight's old memory is freed at once, so only one run is in memory twice. The network must not be on the
        device meanwhile.
        """
        for group in _groups(weights, budget - self.bytes, chunk):
            run = _moved(group)
            if not self._locker.lock(run.data_ptr(), len(run)):
                self.refused = True
                return False
            self._runs.append(run)
            for weight in group:
                weight.source = HostTensor(weight.source.tensor(), pinned=True)
        return True

    def release(self) -> None:
        """Unlock the runs; tensors stay where they are. No copy may be in flight."""
        for run in self._runs:
            self._locker.unlock(run.data_ptr())
        self._runs.clear()


def can_lock(weights: Iterable[Weight], budget: int) -> bool:
    """Whether any more of these weights can be locked within the budget."""
    return next(_groups(weights, budget, 0), None) is not None


def _groups(weights: Iterable[Weight], budget: int, chunk: int) -> Iterator[list[Weight]]:
    """Group weights into runs, in order, skipping those that do not fit the budget."""
    group: list[Weight] = []
    taken = 0  # bytes in the group
    for weight in weights:
        if weight.source.on_disk or weight.source.supports_async_copy:
            continue
        size = placed([weight.source.layout])[1]
        if group and _pages(taken + size) > chunk:
            yield group
            group, taken, budget = [], 0, budget - _pages(taken)
        if _pages(taken + size) <= budget:
            group.append(weight)
            taken += size
    if group:
        yield group


def _moved(weights: Sequence[Weight]) -> Tensor:
    """Copy weights into a new run, which becomes their storage."""
    layouts = [weight.source.layout for weight in weights]
    with torch.inference_mode(False), torch.no_grad():
        size = _pages(placed(layouts)[1])
        memory = torch.empty(size + _PAGE, dtype=torch.uint8)
        run = memory[-memory.data_ptr() % _PAGE :][:size]
        for weight, tensor in zip(weights, views_in(run, layouts), strict=True):
            weight.source.read_into(tensor)
            weight.source = HostTensor(tensor)
            is_parameter = isinstance(weight.at_rest, nn.Parameter)
            weight.at_rest = nn.Parameter(tensor, requires_grad=False) if is_parameter else tensor
            weight.unbind()
    return run


def _pages(size: int) -> int:
    return -(-size // _PAGE) * _PAGE
