"""The graphics adapters of Windows, asked through DXGI's COM interface."""

import ctypes
from collections.abc import Callable
from ctypes import POINTER, Structure, byref, c_size_t, c_uint32, c_ushort, c_void_p, c_wchar
from dataclasses import dataclass
from typing import Any

_SOFTWARE = 2  # DXGI_ADAPTER_FLAG_SOFTWARE
_RELEASE, _GET_DESC1, _ENUM_ADAPTERS1 = 2, 10, 12  # positions in the tables of methods
_FACTORY1 = (0x770AAE78, 0xF26F, 0x4DBA, (0xA8, 0x29, 0x25, 0x3C, 0x83, 0xD1, 0xB3, 0x87))


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """A graphics adapter."""

    name: str
    vendor: int
    device: int
    memory_bytes: int


class _Guid(Structure):
    _fields_ = (("a", c_uint32), ("b", c_ushort), ("c", c_ushort), ("d", ctypes.c_ubyte * 8))


class _Description(Structure):  # DXGI_ADAPTER_DESC1
    _fields_ = (
        ("name", c_wchar * 128),
        ("vendor", c_uint32),
        ("device", c_uint32),
        ("subsystem", c_uint32),
        ("revision", c_uint32),
        ("memory", c_size_t),
        ("system_memory", c_size_t),
        ("shared_memory", c_size_t),
        ("luid", c_uint32 * 2),
        ("flags", c_uint32),
    )


def _library() -> Any:  # noqa: ANN401  a ctypes library
    return getattr(ctypes, "WinDLL")("dxgi")  # noqa: B009  ctypes has it on Windows only


def adapters(library: Callable[[], Any] = _library) -> list[Adapter]:
    """Every adapter except software's; none where DXGI is missing or fails."""
    try:
        create = library().CreateDXGIFactory1
    except (OSError, AttributeError):
        return []
    factory = c_void_p()
    kind = _Guid(*_FACTORY1[:3], (ctypes.c_ubyte * 8)(*_FACTORY1[3]))
    if create(byref(kind), byref(factory)) != 0:
        return []
    found: list[Adapter | None] = []
    adapter = c_void_p()
    while _call(factory, _ENUM_ADAPTERS1, c_uint32(len(found)), byref(adapter)) == 0:
        description = _Description()
        failed = _call(adapter, _GET_DESC1, byref(description))
        _call(adapter, _RELEASE)
        found.append(None if failed or description.flags & _SOFTWARE else _adapter(description))
    _call(factory, _RELEASE)
    return [one for one in found if one is not None]


def _adapter(one: _Description) -> Adapter:
    return Adapter(name=one.name, vendor=one.vendor, device=one.device, memory_bytes=one.memory)


def _call(instance: c_void_p, position: int, *arguments: Any) -> int:  # noqa: ANN401  ctypes' own values
    """Call a method of a COM object by its position."""
    table = ctypes.cast(instance, POINTER(POINTER(c_void_p)))[0]
    kinds = (c_void_p, *(type(one) if isinstance(one, c_uint32) else c_void_p for one in arguments))
    convention = getattr(ctypes, "WINFUNCTYPE", ctypes.CFUNCTYPE)
    result: int = convention(ctypes.c_long, *kinds)(table[position])(instance, *arguments)
    return result
