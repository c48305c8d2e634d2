"""Whether a struct of ours is the one that a kernel reads: field by field, in the loads of its PTX."""

import ctypes
from collections.abc import Iterator

from ptx.movement import parts_of
from ptx.program import Address, Program, Symbol
from ptx.registers import dtype_of


def misread(program: Program, struct: type[ctypes.Structure]) -> list[str]:
    """What a kernel loads from its parameter that is no field, or one of another size."""
    fields = dict(_fields(struct, 0))
    loads = list(_loads(program))
    assert loads, f"{program.name} loads nothing from its parameter"
    return [text for offset, size, text in loads if fields.get(offset) != size]


def _fields(kind: type, offset: int) -> Iterator[tuple[int, int]]:
    """Where each number of a struct lies, and its size."""
    if issubclass(kind, ctypes.Structure):
        for name, inner, *_ in kind._fields_:
            yield from _fields(inner, offset + getattr(kind, name).offset)
    elif issubclass(kind, ctypes.Array):
        for number in range(kind._length_):
            yield from _fields(kind._type_, offset + number * ctypes.sizeof(kind._type_))
    else:
        yield offset, ctypes.sizeof(kind)


def _loads(program: Program) -> Iterator[tuple[int, int, str]]:
    """Where in the parameter a kernel loads numbers, by addresses that stand in the text."""
    for each in program.code:
        if not each.name.startswith("ld.param"):
            continue
        target, source = each.operands
        assert isinstance(source, Address)
        if isinstance(source.base, Symbol):
            size = dtype_of(each.type).itemsize
            for number in range(len(parts_of(target))):
                yield source.offset + number * size, size, each.text
