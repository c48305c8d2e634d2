"""DXGI's COM interface, played by tables of functions."""

import ctypes
from types import SimpleNamespace

from mezzotint_setup.dxgi import Adapter, _Description, adapters

NOT_FOUND = -2005270526  # DXGI_ERROR_NOT_FOUND
CONVENTION = getattr(ctypes, "WINFUNCTYPE", ctypes.CFUNCTYPE)


class ComObject:
    """An object whose methods are at given places of its table."""

    def __init__(self, **methods):
        self.kept = []
        self.table = (ctypes.c_void_p * 16)()
        for place, (function, *kinds) in methods.items():
            made = CONVENTION(ctypes.c_long, ctypes.c_void_p, *kinds)(function)
            self.kept.append(made)
            self.table[int(place[1:])] = ctypes.cast(made, ctypes.c_void_p)
        self.head = ctypes.pointer(self.table)
        self.address = ctypes.addressof(self.head)


def card(name, vendor, device, memory, flags=0, released=None):
    def describe(_, target):
        found = ctypes.cast(target, ctypes.POINTER(_Description))[0]
        found.name, found.vendor, found.device, found.memory, found.flags = name, vendor, device, memory, flags
        return 0

    def release(_):
        released.append(name)
        return 0

    return ComObject(_10=(describe, ctypes.c_void_p), _2=(release,))


def test_cards_are_told_without_software_and_everything_is_released():
    released = []
    cards = [
        card("Intel(R) Arc(TM) B580", 0x8086, 0xE20B, 12 << 30, released=released),
        card("Basic Render", 0x1414, 0x8C, 0, flags=2, released=released),
    ]

    def enumerate_adapters(_, number, target):
        if number >= len(cards):
            return NOT_FOUND
        ctypes.cast(target, ctypes.POINTER(ctypes.c_void_p))[0] = cards[number].address
        return 0

    def release(_):
        released.append("factory")
        return 0

    factory = ComObject(_12=(enumerate_adapters, ctypes.c_uint32, ctypes.c_void_p), _2=(release,))

    def create(_, target):
        target._obj.value = factory.address
        return 0

    found = adapters(lambda: SimpleNamespace(CreateDXGIFactory1=create))
    assert found == [Adapter(name="Intel(R) Arc(TM) B580", vendor=0x8086, device=0xE20B, memory_bytes=12 << 30)]
    assert released == ["Intel(R) Arc(TM) B580", "Basic Render", "factory"]


def test_where_dxgi_fails_there_are_none():
    assert adapters(lambda: SimpleNamespace(CreateDXGIFactory1=lambda *_: -1)) == []
    assert adapters(lambda: SimpleNamespace()) == []
