"""Graphics processors as torch drives them: NVIDIA's and AMD's as `cuda`, Intel's as `xpu`, Apple's as `mps`.

The one place that knows which of them has what. Nothing here loads torch before it is asked for a device.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

Torch: TypeAlias = Any  # the module, or a test's

TYPES = ("cuda", "xpu", "mps")  # best first
_OWN_KERNELS = "our own kernels"
_PINNING = "page-locked memory"
_STREAMS = "copies beside computing"
_STATISTICS = "statistics of memory"


class Gpu:
    """What torch.cuda and torch.xpu, which have the same functions, tell of their devices."""

    def __init__(self, device_type: str, torch: Torch) -> None:
        self.type, self._torch = device_type, torch
        self._module = getattr(torch, device_type)

    @property
    def is_nvidia(self) -> bool:
        """Whether it is CUDA itself, which our kernels are made of."""
        return self.type == "cuda" and not getattr(self._torch.version, "hip", None)

    @property
    def has_streams(self) -> bool:
        """Whether copies go on streams of their own, from pages that are locked."""
        return self.type == "cuda"

    @property
    def measures(self) -> bool:
        """Whether it tells the most memory that was in use."""
        return True

    @property
    def lacks(self) -> tuple[str, ...]:
        """What is done in a plainer way than on an NVIDIA card."""
        own = () if self.is_nvidia else (_OWN_KERNELS,)
        return own if self.has_streams else (*own, _PINNING, _STREAMS)

    def count(self) -> int:
        """How many there are."""
        return int(self._module.device_count()) if self._module.is_available() else 0

    def name(self, index: int) -> str:
        """The device's name, as the driver has it."""
        return str(self.properties(index).name)

    def properties(self, index: int) -> Any:  # noqa: ANN401  which torch does not publish
        """All that the driver tells of one."""
        return self._module.get_device_properties(index)

    def shares_ram(self, index: int) -> bool:
        """Whether its memory is the machine's: a part of a processor."""
        found = self.properties(index)
        return bool(getattr(found, "is_integrated", False) or getattr(found, "is_integrated_gpu", False))

    def architecture(self, index: int) -> str:
        """By which its speed is known: sm_86, gfx1100, xe."""
        found = self.properties(index)
        if self.type == "xpu":
            return "xe"
        return f"sm_{found.major}{found.minor}" if self.is_nvidia else str(found.gcnArchName).partition(":")[0]

    def processors(self, index: int) -> int:
        """Of one, as its speed is counted by."""
        found = self.properties(index)
        return int(found.gpu_subslice_count if self.type == "xpu" else found.multi_processor_count)

    def has_bfloat16(self, index: int) -> bool:
        """Whether it computes in bfloat16, and not by way of other formats."""
        if self.type == "xpu":
            return bool(self._module.is_bf16_supported())
        return not self.is_nvidia or bool(self.properties(index).major >= 8)  # Ampere

    def total_bytes(self, index: int) -> int:
        """Of memory that torch may have."""
        return int(self.properties(index).total_memory)

    def free_bytes(self, index: int) -> int:
        """Bytes that are free now."""
        try:
            return int(self._module.mem_get_info(index)[0])
        except RuntimeError:
            if self.type != "xpu":
                raise
            return max(0, self.total_bytes(index) - self.held_bytes(index))  # some drivers of Intel's do not tell

    def held_bytes(self, index: int) -> int:
        """That torch holds in this process, in use or not."""
        return int(self._module.memory_reserved(index))

    def peak_bytes(self, index: int) -> int:
        """The most that tensors took since the last reset."""
        return int(self._module.max_memory_allocated(index))

    def reset_peak(self, index: int) -> None:
        """Reset the peak."""
        self._module.reset_peak_memory_stats(index)

    def limit(self, share: float, index: int) -> None:
        """Have torch refuse what is beyond a share of the memory."""
        limit = getattr(self._module, "set_per_process_memory_fraction", None)  # which not every torch has for Intel's
        if limit is not None:
            limit(share, index)

    @contextmanager
    def summing_in_float16(self) -> Iterator[None]:
        """Have products of float16 summed in float16 inside, which GeForce cards do in half the time."""
        products = self._torch.backends.cuda.matmul
        before, products.allow_fp16_accumulation = products.allow_fp16_accumulation, True
        try:
            yield
        finally:
            products.allow_fp16_accumulation = before

    def empty_cache(self) -> None:
        """Give back to the driver what torch holds and does not use."""
        self._module.empty_cache()

    def is_open(self) -> bool:
        """Whether this process has used it; asking opens nothing."""
        return bool(self._module.is_initialized())

    def synchronize(self, index: int) -> None:
        """Wait until it has done what it was asked for."""
        self._module.synchronize(index)


class AppleGpu(Gpu):
    """torch.mps: one device, in the machine's RAM, with neither streams nor statistics."""

    has_streams = False
    measures = False
    lacks = (_OWN_KERNELS, _PINNING, _STREAMS, _STATISTICS)

    def count(self) -> int:
        """One, or none."""
        return int(self._torch.backends.mps.is_available())

    def name(self, index: int) -> str:  # noqa: ARG002  there is one
        """The backend gives no name."""
        return "Apple GPU"

    def shares_ram(self, index: int) -> bool:  # noqa: ARG002  there is one
        """Always true."""
        return True

    def architecture(self, index: int) -> str:  # noqa: ARG002  there is one
        """Unknown: the backend does not tell architectures apart."""
        return "apple"

    def processors(self, index: int) -> int:  # noqa: ARG002  there is one
        """Metal does not tell: counted as those of a small one."""
        return 1

    def has_bfloat16(self, index: int) -> bool:  # noqa: ARG002  there is one
        """Not before macOS 14, and no faster since."""
        return False

    def total_bytes(self, index: int) -> int:  # noqa: ARG002  there is one
        """What Metal recommends as the most."""
        return int(self._module.recommended_max_memory())

    def free_bytes(self, index: int) -> int:
        """Of it, what this process has not taken; what others hold is seen in RAM."""
        return max(0, self.total_bytes(index) - self.held_bytes(index))

    def held_bytes(self, index: int) -> int:  # noqa: ARG002  there is one
        """By Metal's driver, for this process."""
        return int(self._module.driver_allocated_memory())

    def reset_peak(self, index: int) -> None:
        """The backend measures no peak."""

    def limit(self, share: float, index: int) -> None:
        """Metal limits itself."""

    def synchronize(self, index: int) -> None:  # noqa: ARG002  there is one
        """Wait until it has done what it was asked for."""
        self._module.synchronize()

    def is_open(self) -> bool:
        """Where it is there, its driver is open."""
        return self.count() > 0


def gpu(device: str, torch: Torch = None) -> Gpu | None:
    """The backend of a device of that name; None: the device is the processor."""
    kind = device.partition(":")[0]
    if kind not in TYPES:
        return None
    if torch is None:
        import torch
    return (AppleGpu if kind == "mps" else Gpu)(kind, torch)


def gpus(torch: Torch = None) -> Iterator[tuple[str, Gpu, int]]:
    """Every device that is here, best first: its name, backend and number there."""
    for kind in TYPES:
        found = gpu(kind, torch)
        if found is not None:
            yield from ((kind if kind == "mps" else f"{kind}:{index}", found, index) for index in range(found.count()))


def opened_gpu(torch: Torch) -> Gpu | None:
    """The backend that this process uses; asking opens none, and torch may be half imported by another thread."""
    for kind in TYPES:
        try:
            found = gpu(kind, torch)
            if found is not None and found.is_open():
                return found
        except AttributeError:
            continue
    return None


def runs_kernels(device: str, device_type: str = "cuda") -> bool:
    """Whether kernels for a type of devices run on one of that name: those made of CUDA do on NVIDIA's alone."""
    if device.partition(":")[0] != device_type:
        return False
    found = gpu(device)
    return found is None or found.type != "cuda" or found.is_nvidia


def index_of(device: str) -> int:
    """The index of a device within its backend."""
    return int(device.partition(":")[2] or 0)
