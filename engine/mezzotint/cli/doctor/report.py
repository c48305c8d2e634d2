"""Data of `mezzotint doctor`: the machine, its libraries, folders and models."""

import importlib.util
import os
import platform
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint import machine, paths
from mezzotint.cli.doctor.kernels import KernelReport, kernel_report
from mezzotint.cli.doctor.repair import has_bootstrap
from mezzotint.cli.doctor.system_libraries import how_to_install, missing_libraries
from mezzotint.errors import NoEngine
from mezzotint.gpu import gpus
from mezzotint.protocol import DeviceInfo

if TYPE_CHECKING:
    from mezzotint.catalog import Catalog

CUDA_WHEELS = "https://download.pytorch.org/whl/cu130"
_OPTIONAL = {"PySide6": "the window"}
_LOW_DISK = 2 << 30  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchFacts:
    """Version, build and devices of torch."""

    version: str
    cuda: str | None  # the CUDA version it is built for
    devices: tuple[DeviceInfo, ...]
    rocm: str | None = None  # the ROCm version it is built for
    lacks: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by device: features an NVIDIA GPU would have


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderFacts:
    """A folder that Mezzotint uses."""

    name: str
    path: str
    exists: bool
    free_bytes: int | None  # None if unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorReport:
    """Everything that helps to diagnose a broken installation."""

    versions: dict[str, str]
    platform: str
    python: str
    torch: TorchFacts | None
    nvidia_card: bool
    kernels: KernelReport
    folders: tuple[FolderFacts, ...]
    models: int
    models_refused: int
    optional: dict[str, bool]
    warnings: tuple[str, ...]


def torch_facts() -> TorchFacts:
    """Import torch and collect its facts."""
    import torch

    return TorchFacts(
        version=torch.__version__,
        cuda=torch.version.cuda,
        devices=machine.devices(),
        rocm=getattr(torch.version, "hip", None),
        lacks={name: found.missing_features for name, found, _ in gpus() if found.missing_features},
    )


def has_nvidia_card(
    which: Callable[[str], str | None] = shutil.which, exists: Callable[[str], bool] = os.path.exists
) -> bool:
    """Whether an NVIDIA GPU and its driver are present, independent of torch."""
    if exists("/proc/driver/nvidia/version") or which("nvidia-smi") is not None:
        return True
    system = os.environ.get("SYSTEMROOT")
    return system is not None and exists(str(Path(system, "System32", "nvml.dll")))


def is_importable(name: str) -> bool:
    """Whether a package is installed, without importing it."""
    return importlib.util.find_spec(name) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Probes:
    """Probes that collect the data of the report; tests substitute their own."""

    torch: Callable[[], TorchFacts] = torch_facts
    nvidia_card: Callable[[], bool] = has_nvidia_card
    kernels: Callable[[Sequence[DeviceInfo]], KernelReport] = kernel_report
    versions: Callable[[], dict[str, str]] = machine.versions
    installed: Callable[[str], bool] = is_importable
    system_libraries: Callable[[], Sequence[str]] = missing_libraries
    free: Callable[[Path], int] = field(default=lambda path: shutil.disk_usage(path).free)


def examine(catalog: "Catalog", probes: Probes) -> DoctorReport:
    """Run every probe; a failing one becomes a warning."""
    warnings: list[str] = []
    torch = _torch(probes, warnings)
    card = probes.nvidia_card()
    if torch is not None and card and not any(device.id.startswith("cuda") for device in torch.devices):
        warnings.append(_no_cuda(torch))
    kernels = probes.kernels(() if torch is None else torch.devices)
    warnings.extend(_wrong_kernels(kernels, torch))
    warnings.extend(_no_window(probes))
    models = catalog.models()
    warnings.extend(catalog.notices())
    folders = _folders(probes, warnings)
    return DoctorReport(
        versions=_versions(probes, warnings),
        platform=platform.platform(),
        python=sys.executable,
        torch=torch,
        nvidia_card=card,
        kernels=kernels,
        folders=folders,
        models=sum(model.problem is None for model in models),
        models_refused=sum(model.problem is not None for model in models),
        optional={name: probes.installed(name) for name in _OPTIONAL},
        warnings=tuple(warnings),
    )


def _torch(probes: Probes, warnings: list[str]) -> TorchFacts | None:
    try:
        return probes.torch()
    except (ImportError, OSError, RuntimeError) as error:  # its libraries are incompatible
        if isinstance(error, ModuleNotFoundError) and error.name == "torch":
            return None  # reported with the other libraries
        warnings.append(f"torch cannot be loaded ({type(error).__name__}: {error}): reinstall Mezzotint")
        return None


def _versions(probes: Probes, warnings: list[str]) -> dict[str, str]:
    found = probes.versions()
    if missing := machine.missing_libraries(found):
        warnings.append(str(NoEngine(missing)))
    return found


def _no_window(probes: Probes) -> Iterator[str]:
    """Yield a warning if Qt would end the program instead of showing a window."""
    if missing := probes.system_libraries():
        yield f"the window cannot open for want of {', '.join(missing)}; install them: {how_to_install(missing)}"


def _no_cuda(torch: TorchFacts) -> str:
    if torch.cuda is not None:
        return (
            f"an NVIDIA card is present and torch is built for CUDA {torch.cuda}, but it finds no device: "
            "update the card's driver, and check `nvidia-smi`"
        )
    if has_bootstrap():
        return (
            f"an NVIDIA card is present, but torch {torch.version} is built without CUDA: "
            "choose the engine for it in the window's settings"
        )
    release = re.match(r"[0-9.]+", torch.version)
    wanted = f"torch=={release[0]}" if release else "torch"
    return (
        f"an NVIDIA card is present, but torch {torch.version} is built without CUDA; get it with: "
        f"{sys.executable} -m pip install --force-reinstall {wanted} --index-url {CUDA_WHEELS}"
    )


def _wrong_kernels(kernels: KernelReport, torch: TorchFacts | None) -> Iterator[str]:
    """Yield warnings if both the kernel library and a CUDA device are present but the kernels are unusable."""
    library = kernels.library
    if torch is None or torch.rocm is not None or not any(each.id.startswith("cuda") for each in torch.devices):
        return
    if not library.installed:
        return
    if library.problem is not None:
        yield f"the CUDA kernels cannot be used, so attention and quantized matmuls use torch's: {library.problem}"
    for name in kernels.failed:
        yield f"the CUDA kernels are not used for {name}: {kernels.self_tests[name]}"


def _folders(probes: Probes, warnings: list[str]) -> tuple[FolderFacts, ...]:
    named = {
        "models": paths.models_folder(),
        "settings": paths.config_folder(),
        "cache": paths.cache_folder(),
        "Hugging Face cache": paths.huggingface_cache(),
        "bundled": paths.assets_folder(),
        "this folder": Path.cwd(),
    }
    found = tuple(_folder(name, path, probes) for name, path in named.items())
    warnings.extend(
        f"little disk space is left for {folder.name} at {folder.path}"
        for folder in found
        if folder.free_bytes is not None and folder.free_bytes < _LOW_DISK
    )
    return found


def _folder(name: str, path: Path, probes: Probes) -> FolderFacts:
    exists = path.is_dir()
    there = next((parent for parent in (path, *path.parents) if parent.is_dir()), None)
    try:
        free = probes.free(there) if there is not None else None
    except OSError:
        free = None
    return FolderFacts(name=name, path=str(path), exists=exists, free_bytes=free)
