"""The machine: devices, dtypes, threads, memory."""

import ctypes
import gc
import importlib.metadata
import platform
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint import __version__
from mezzotint.errors import NoDevice, NoEngine, UsageError
from mezzotint.gpu import gpu, gpus, index_of, opened_gpu
from mezzotint.protocol import DeviceInfo, Dtype

if TYPE_CHECKING:
    import torch

_LIBRARIES = ("torch", "diffusers", "transformers", "safetensors", "pillow")


def versions() -> dict[str, str]:
    """Versions of everything that can change a pixel, as far as it is installed."""
    found = {"mezzotint": __version__, "python": platform.python_version()}
    return found | {name: version for name in _LIBRARIES if (version := _version(name)) is not None}


def engine_versions() -> dict[str, str]:
    """Versions of everything that can change a pixel; raises NoEngine if a part is not installed."""
    found = versions()
    if missing := missing_libraries(found):
        raise NoEngine(missing)
    return found


def missing_libraries(found: Mapping[str, str]) -> tuple[str, ...]:
    """The libraries without which no image is made and that are not among these."""
    return tuple(name for name in _LIBRARIES if name not in found)


@cache  # needed by every job; constant once imported
def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def devices() -> tuple[DeviceInfo, ...]:
    """The devices that torch can use, best first."""
    import psutil

    cpu = DeviceInfo(id="cpu", name=_cpu_name(), memory_bytes=int(psutil.virtual_memory().total))
    found = (
        DeviceInfo(id=name, name=one.name(index), memory_bytes=one.total_bytes(index)) for name, one, index in gpus()
    )
    return (*found, cpu)


def _cpu_name() -> str:
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def choose_device(wanted: str, available: tuple[DeviceInfo, ...]) -> DeviceInfo:
    """The device named `wanted`, or the best one for `auto`; raises NoDevice listing the devices."""
    if wanted == "auto":
        return available[0]
    for device in available:
        if device.id == wanted or device.id == f"{wanted}:0":
            return device
    names = ", ".join(device.id for device in available)
    raise NoDevice(f"there is no device {wanted!r}; this machine has: {names} (`mezzotint doctor` shows more)")


def choose_dtype(wanted: Dtype, device: DeviceInfo) -> Dtype:
    """The dtype of weights and matmuls: float32 on a CPU, 16 bits on a GPU."""
    if wanted != "auto":
        return wanted
    if device.id == "cpu":
        return "float32"
    found = gpu(device.id)
    return "bfloat16" if found is not None and found.has_bfloat16(index_of(device.id)) else "float16"


def accumulates_in_float16(wanted: Dtype, device: DeviceInfo) -> bool:
    """Whether the device can accumulate float16 matmuls in float16; raises UsageError for another dtype."""
    if wanted not in ("auto", "float16"):
        raise UsageError(
            f"--fast means float16 with float16 accumulation, but dtype is {wanted}; leave one of them out"
        )
    found = gpu(device.id)
    return found is not None and found.is_nvidia


def release_memory(library: Callable[[], object] = lambda: ctypes.CDLL(None)) -> None:
    """Return freed memory to the system, of which allocators keep a part: objects in cycles, the C heap, GPU caches."""
    gc.collect()
    if "torch" in sys.modules and (opened := opened_gpu(sys.modules["torch"])) is not None:
        opened.empty_cache()
    if sys.platform == "linux":
        trim = getattr(library(), "malloc_trim", None)  # of glibc; others return memory by themselves
        if trim is not None:
            trim(0)


class PeakMemory:
    """Peak memory since construction."""

    def __init__(self, device: "torch.device") -> None:
        self._gpu, self._index = gpu(device.type), device.index or 0
        if self._gpu is not None:
            self._gpu.reset_peak(self._index)
        if sys.platform == "linux":
            try:
                Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM: proc(5)
            except OSError:
                return  # the peak is then the whole process's: never too small

    def ram_bytes(self) -> int:
        """The process's peak RAM in bytes."""
        if sys.platform == "linux":
            for line in Path("/proc/self/status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
        return _peak_elsewhere()

    def vram_bytes(self) -> int | None:
        """Torch's peak memory on the GPU; None without a GPU that reports it."""
        return self._gpu.peak_bytes(self._index) if self._gpu is not None and self._gpu.measures else None


def _peak_elsewhere() -> int:
    if sys.platform == "win32":
        import psutil

        return int(psutil.Process().memory_info().peak_wset)
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
