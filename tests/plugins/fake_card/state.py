"""What a card that is not there knows: its bytes, its streams, what the host waited for, and what is wrong with it."""

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
Workspace = Callable[[Sequence[Any], Any], int]  # an operation's arguments and what it gave: bytes


class Hazard(RuntimeError):
    """Two streams touch the same bytes in no order."""


class Device:
    """The memory of one card."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.total = self.cap = 2**34
        self.allocated = self.peak = self.requested = 0
        self.others = 0  # bytes that other programs hold
        self.pools = 0  # bytes that graphs hold beside what tensors do
        self.pieces = 0  # bytes that the allocator holds and nobody can use
        self.spilled = 0  # the most that did not fit, and went to shared memory

    @property
    def held(self) -> int:
        """Bytes that the allocator holds beside those of tensors."""
        return self.pools + self.pieces

    @property
    def free(self) -> int:
        """Bytes that nobody holds."""
        return max(0, self.total - self.others - self.allocated - self.pools - self.pieces)


class Kind(NamedTuple):
    """A type of devices: torch's name, its number there and in DLPack, and whether it has numbers of 64 bits."""

    type: str
    number: int  # torch._C._autograd.DeviceType
    dlpack: int
    has_float64: bool


KINDS = {"cuda": Kind("cuda", 1, 2, True), "mps": Kind("mps", 13, 8, False)}


class Card:
    """The one that is here, while `fake_card` is active; of several devices where that says so."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._of_thread = threading.local()
        self.active = False
        self.kind = KINDS["cuda"]
        self.session = 0  # each is another card; what is kept of one that is gone counts for nothing
        self.devices: list[Device] = [Device(0)]
        self.streams: list[Stream] = []
        self.allocations: dict[int, Allocation] = {}
        self.reset()

    def reset(self) -> None:
        """Forget what was counted, and all faults; what is allocated stays."""
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
        """The number of a device, however it is named; of the current one for None."""
        if device is None:
            return getattr(self._of_thread, "device", 0)
        if isinstance(device, int):
            return device
        index = torch.device(device).index
        return getattr(self._of_thread, "device", 0) if index is None else index

    def device(self, device: Any = None) -> Device:
        """The memory of a device."""
        index = self.index_of(device)
        if not 0 <= index < len(self.devices):
            raise torch.AcceleratorError("CUDA error: invalid device ordinal")
        return self.devices[index]

    def set_device(self, device: Any) -> None:
        """Of this thread, as CUDA has it."""
        self._of_thread.device = self.device(device).index

    def current_stream(self, device: Any = None) -> "Stream":
        """Of this thread and a device."""
        index = self.index_of(device)
        chosen = getattr(self._of_thread, "streams", {}).get(index)
        return chosen if chosen is not None and chosen in self.streams else self.streams[index]

    def set_stream(self, stream: "Stream") -> None:
        """Queue on that stream from now on, in this thread."""
        if not hasattr(self._of_thread, "streams"):
            self._of_thread.streams = {}
        self._of_thread.streams[stream.device_index] = stream

    # ---- graphs

    @property
    def capture(self) -> "CUDAGraph | None":
        """What this thread captures."""
        return getattr(self._of_thread, "capture", None)

    @capture.setter
    def capture(self, graph: "CUDAGraph | None") -> None:
        self._of_thread.capture = graph

    def refuse_in_capture(self, what: str) -> None:
        """Fail what a capture cannot hold, and the capture with it."""
        if self.capture is not None:
            self.capture.invalid = what
            raise torch.AcceleratorError(f"CUDA error: operation not permitted when stream is capturing ({what})")

    # ---- what the host waits for

    def host_waits(self, clock: "Clock", what: str) -> None:
        """The host has waited until all that the clock saw was done."""
        from fake_card.clocks import merge

        self.refuse_in_capture(what)
        merge(self.host_clock, clock)
        self.host_version += 1
        thread = threading.current_thread()
        where = caller() + ("" if thread is threading.main_thread() else f" in {thread.name}")
        self.waits[what, where] += 1

    def wait_for(self, stream: "Stream", what: str) -> None:
        """The host waits for a stream."""
        stream.run()
        self.host_waits(stream.clock, what)

    @property
    def waits_of_main_thread(self) -> int:
        """How often the thread that computes waited."""
        return sum(times for (_, where), times in self.waits.items() if " in " not in where)

    # ---- page-locked memory of the host

    def pin(self, address: int, size: int) -> bool:
        """Lock pages; False where it refuses, and then an error stays behind until something asks for it."""
        if self.refuses_pinning or self.wddm:
            self.last_error = "out of memory"
            return False
        insort(self.pinned, (address, address + size))
        return True

    def unpin(self, address: int) -> None:
        """Unlock."""
        self.pinned[:] = [each for each in self.pinned if each[0] != address]

    def is_pinned(self, tensor: torch.Tensor) -> bool:
        """Whether a card could fetch all of it by itself."""
        start = tensor.data_ptr()
        end = start + tensor.numel() * tensor.element_size()
        return any(low <= start and end <= high for low, high in self.pinned)

    # ---- faults

    def fail(
        self, operation: str, after: int = 0, error: str = "unspecified launch failure", lost: bool = True
    ) -> None:
        """Have an operation fail, after some that do not. Where the device is lost, so does all that comes after."""
        self._fault = (operation, after, error, lost)

    def revive(self) -> None:
        """As a new process would find it."""
        self._fault = self._sticky = self.last_error = None

    def check(self, operation: str | None = None) -> None:
        """Raise what is wrong: a lost device at once, what a refusal left behind at the next launch."""
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
        """Note it, and raise where that is wanted."""
        self.hazards.append(f"{text} ({caller()})")
        if self.strict:
            raise Hazard(self.hazards[-1])


def caller() -> str:
    """The line that is neither torch's nor this plugin's."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((HERE, TORCH)):
        frame = frame.f_back
    if frame is None:
        return "?"
    path = Path(frame.f_code.co_filename)
    return f"{path.parent.name}/{path.name}:{frame.f_lineno}"


card = Card()
