"""Install a simulated CUDA device in a CPU build of torch, and remove it again.

Use: `with fake_card(total=2**31) as card:`. docs/fake_card.md describes what it simulates and what it lacks.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from fake_card import operations
from fake_card.clocks import Stream
from fake_card.cuda_module import replacements
from fake_card.state import KINDS, Card, Device, card
from torch.utils._device import _device_constructors

_KINDS_OF_DEVICE = 21  # c10::COMPILE_TIME_MAX_DEVICE_TYPES
_PRIVATE = 20  # c10::DeviceType::PrivateUse1
_registered: dict[str, list[Any]] = {}


class _Guard(torch._C._acc.DeviceGuard):
    def type_(self) -> Any:
        return getattr(torch._C._autograd.DeviceType, card.kind.type.upper())


@contextmanager
def fake_card(
    total: int = 2**34,
    *,
    cap: int | None = None,
    count: int = 1,
    strict: bool = True,
    wddm: bool = False,
    device_type: str = "cuda",
) -> Iterator[Card]:
    """Activate the simulated GPU: `count` devices of `total` bytes each.

    device_type: `mps` for Apple's, without streams, pinned memory, memory statistics or 64-bit floats.
    strict: unordered accesses raise Hazard; otherwise they are recorded. wddm: as with Windows' display driver, which
    does not let us pin pages, and spills allocations that do not fit into host memory.
    """
    if torch.version.cuda is not None:
        raise RuntimeError("a fake card is only for a torch that is built for processors")
    if card.active:
        raise RuntimeError("a fake card is here already")
    card.kind = KINDS[device_type]
    if device_type not in _registered:
        _registered[device_type] = [_put_guard(), *operations.register(device_type.upper())]
    _device_constructors()  # torch caches the functions it finds at the first call: make it find its own, not ours
    card.session += 1
    card.devices = [Device(index) for index in range(count)]
    for device in card.devices:
        device.total, device.cap = total, total if cap is None else cap
    card.reset()
    card.strict, card.wddm = strict, wddm
    card.streams.clear()
    for index in range(count):
        Stream(index)
    before = []
    for owner, name, value in replacements():
        before.append((owner, name, owner.__dict__.get(name)))
        setattr(owner, name, value)
    card.active = True
    try:
        yield card
    finally:
        card.active = False
        card.revive()
        for owner, name, value in reversed(before):
            if value is None:
                delattr(owner, name)
            else:
                setattr(owner, name, value)


def _put_guard() -> Any:
    """Install the device guard: a CPU build has none for CUDA, so use PrivateUse1's, which Python can implement."""
    guard = _Guard()
    torch._C._acc.register_python_privateuseone_device_guard(guard)
    library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libc10.so"))
    guards = (ctypes.c_void_p * _KINDS_OF_DEVICE).in_dll(library, "_ZN3c104impl26device_guard_impl_registryE")
    guards[card.kind.number] = guards[_PRIVATE]
    return guard
