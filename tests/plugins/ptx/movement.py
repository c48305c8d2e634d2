"""Instructions that move data: between registers, to and from memory, and asynchronous copies."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from ptx.memory import ALIGNMENT, MemoryFault
from ptx.program import Instruction, Number, Operand, PtxError, Several
from ptx.registers import dtype_of

if TYPE_CHECKING:
    from ptx.machine import Machine

Step = Callable[["Machine", Instruction], None]


def parts_of(operand: Operand) -> tuple[Operand, ...]:
    """Return the registers of a vector operand, or the single operand."""
    return operand.parts if isinstance(operand, Several) else (operand,)


def _move(machine: "Machine", instruction: Instruction) -> None:
    """Move, also splitting a register into parts or joining parts; the first is the lowest."""
    targets, sources = (parts_of(operand) for operand in instruction.operands)
    whole = 1 if instruction.type == "pred" else 8 * dtype_of(instruction.type).itemsize
    if len(targets) == len(sources) == 1:
        machine.write(targets[0], machine.read(sources[0], instruction.type))
        return
    bits = [machine.read(source, f"u{whole // len(sources)}") for source in sources]
    joined = np.stack(bits, axis=1).view(f"u{whole // 8}").reshape(-1, 1)
    pieces = joined.view(f"u{whole // len(targets) // 8}")
    for number, target in enumerate(targets):
        machine.write(target, pieces[:, number].copy())


def so_many(operand: Operand, count: int) -> tuple[Operand, ...]:
    """Return the registers of a vector operand. Raises PtxError unless there are `count`."""
    if len(parts_of(operand)) != count:
        raise PtxError(f"not {count} registers")
    return parts_of(operand)


def _load(space: str, count: int) -> Step:
    def step(machine: "Machine", instruction: Instruction) -> None:
        target, source = instruction.operands
        targets, kind = so_many(target, count), dtype_of(instruction.type)
        loaded = _read(machine, space, machine.address(source), len(targets) * kind.itemsize)
        for number, each in enumerate(targets):
            machine.write(each, loaded.view(kind)[:, number].copy())

    return step


def _read(machine: "Machine", space: str, addresses: np.ndarray, size: int) -> np.ndarray:
    if space == "shared":
        return machine.shared.load(machine.lanes, addresses, size)
    if space == "global":
        return machine.memory.load(addresses, size)
    if ((addresses < 0) | (addresses + size > len(machine.parameters)) | (addresses % size != 0)).any():
        raise MemoryFault(f"there is no parameter of {size} bytes at {int(addresses[0])}")
    return machine.parameters[addresses[:, None] + np.arange(size)]


def _store(space: str, count: int) -> Step:
    def step(machine: "Machine", instruction: Instruction) -> None:
        target, source = instruction.operands
        numbers = [machine.read(each, instruction.type) for each in so_many(source, count)]
        values = np.stack(numbers, axis=1).view(np.uint8)
        if space == "shared":
            machine.shared.store(machine.lanes, machine.address(target), values)
        else:
            machine.memory.store(machine.address(target), values)

    return step


def _add(count: int) -> Step:
    """atom.global.add of float32: return the old numbers, and add in whatever order."""

    def step(machine: "Machine", instruction: Instruction) -> None:
        if instruction.type != "f32":
            raise PtxError("an addition to memory of another type than f32")
        results, target, source = instruction.operands
        numbers = [machine.read(each, instruction.type) for each in so_many(source, count)]
        before = machine.memory.add(machine.address(target), np.stack(numbers, axis=1))
        for number, each in enumerate(so_many(results, count)):
            machine.write(each, before[:, number].copy())

    return step


_COPIED = {"cp.async.cg.shared.global": (ALIGNMENT,), "cp.async.ca.shared.global": (4, 8)}  # bytes


def _begin_copy(machine: "Machine", instruction: Instruction) -> None:
    """cp.async: copy 16 bytes, with .ca 4 or 8; an optional last operand says how many come from memory: all, or 0."""
    to, source, size, *wanted = instruction.operands
    if not isinstance(size, Number) or size.bits not in _COPIED[instruction.name]:
        raise PtxError("a copy of another size")
    sizes = machine.read(wanted[0], "u32") if wanted else np.full(len(machine.lanes), size.bits)
    if not np.isin(sizes, (0, size.bits)).all():
        raise PtxError(f"a copy of a part of {size.bits} bytes")
    values = np.zeros((len(machine.lanes), size.bits), np.uint8)
    copied = sizes == size.bits
    values[copied] = machine.memory.load(machine.address(source)[copied], size.bits)
    machine.shared.begin_copies(machine.lanes, machine.address(to), values)


def _wait(machine: "Machine", instruction: Instruction) -> None:
    (pending,) = instruction.operands
    assert isinstance(pending, Number)
    machine.shared.wait(machine.lanes, pending.bits)


def _commit(machine: "Machine", _instruction: Instruction) -> None:
    machine.shared.commit(machine.lanes)


def _by_width(name: str, make: Callable[[str, int], Step], spaces: tuple[str, ...]) -> dict[str, Step]:
    """Return an instruction for scalars and for vectors of two and four."""
    return {
        f"{name}.{space}{f'.v{count}' * (count > 1)}": make(space, count) for space in spaces for count in (1, 2, 4)
    }


STEPS: dict[str, Step] = {
    "mov": _move,
    **_by_width("ld", _load, ("param", "global", "shared")),
    **_by_width("st", _store, ("global", "shared")),
    # Generic loads: no kernel uses them except for global memory.
    "ld": _load("global", 1),
    "ld.v2": _load("global", 2),
    "ld.v4": _load("global", 4),
    "atom.global.add": _add(1),
    "atom.global.add.v2": _add(2),
    "cp.async.cg.shared.global": _begin_copy,
    "cp.async.ca.shared.global": _begin_copy,
    "cp.async.commit_group": _commit,
    "cp.async.wait_group": _wait,
}
