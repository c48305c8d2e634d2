"""State of the simulated GPU: its memory, streams, the host's waits, and injected faults."""

import sys
import threading
from bisect import insort
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

if TYPE_CHECKING:
    from fake_card.clocks import Clock, Stream
    from fake_card.graphs import CUDAGraph
    from fake_card.memory import Allocation

HERE = str(Path(__file__).parent)
TORCH = str(Path(torch.__file__).parent)
Workspace = Callable[[Sequence[Any], Any], int]  # an operation's arguments and result: bytes


class Hazard(RuntimeError):
    """Unordered accesses of two streams to the same bytes."""


class Device:
    """The memory of one device."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.total = self.cap = 2**34
        self.allocated = self.peak = self.requested = 0
        self.others = 0  # bytes held by other programs
        self.pools = 0  # bytes held by graphs besides those of tensors
        self.pieces = 0  # bytes that the allocator holds and that are unusable
        self.spilled = 0  # the largest amount spilled to shared memory

    @property
    def held(self) -> int:
        """Bytes that the allocator holds besides those of tensors."""
        return self.pools + self.pieces

    @property
    def free(self) -> int:
        """Bytes that are free."""
        return max(0, self.total - self.others - self.allocated - self.pools - self.pieces)


class Kind(NamedTuple):
    """A device type: its name in torch, its numbers in torch and DLPack, and whether it has 64-bit floats."""

    type: str
    number: int  # torch._C._autograd.DeviceType
    dlpack: int
    has_float64: bool


KINDS = {"cuda": Kind("cuda", 1, 2, True), "mps": Kind("mps", 13, 8, False)}


class Card:
    """The simulated GPU while `fake_card` is active; may consist of several devices."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._of_thread = threading.local()
        self.active = False
        self.kind = KINDS["cuda"]
        self.session = 0  # each session is a new GPU; objects of earlier sessions are ignored
        self.devices: list[Device] = [Device(0)]
        self.streams: list[Stream] = []
        self.allocations: dict[int, Allocation] = {}
        self.reset()

    def reset(self) -> None:
        """Reset counters and faults; allocations are kept."""
        self.waits: Counter[tuple[str, str]] = Counter()
        self.operations: Counter[str] = Counter()
        self.hazards: list[str] = []
        self.capture = None
        self.allocation_sizes: list[int] = []
        self.strict = True
        self.wddm = False
        self.workspace: Mapping[str, Workspace] = {}
        self.pinned: list[tuple[int, int]] = []
        self.refuses_pinning = False
        self.host_clock: Clock = {}
        self.host_version = 0
        self._fault: tuple[str, int, str, bool] | None = None
        self._sticky: str | None = None
        self.last_error: str | None = None
        for device in self.devices:
            device.peak = device.allocated

    # ---- devices and streams

    def index_of(self, device: Any) -> int:
        """Return a device's index, however it is specified; the current one for None."""
        if device is None:
            return getattr(self._of_thread, "device", 0)
        if isinstance(device, int):
            return device
        index = torch.device(device).index
        return getattr(self._of_thread, "device", 0) if index is None else index

    def device(self, device: Any = None) -> Device:
        """Return the memory of a device."""
        index = self.index_of(device)
        if not 0 <= index < len(self.devices):
            raise torch.AcceleratorError("CUDA error: invalid device ordinal")
        return self.devices[index]

    def set_device(self, device: Any) -> None:
        """Set the current device of this thread, as in CUDA."""
        self._of_thread.device = self.device(device).index

    def current_stream(self, device: Any = None) -> "Stream":
        """Return this thread's current stream on a device."""
        index = self.index_of(device)
        chosen = getattr(self._of_thread, "streams", {}).get(index)
        return chosen if chosen is not None and chosen in self.streams else self.streams[index]

    def set_stream(self, stream: "Stream") -> None:
        """Make this the current stream of this thread."""
        if not hasattr(self._of_thread, "streams"):
            self._of_thread.streams = {}
        self._of_thread.streams[stream.device_index] = stream

    # ---- graphs

    @property
    def capture(self) -> "CUDAGraph | None":
        """The graph that this thread is capturing."""
        return getattr(self._of_thread, "capture", None)

    @capture.setter
    def capture(self, graph: "CUDAGraph | None") -> None:
        self._of_thread.capture = graph

    def refuse_in_capture(self, what: str) -> None:
        """Raise for an operation that is illegal in a capture, and invalidate the capture."""
        if self.capture is not None:
            self.capture.invalid = what
            raise torch.AcceleratorError(f"CUDA error: operation not permitted when stream is capturing ({what})")

    # ---- waits of the host

    def host_waits(self, clock: "Clock", what: str) -> None:
        """Record that the host waited until everything in `clock` was done."""
        from fake_card.clocks import merge

        self.refuse_in_capture(what)
        merge(self.host_clock, clock)
        self.host_version += 1
        thread = threading.current_thread()
        where = caller() + ("" if thread is threading.main_thread() else f" in {thread.name}")
        self.waits[what, where] += 1

    def wait_for(self, stream: "Stream", what: str) -> None:
        """Make the host wait for a stream."""
        stream.run()
        self.host_waits(stream.clock, what)

    @property
    def waits_of_main_thread(self) -> int:
        """How often the computing thread waited."""
        return sum(times for (_, where), times in self.waits.items() if " in " not in where)

    # ---- pinned memory of the host

    def pin(self, address: int, size: int) -> bool:
        """Pin pages; if refused, return False and leave an error that the next check raises."""
        if self.refuses_pinning or self.wddm:
            self.last_error = "out of memory"
            return False
        insort(self.pinned, (address, address + size))
        return True

    def unpin(self, address: int) -> None:
        """Unpin pages."""
        self.pinned[:] = [each for each in self.pinned if each[0] != address]

    def is_pinned(self, tensor: torch.Tensor) -> bool:
        """Whether the tensor is entirely in pinned memory."""
        start = tensor.data_ptr()
        end = start + tensor.numel() * tensor.element_size()
        return any(low <= start and end <= high for low, high in self.pinned)

    # ---- faults

    def fail(
        self, operation: str, after: int = 0, error: str = "unspecified launch failure", lost: bool = True
    ) -> None:
        """Make an operation fail after `after` successes. If the device is lost, everything afterwards fails too."""
        self._fault = (operation, after, error, lost)

    def revive(self) -> None:
        """Clear all faults, as a new process would find the device."""
        self._fault = self._sticky = self.last_error = None

    def check(self, operation: str | None = None) -> None:
        """Raise pending errors: a lost device immediately, an error left by a refusal at the next launch."""
        if self._sticky is not None:
            raise torch.AcceleratorError(f"CUDA error: {self._sticky}")
        if operation is None:
            return
        if self.last_error is not None:
            error, self.last_error = self.last_error, None
            raise torch.AcceleratorError(f"CUDA error: {error}")
        if self._fault is not None and self._fault[0] in (operation, "*"):
            name, after, error, lost = self._fault
            if after:
                self._fault = (name, after - 1, error, lost)
                return
            self._fault = None
            self._sticky = error if lost else None
            raise torch.AcceleratorError(f"CUDA error: {error}")

    def hazard(self, text: str) -> None:
        """Record a hazard, and raise it if strict."""
        self.hazards.append(f"{text} ({caller()})")
        if self.strict:
            raise Hazard(self.hazards[-1])


def caller() -> str:
    """Return the innermost line of code outside torch and this plugin."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((HERE, TORCH)):
        frame = frame.f_back
    if frame is None:
        return "?"
    path = Path(frame.f_code.co_filename)
    return f"{path.parent.name}/{path.name}:{frame.f_lineno}"


card = Card()
