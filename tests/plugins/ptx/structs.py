"""Check that our ctypes struct matches the one a kernel reads, by the parameter loads in its PTX."""

import ctypes
from collections.abc import Iterator

from ptx.movement import parts_of
from ptx.program import Address, Program, Symbol
from ptx.registers import dtype_of


def misread(program: Program, struct: type[ctypes.Structure]) -> list[str]:
    """Return the kernel's parameter loads that do not match a field in offset and size."""
    fields = dict(_fields(struct, 0))
    loads = list(_loads(program))
    assert loads, f"{program.name} loads nothing from its parameter"
    return [text for offset, size, text in loads if fields.get(offset) != size]


def _fields(kind: type, offset: int) -> Iterator[tuple[int, int]]:
    """Yield the offset and size of each scalar in a struct."""
    if issubclass(kind, ctypes.Structure):
        for name, inner, *_ in kind._fields_:
            yield from _fields(inner, offset + getattr(kind, name).offset)
    elif issubclass(kind, ctypes.Array):
        for number in range(kind._length_):
            yield from _fields(kind._type_, offset + number * ctypes.sizeof(kind._type_))
    else:
        yield offset, ctypes.sizeof(kind)


def _loads(program: Program) -> Iterator[tuple[int, int, str]]:
    """Yield the parameter loads at constant offsets: offset, size and text."""
    for each in program.code:
        if not each.name.startswith("ld.param"):
            continue
        target, source = each.operands
        assert isinstance(source, Address)
        if isinstance(source.base, Symbol):
            size = dtype_of(each.type).itemsize
            for number in range(len(parts_of(target))):
                yield source.offset + number * size, size, each.text
