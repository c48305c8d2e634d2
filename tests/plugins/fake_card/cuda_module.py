"""The parts of torch.cuda, and of torch's pinned memory, that the simulated GPU replaces."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import torch
from fake_card.clocks import Event, Stream, streaming
from fake_card.graphs import CUDAGraph, new_pool
from fake_card.state import card
from torch import Tensor

_Plain: Any = torch.Generator


class Generator(_Plain):
    """torch.Generator of a GPU: produces the CPU's numbers, not those of CUDA."""

    def __new__(cls, device: Any = "cpu") -> Any:
        made = _Plain.__new__(cls)
        made._device = torch.device(device)
        if made._device.type == card.kind.type:
            made._device = torch.device(card.kind.type, card.index_of(made._device))
        return made

    def __init__(self, device: Any = "cpu") -> None:
        """Do nothing: __new__ does all initialization."""

    @property
    def device(self) -> torch.device:
        """The device of the generator."""
        return self._device


class Runtime:
    """torch.cuda.cudart(): functions return CUDA error codes, 0 is success."""

    @staticmethod
    def cudaHostRegister(address: int, size: int, flags: int) -> int:
        """Pin pages; 2 is out of memory."""
        return 0 if card.pin(address, size) else 2

    @staticmethod
    def cudaHostUnregister(address: int) -> int:
        """Unpin pages."""
        card.unpin(address)
        return 0


@contextmanager
def on_device(device: Any = None) -> Iterator[None]:
    """torch.cuda.device."""
    before = card.index_of(None)
    if device is not None:
        card.set_device(device)
    try:
        yield
    finally:
        card.set_device(before)


def properties(device: Any = None) -> SimpleNamespace:
    """Return the properties of an RTX 3060."""
    return SimpleNamespace(
        name="a card that is not there",
        total_memory=card.device(device).total,
        major=8,
        minor=6,
        multi_processor_count=28,
        L2_cache_size=3 * 2**20,
    )


def synchronize(device: Any = None) -> None:
    """Make the host wait for all streams."""
    card.check()
    for stream in card.streams:
        card.wait_for(stream, "synchronize")


def set_fraction(fraction: float, device: Any = None) -> None:
    """Set a cap as a fraction of the total memory."""
    memory = card.device(device)
    memory.cap = int(memory.total * fraction)


def reset_peak(device: Any = None) -> None:
    """Reset the peak to the memory in use."""
    memory = card.device(device)
    memory.peak = memory.allocated


def memory_info(device: Any = None) -> tuple[int, int]:
    """Return free and total bytes, accounting for other programs."""
    memory = card.device(device)
    return memory.free, memory.total


MODULE: dict[str, Any] = {
    "is_available": lambda: True,
    "is_initialized": lambda: True,
    "_is_in_bad_fork": lambda: False,
    "_lazy_init": lambda: None,
    "init": lambda: None,
    "device_count": lambda: len(card.devices),
    "current_device": lambda: card.index_of(None),
    "set_device": card.set_device,
    "device": on_device,
    "get_device_properties": properties,
    "get_device_name": lambda device=None: properties(device).name,
    "get_device_capability": lambda device=None: (8, 6),
    "is_bf16_supported": lambda including_emulation=True: True,
    "mem_get_info": memory_info,
    "memory_allocated": lambda device=None: card.device(device).allocated,
    "memory_reserved": lambda device=None: card.device(device).allocated + card.device(device).held,
    "max_memory_allocated": lambda device=None: card.device(device).peak,
    "max_memory_reserved": lambda device=None: card.device(device).peak + card.device(device).held,
    "reset_peak_memory_stats": reset_peak,
    "set_per_process_memory_fraction": set_fraction,
    "empty_cache": card.check,
    "synchronize": synchronize,
    "manual_seed": lambda seed: None,
    "manual_seed_all": lambda seed: None,
    "Stream": Stream,
    "Event": Event,
    "is_current_stream_capturing": lambda: card.capture is not None,
    "stream": streaming,
    "current_stream": card.current_stream,
    "default_stream": lambda device=None: card.streams[card.index_of(device)],
    "cudart": lambda: Runtime,
    "CUDAGraph": CUDAGraph,
    "graph_pool_handle": new_pool,
}


METAL: dict[str, Any] = {  # everything torch.mps reports about memory: it has no statistics
    "is_available": lambda: True,
    "device_count": lambda: 1,
    "current_allocated_memory": lambda: card.device().allocated,
    "driver_allocated_memory": lambda: card.device().allocated,
    "recommended_max_memory": lambda: card.device().total,
    "empty_cache": card.check,
    "synchronize": synchronize,
    "manual_seed": lambda seed: None,
}


def pinning(plain: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Wrap torch.empty and similar functions to support pin_memory."""

    def made(*args: Any, pin_memory: bool = False, **kwargs: Any) -> Tensor:
        tensor = plain(*args, **kwargs)
        if pin_memory and not card.pin(tensor.data_ptr(), tensor.untyped_storage().nbytes()):
            card.last_error = None  # torch reads the error and raises it
            raise torch.AcceleratorError("CUDA error: out of memory")
        return tensor

    return made


def pin_memory(tensor: Tensor, *_: Any) -> Tensor:
    """Tensor.pin_memory: return a pinned copy."""
    return torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True).copy_(tensor)


def replacements() -> list[tuple[Any, str, Any]]:
    """Return owner, name and value of everything to patch while the GPU is active."""
    if card.kind.type == "mps":
        return [
            (torch, "Generator", Generator),
            (torch.backends.mps, "is_available", lambda: True),
            *((torch.mps, name, value) for name, value in METAL.items()),
        ]
    return [
        (torch, "empty", pinning(torch.empty)),
        (torch, "empty_like", pinning(torch.empty_like)),
        (torch, "Generator", Generator),
        (torch.Tensor, "pin_memory", pin_memory),
        (torch.Tensor, "is_pinned", lambda tensor, *_: tensor.device.type == "cpu" and card.is_pinned(tensor)),
        (torch._C, "_host_emptyCache", lambda: None),
        (torch._C, "_cuda_clearCublasWorkspaces", lambda: None),
        (torch._C, "_cuda_getCurrentRawStream", lambda device: card.current_stream(device).number),
        *((torch.cuda, name, value) for name, value in MODULE.items()),
    ]
