"""GPU backends of torch: NVIDIA's and AMD's as `cuda`, Intel's as `xpu`, Apple's as `mps`.

The only module that knows their differences. Imports torch only when a device is requested.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

Torch: TypeAlias = Any  # the torch module, or a test double

TYPES = ("cuda", "xpu", "mps")  # best first
_OWN_KERNELS = "Mezzotint's own kernels"
_PINNING = "page-locked memory"
_STREAMS = "asynchronous copies"
_STATISTICS = "memory statistics"


class Gpu:
    """A wrapper around torch.cuda and torch.xpu, which have the same functions."""

    def __init__(self, device_type: str, torch: Torch) -> None:
        self.type, self._torch = device_type, torch
        self._module = getattr(torch, device_type)

    @property
    def is_nvidia(self) -> bool:
        """Whether it is NVIDIA CUDA, which our kernels need."""
        return self.type == "cuda" and not getattr(self._torch.version, "hip", None)

    @property
    def has_streams(self) -> bool:
        """Whether copies can run on separate streams from page-locked memory."""
        return self.type == "cuda"

    @property
    def measures(self) -> bool:
        """Whether it reports peak memory."""
        return True

    @property
    def missing_features(self) -> tuple[str, ...]:
        """Features of NVIDIA cards that are missing here."""
        own = () if self.is_nvidia else (_OWN_KERNELS,)
        return own if self.has_streams else (*own, _PINNING, _STREAMS)

    def count(self) -> int:
        """Number of devices."""
        return int(self._module.device_count()) if self._module.is_available() else 0

    def name(self, index: int) -> str:
        """The device's name from the driver."""
        return str(self.properties(index).name)

    def properties(self, index: int) -> Any:  # noqa: ANN401  a type that torch does not publish
        """The driver's properties of a device."""
        return self._module.get_device_properties(index)

    def shares_ram(self, index: int) -> bool:
        """Whether it is integrated and uses the machine's RAM."""
        found = self.properties(index)
        return bool(getattr(found, "is_integrated", False) or getattr(found, "is_integrated_gpu", False))

    def architecture(self, index: int) -> str:
        """The architecture, used to look up its speed: sm_86, gfx1100, xe."""
        found = self.properties(index)
        if self.type == "xpu":
            return "xe"
        return f"sm_{found.major}{found.minor}" if self.is_nvidia else str(found.gcnArchName).partition(":")[0]

    def processors(self, index: int) -> int:
        """Number of multiprocessors (Intel: subslices) of a device."""
        found = self.properties(index)
        return int(found.gpu_subslice_count if self.type == "xpu" else found.multi_processor_count)

    def has_bfloat16(self, index: int) -> bool:
        """Whether it computes in bfloat16 natively."""
        if self.type == "xpu":
            return bool(self._module.is_bf16_supported())
        return not self.is_nvidia or bool(self.properties(index).major >= 8)  # Ampere

    def total_bytes(self, index: int) -> int:
        """Bytes of memory available to torch."""
        return int(self.properties(index).total_memory)

    def free_bytes(self, index: int) -> int:
        """Bytes currently free."""
        try:
            return int(self._module.mem_get_info(index)[0])
        except RuntimeError:
            if self.type != "xpu":
                raise
            return max(0, self.total_bytes(index) - self.held_bytes(index))  # some Intel drivers do not report it

    def held_bytes(self, index: int) -> int:
        """Bytes reserved by torch in this process, in use or not."""
        return int(self._module.memory_reserved(index))

    def peak_bytes(self, index: int) -> int:
        """Peak bytes allocated by tensors since the last reset."""
        return int(self._module.max_memory_allocated(index))

    def reset_peak(self, index: int) -> None:
        """Reset the peak."""
        self._module.reset_peak_memory_stats(index)

    def limit(self, share: float, index: int) -> None:
        """Limit torch to a fraction of the memory."""
        limit = getattr(self._module, "set_per_process_memory_fraction", None)  # not available for Intel in every torch
        if limit is not None:
            limit(share, index)

    @contextmanager
    def accumulating_in_float16(self) -> Iterator[None]:
        """Context manager: float16 matmuls accumulate in float16, which GeForce cards do in half the time."""
        products = self._torch.backends.cuda.matmul
        before, products.allow_fp16_accumulation = products.allow_fp16_accumulation, True
        try:
            yield
        finally:
            products.allow_fp16_accumulation = before

    def empty_cache(self) -> None:
        """Release torch's unused cached memory to the driver."""
        self._module.empty_cache()

    def is_open(self) -> bool:
        """Whether this process has initialized the backend; does not initialize it."""
        return bool(self._module.is_initialized())

    def synchronize(self, index: int) -> None:
        """Wait until the device has finished its work."""
        self._module.synchronize(index)


class AppleGpu(Gpu):
    """torch.mps: one device in the machine's RAM, without streams or statistics."""

    has_streams = False
    measures = False
    missing_features = (_OWN_KERNELS, _PINNING, _STREAMS, _STATISTICS)

    def count(self) -> int:
        """One or zero."""
        return int(self._torch.backends.mps.is_available())

    def name(self, index: int) -> str:  # noqa: ARG002  there is one
        """A fixed name, as the backend gives none."""
        return "Apple GPU"

    def shares_ram(self, index: int) -> bool:  # noqa: ARG002  there is one
        """Always true."""
        return True

    def architecture(self, index: int) -> str:  # noqa: ARG002  there is one
        """A fixed value, as the backend does not distinguish architectures."""
        return "apple"

    def processors(self, index: int) -> int:  # noqa: ARG002  there is one
        """One, as Metal does not report it: treated as a small GPU."""
        return 1

    def has_bfloat16(self, index: int) -> bool:  # noqa: ARG002  there is one
        """False: not before macOS 14, and no faster since."""
        return False

    def total_bytes(self, index: int) -> int:  # noqa: ARG002  there is one
        """Metal's recommended maximum."""
        return int(self._module.recommended_max_memory())

    def free_bytes(self, index: int) -> int:
        """The maximum minus what this process holds; memory held by others shows up in RAM."""
        return max(0, self.total_bytes(index) - self.held_bytes(index))

    def held_bytes(self, index: int) -> int:  # noqa: ARG002  there is one
        """Bytes allocated by Metal's driver for this process."""
        return int(self._module.driver_allocated_memory())

    def reset_peak(self, index: int) -> None:
        """The backend measures no peak."""

    def limit(self, share: float, index: int) -> None:
        """Metal limits itself."""

    def synchronize(self, index: int) -> None:  # noqa: ARG002  there is one
        """Wait until the device has finished its work."""
        self._module.synchronize()

    def is_open(self) -> bool:
        """Always open if present."""
        return self.count() > 0


def gpu(device: str, torch: Torch = None) -> Gpu | None:
    """The backend for a device name; None for the CPU."""
    kind = device.partition(":")[0]
    if kind not in TYPES:
        return None
    if torch is None:
        import torch
    return (AppleGpu if kind == "mps" else Gpu)(kind, torch)


def gpus(torch: Torch = None) -> Iterator[tuple[str, Gpu, int]]:
    """All devices, best first: name, backend and index."""
    for kind in TYPES:
        found = gpu(kind, torch)
        if found is not None:
            yield from ((kind if kind == "mps" else f"{kind}:{index}", found, index) for index in range(found.count()))


def opened_gpu(torch: Torch) -> Gpu | None:
    """The backend in use by this process; initializes none, and torch may be half imported by another thread."""
    for kind in TYPES:
        try:
            found = gpu(kind, torch)
            if found is not None and found.is_open():
                return found
        except AttributeError:
            continue
    return None


def runs_kernels(device: str, device_type: str = "cuda") -> bool:
    """Whether kernels built for `device_type` run on `device`; CUDA kernels run on NVIDIA only."""
    if device.partition(":")[0] != device_type:
        return False
    found = gpu(device)
    return found is None or found.type != "cuda" or found.is_nvidia


def has_tcgen05(device: str, torch: Torch = None) -> bool:
    """Whether it is NVIDIA's data-center Blackwell (10.x), whose fast products torch uses and our kernels do not."""
    found = gpu(device, torch)
    return found is not None and found.is_nvidia and found.architecture(index_of(device)).startswith("sm_10")


def index_of(device: str) -> int:
    """The index of a device within its backend."""
    return int(device.partition(":")[2] or 0)
