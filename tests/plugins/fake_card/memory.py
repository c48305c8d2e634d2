"""GPU memory: host memory that is handed to torch as a DLPack capsule of another device.

So its tensors are real tensors, not a subclass, with real addresses and a callback when memory is freed.
DLPack: https://dmlc.github.io/dlpack/latest/c_api.html
"""

import ctypes
from typing import Any, NamedTuple

import torch
from fake_card.state import card
from torch import Tensor

GRAIN = 512  # bytes; rounding of torch's CUDA allocator


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("dimensions", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_FREED = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _FREED))


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_alive: dict[int, tuple[_Managed, Any, "Allocation"]] = {}  # by the address passed to DLPack


class Access(NamedTuple):
    """Bytes of an allocation that an operation read or wrote."""

    low: int
    high: int
    stream: int
    time: int
    writes: bool
    what: str


class Allocation:
    """Bytes of a device: the host memory behind them, and their recent accesses."""

    __slots__ = (
        "address",
        "counted",
        "device",
        "host",
        "pooled",
        "recorded",
        "session",
        "stream",
        "touched",
        "touched_in",
        "typed",
    )

    def __init__(self, host: Tensor, device: int) -> None:
        self.host, self.device, self.address = host, device, host.data_ptr()
        self.counted = -(-len(host) // GRAIN) * GRAIN
        self.typed = {torch.uint8: host}
        self.session, self.stream = card.session, card.current_stream(device)
        self.recorded: set[int] = set()  # streams passed to record_stream
        self.pooled = card.capture is not None  # a graph's: not reused by other streams until freed by the driver
        self.touched: list[Access] = []
        self.touched_in = card.session

    def flat(self, dtype: torch.dtype) -> Tensor:
        """Return the entire allocation as a flat tensor."""
        found = self.typed.get(dtype)
        if found is None:
            whole = len(self.host) // dtype.itemsize * dtype.itemsize
            found = self.typed[dtype] = self.host[:whole].view(dtype)
        return found

    def touch(self, low: int, high: int, writes: bool, what: str) -> None:
        """Record that the current stream, already ticked, reads or writes these bytes."""
        stream = card.current_stream(self.device)
        number, clock = stream.number, stream.clock
        with card.lock:
            if self.touched_in != card.session:
                self.touched, self.touched_in = [], card.session
            kept = []
            for entry in self.touched:
                if entry.low < high and low < entry.high:
                    if (writes or entry.writes) and clock.get(entry.stream, 0) < entry.time:
                        card.hazard(
                            f"{what} on stream {number} is not ordered after {entry.what} on stream {entry.stream}"
                        )
                    covered = low <= entry.low and entry.high <= high
                    if covered and (writes or (entry.stream == number and not entry.writes)):
                        continue
                kept.append(entry)
            kept.append(Access(low, high, number, clock[number], writes, what))
            self.touched = kept

    def freed(self) -> None:
        """Called when nothing refers to the memory: it can be reused on the stream where it was allocated."""
        if card.allocations.get(self.address) is self:
            del card.allocations[self.address]
        if self.session != card.session:
            return  # the simulated GPU has been removed
        card.devices[self.device].allocated -= self.counted
        if self.pooled:
            return
        clock = self.stream.clock
        for entry in self.touched:
            waited = max(clock.get(entry.stream, 0), card.host_clock.get(entry.stream, 0))
            if waited < entry.time and entry.stream not in self.recorded:
                card.hazards.append(f"freed while stream {entry.stream} may still be at it: {entry.what}")
                return


@_FREED
def _on_freed(address: int) -> None:
    _alive.pop(address)[2].freed()


def adopt(host: Tensor, device: int) -> Tensor:
    """Turn a flat host tensor into GPU memory. Raises OutOfMemoryError beyond the cap."""
    card.check()
    allocation, memory = Allocation(host, device), card.devices[device]
    take(memory, allocation.counted)
    memory.allocated += allocation.counted
    card.allocation_sizes.append(allocation.counted)
    card.allocations[allocation.address] = allocation
    if card.capture is not None:
        card.capture.adopted(allocation)
    size, one = (ctypes.c_int64 * 1)(len(host)), (ctypes.c_int64 * 1)(1)
    tensor = _Tensor(allocation.address, card.kind.dlpack, device, 1, 1, 8, 1, size, one, 0)
    managed = _Managed(tensor, None, _on_freed)
    _alive[ctypes.addressof(managed)] = (managed, (size, one), allocation)
    return torch._C._from_dlpack(_new_capsule(ctypes.addressof(managed), b"dltensor", None))  # type: ignore[no-any-return]


def take(memory: Any, size: int) -> None:
    """Reserve room for `size` more bytes: update the peak, not the allocated count. Raises OutOfMemoryError."""
    room = min(memory.cap, memory.total - memory.others) - memory.pools
    if memory.allocated + size > room:
        if not card.wddm or memory.allocated + memory.pools + size > memory.cap:
            raise torch.OutOfMemoryError(
                f"CUDA out of memory. Tried to allocate {size / 2**20:.2f} MiB. GPU {memory.index} has a total "
                f"capacity of {memory.total / 2**30:.2f} GiB of which {memory.free / 2**20:.2f} MiB is free."
            )
        memory.spilled = max(memory.spilled, memory.allocated + size - room)
    memory.peak = max(memory.peak, memory.allocated + size)


def allocation_of(tensor: Tensor) -> Allocation:
    """Return the allocation of a GPU tensor."""
    return card.allocations[tensor.untyped_storage().data_ptr()]


def on_host(tensor: Tensor) -> Tensor:
    """Return a host tensor of the same bytes."""
    flat = allocation_of(tensor).flat(tensor.dtype)
    return flat.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


def shaped(base: Tensor, like: Tensor) -> Tensor:
    """Return a view of GPU memory with the layout of a host tensor."""
    made = torch.ops.aten.alias(base) if base.dtype == like.dtype else base.view(like.dtype)
    return made.as_strided_(like.shape, like.stride(), like.storage_offset())


def refuse_wide(dtype: torch.dtype | None) -> None:
    """Raise TypeError for 64-bit floats on devices without them, such as Metal."""
    if dtype in (torch.float64, torch.complex128) and not card.kind.has_float64:
        name = card.kind.type.upper()
        raise TypeError(f"Cannot convert a {name} Tensor to {dtype} as the framework doesn't support it.")


def on_card(made: Tensor, device: int) -> Tensor:
    """Turn an operation's host result into a GPU tensor without copying."""
    refuse_wide(made.dtype)
    storage = made.untyped_storage()
    if storage.nbytes():
        host = torch.empty(0, dtype=torch.uint8).set_(storage)
    else:
        host = torch.empty(made.dtype.itemsize, dtype=torch.uint8)
    return shaped(adopt(host, device), made)


def span(tensor: Tensor) -> tuple[int, int]:
    """Return the first byte of its storage that a tensor touches, and one past the last."""
    if tensor.numel() == 0:
        return 0, 0
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    first, item = tensor.storage_offset(), tensor.element_size()
    return first * item, (first + last + 1) * item


def touch(tensor: Tensor, writes: bool, what: str) -> None:
    """Record that the current stream reads or writes a tensor, or will at each replay of a graph."""
    if card.capture is not None:
        card.capture.touched(tensor, writes, what)
        return
    allocation_of(tensor).touch(*span(tensor), writes, what)
