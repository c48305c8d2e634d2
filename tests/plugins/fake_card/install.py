"""A CUDA device in a torch that is built for processors: bringing it in, and taking it out again.

Use: `with fake_card(total=2**31) as card:`. What it tells and what it lacks: docs/fake_card.md.
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
    """The card is here inside: `count` devices of `total` bytes each.

    device_type: `mps` for Apple's, which has no streams, no page locking, no statistics and no numbers of 64 bits.
    strict: what is in no order raises Hazard; else it is noted. wddm: as under Windows' display driver, which locks no
    pages for us, and has what does not fit spill into the host's memory.
    """
    if torch.version.cuda is not None:
        raise RuntimeError("a fake card is only for a torch that is built for processors")
    if card.active:
        raise RuntimeError("a fake card is here already")
    card.kind = KINDS[device_type]
    if device_type not in _registered:
        _registered[device_type] = [_put_guard(), *operations.register(device_type.upper())]
    _device_constructors()  # torch keeps the functions that it finds when it is first asked: its own, not ours
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
    """Such a torch has no guard of CUDA devices: PrivateUse1's, which may be Python's, is put in its place."""
    guard = _Guard()
    torch._C._acc.register_python_privateuseone_device_guard(guard)
    library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libc10.so"))
    guards = (ctypes.c_void_p * _KINDS_OF_DEVICE).in_dll(library, "_ZN3c104impl26device_guard_impl_registryE")
    guards[card.kind.number] = guards[_PRIVATE]
    return guard
