"""What checkpointed blocks keep, in RAM instead of on the device until the backward pass needs it."""

import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import torch
from torch import Tensor

from mezzotint.memory.accounting import uncounted

LEAST = 1024  # bytes: smaller tensors stay on the device
_Key: TypeAlias = tuple[Any, ...]


class Kept(Protocol):
    """A tensor in RAM."""

    def back(self) -> Tensor:
        """The same numbers on the device."""


Keep: TypeAlias = Callable[[Tensor], "Kept | None"]  # None: it cannot be kept in the same layout


class Offloading:
    """Keeps in RAM what autograd saves; a tensor that several blocks are given is kept once."""

    def __init__(self, keep: Keep) -> None:
        self._keep = keep
        self._known: dict[_Key, tuple[weakref.ref[torch.UntypedStorage], weakref.ref[Kept]]] = {}

    def saving(self) -> AbstractContextManager[None]:
        """Context manager: what is saved for the backward pass meanwhile is kept in RAM."""
        return torch.autograd.graph.saved_tensors_hooks(self._pack, _unpack)

    def _pack(self, tensor: Tensor) -> Tensor | Kept:
        if tensor.nbytes < LEAST:
            return tensor
        storage = tensor.untyped_storage()
        key = (id(storage), tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype, tensor._version)
        known = self._known.get(key)
        kept = known[1]() if known is not None and known[0]() is storage else None
        if kept is None:
            with uncounted(), torch.no_grad():
                kept = self._keep(tensor.detach())
            if kept is None:
                return tensor
            self._known = {key: each for key, each in self._known.items() if each[1]() is not None}
            self._known[key] = weakref.ref(storage), weakref.ref(kept)
        return kept


def offloading(device: torch.device) -> Offloading:
    """Offloading of what is on a device."""
    if device.type != "cuda":
        return Offloading(_Copied.of)
    cuda: Any = torch.cuda
    stream = cuda.Stream(device)
    return Offloading(lambda tensor: _Pinned.of(tensor, stream))


def _unpack(saved: Any) -> Tensor:  # noqa: ANN401
    return saved if isinstance(saved, Tensor) else saved.back()


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class _Copied:
    """Copied at once, and the host waits."""

    numbers: Tensor
    device: torch.device

    @classmethod
    def of(cls, tensor: Tensor) -> "_Copied":
        return cls(torch.empty_like(tensor, device="cpu").copy_(tensor), tensor.device)

    def back(self) -> Tensor:
        """The numbers on the device."""
        return torch.empty_like(self.numbers, device=self.device).copy_(self.numbers)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class _Pinned:
    """Copied to page-locked memory on a stream beside the computation, for which the host does not wait."""

    numbers: Tensor
    device: torch.device
    arrived: Any  # an event

    @classmethod
    def of(cls, tensor: Tensor, stream: Any) -> "_Pinned | None":  # noqa: ANN401  torch.cuda.Stream
        numbers = torch.empty_like(tensor, device="cpu", pin_memory=True)
        if numbers.stride() != tensor.stride():
            return None
        cuda: Any = torch.cuda
        stream.wait_stream(cuda.current_stream(tensor.device))
        with cuda.stream(stream):
            numbers.copy_(tensor, non_blocking=True)
        tensor.record_stream(stream)  # its memory is not given away before it is copied
        arrived = cuda.Event()
        arrived.record(stream)
        return cls(numbers, tensor.device, arrived)

    def back(self) -> Tensor:
        """The numbers on the device, for the stream that computes now."""
        torch.cuda.current_stream(self.device).wait_event(self.arrived)
        return self.numbers.to(self.device, non_blocking=True)
