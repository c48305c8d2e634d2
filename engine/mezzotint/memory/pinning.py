"""The host's weights gathered into memory that a card can fetch from by itself.

Few large runs are registered with the driver as they are: torch's own allocator of page-locked memory would round each
tensor up to a power of two. What the system refuses stays pageable, which costs time and nothing else.
"""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from mezzotint.memory.host import HostTensor
from mezzotint.memory.segments import placed, views_in
from mezzotint.memory.weights import Weight

CHUNK = 2**30  # bytes of a run: when a system refuses one, those before it are locked already
_PORTABLE = 1  # cudaHostRegisterPortable
_PAGE = 4096  # bytes; runs never share one


class Locker(Protocol):
    """What locks pages."""

    def lock(self, address: int, size: int) -> bool:
        """Lock a run of pages; False: the system refuses."""

    def unlock(self, address: int) -> None:
        """Unlock a run of pages."""


class CudaLocker:
    """Locks pages by way of CUDA's driver."""

    def lock(self, address: int, size: int) -> bool:
        """Register a run with the driver, for all cards; Windows and WSL refuse that routinely."""
        runtime: Any = torch.cuda.cudart()  # type: ignore[no-untyped-call]
        if int(runtime.cudaHostRegister(address, size, _PORTABLE)) == 0:
            return True
        with contextlib.suppress(RuntimeError):  # CUDA keeps the refusal for whatever is launched next: this
            torch.zeros(1, device="cuda")
        return False

    def unlock(self, address: int) -> None:
        """Unregister it."""
        runtime: Any = torch.cuda.cudart()  # type: ignore[no-untyped-call]
        runtime.cudaHostUnregister(address)


class Pinned:
    """Runs of locked memory, until they are released."""

    def __init__(self, locker: Locker) -> None:
        self._locker = locker
        self._runs: list[Tensor] = []
        self.refused = False  # by the system, some time

    @property
    def bytes(self) -> int:
        """Bytes of all locked runs."""
        return sum(len(run) for run in self._runs)

    def gather(self, weights: Iterable[Weight], budget: int, chunk: int = CHUNK) -> bool:
        """Move weights of RAM into locked runs, as many as the budget holds; False: the system refused some.

        Each leaves its old place at once, so that only one run is in memory twice. The network is at rest meanwhile.
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
        """Unlock; tensors stay where they are. Nothing is being copied any more."""
        for run in self._runs:
            self._locker.unlock(run.data_ptr())
        self._runs.clear()


def can_lock(weights: Iterable[Weight], budget: int) -> bool:
    """Whether any more of these can be locked within a budget."""
    return next(_groups(weights, budget, 0), None) is not None


def _groups(weights: Iterable[Weight], budget: int, chunk: int) -> Iterator[list[Weight]]:
    """Weights that share a run, in their order: each for which the budget has room."""
    group: list[Weight] = []
    taken = 0  # bytes of the group
    for weight in weights:
        if weight.source.on_disk or weight.source.at_once:
            continue
        size = placed([weight.source.form])[1]
        if group and _pages(taken + size) > chunk:
            yield group
            group, taken, budget = [], 0, budget - _pages(taken)
        if _pages(taken + size) <= budget:
            group.append(weight)
            taken += size
    if group:
        yield group


def _moved(weights: Sequence[Weight]) -> Tensor:
    """A run with these weights in it, which they are from now on."""
    forms = [weight.source.form for weight in weights]
    with torch.inference_mode(False), torch.no_grad():
        size = _pages(placed(forms)[1])
        memory = torch.empty(size + _PAGE, dtype=torch.uint8)
        run = memory[-memory.data_ptr() % _PAGE :][:size]
        for weight, tensor in zip(weights, views_in(run, forms), strict=True):
            weight.source.read_into(tensor)
            weight.source = HostTensor(tensor)
            is_parameter = isinstance(weight.at_rest, nn.Parameter)
            weight.at_rest = nn.Parameter(tensor, requires_grad=False) if is_parameter else tensor
            weight.unbind()
    return run


def _pages(size: int) -> int:
    return -(-size // _PAGE) * _PAGE
