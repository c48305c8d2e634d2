"""Diagnostics: library, driver, devices. Never raises, since it is used when something is wrong."""

import ctypes
from dataclasses import dataclass

from mezzotint_kernels.abi import DeviceStruct
from mezzotint_kernels.errors import KernelsError
from mezzotint_kernels.library import Library, library


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceInfo:
    """A CUDA device as the library sees it."""

    ordinal: int
    name: str
    capability: tuple[int, int]
    multiprocessors: int
    shared_bytes: int  # per block


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelsInfo:
    """What is installed; str() formats it as a few lines."""

    library: str | None
    version: str | None
    abi: int | None
    architectures: tuple[str, ...]
    driver: str | None  # newest CUDA version that the driver supports, such as 13.0
    devices: tuple[DeviceInfo, ...]
    problem: str | None  # why no kernel can run here; None if one can

    def __str__(self) -> str:
        lines = [
            f"library        {self.library or 'none'}",
            f"version        {self.version or 'unknown'}" + (f" (ABI {self.abi})" if self.abi is not None else ""),
            f"architectures  {' '.join(self.architectures) or 'none'}",
            f"driver         {f'CUDA {self.driver}' if self.driver else 'none'}",
        ]
        for device in self.devices:
            major, minor = device.capability
            lines.append(
                f"device {device.ordinal}       {device.name}: compute capability {major}.{minor}, "
                f"{device.multiprocessors} multiprocessors, {device.shared_bytes // 1024} KB for a block"
            )
        if self.problem is not None:
            lines.append(f"not usable     {self.problem}")
        return "\n".join(lines)


def info() -> KernelsInfo:
    """Return library, driver and devices; what is missing is described in `problem`, never raised."""
    try:
        opened = library()
    except KernelsError as error:
        return KernelsInfo(
            library=None, version=None, abi=None, architectures=(), driver=None, devices=(), problem=str(error)
        )
    version, count = ctypes.c_int32(), ctypes.c_int32()
    problem = None
    devices: tuple[DeviceInfo, ...] = ()
    try:
        opened.check(opened.driver(ctypes.byref(version), ctypes.byref(count)))
        devices = tuple(device_info(opened, ordinal) for ordinal in range(count.value))
    except KernelsError as error:
        problem = str(error)
    return KernelsInfo(
        library=str(opened.path),
        version=opened.version,
        abi=opened.abi,
        architectures=opened.architectures,
        driver=f"{version.value // 1000}.{version.value % 1000 // 10}" if version.value else None,
        devices=devices,
        problem=problem,
    )


def device_info(opened: Library, ordinal: int) -> DeviceInfo:
    """Return a device's properties. Raises KernelsUnavailable if it does not exist."""
    struct = DeviceStruct()
    opened.check(opened.device(ordinal, ctypes.byref(struct)))
    return DeviceInfo(
        ordinal=ordinal,
        name=struct.name.decode("utf-8", "replace"),
        capability=(struct.major, struct.minor),
        multiprocessors=struct.multiprocessors,
        shared_bytes=struct.shared_bytes,
    )
