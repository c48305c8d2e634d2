"""Instructions of sm_90a: barriers in shared memory, copies of boxes, products of four warps (PTX ISA, "wgmma")."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from kernel_params import Tiles
from ptx.conversions import from_bfloat16
from ptx.hopper_units import GROUP, BoxCopy, by_block, exchanged, one_of
from ptx.movement import parts_of
from ptx.program import Instruction, Number, PtxError, Several

if TYPE_CHECKING:
    from ptx.machine import Machine

Step = Callable[["Machine", Instruction], None]
DEPTH, WARP_ROWS = 16, 16
ROW_BYTES = {1: 128, 2: 64}  # by layout
UNSET = 0x7FFF7FFF  # no number


def _prepare(machine: "Machine", instruction: Instruction) -> None:
    addresses, counts = machine.address(instruction.operands[0]), machine.read(instruction.operands[1], "u32")
    for thread, address, count in zip(machine.lanes, addresses, counts, strict=True):
        machine.units.prepare(thread, int(address), int(count))


def _publish(machine: "Machine", _instruction: Instruction) -> None:
    for thread in machine.lanes:
        machine.units.publish(thread)


def _arrive(machine: "Machine", instruction: Instruction) -> None:
    _, barrier, *announced = instruction.operands
    addresses = machine.address(barrier)
    sizes = machine.read(announced[0], "u32") if announced else np.zeros(len(addresses), np.uint32)
    for thread, address, size in zip(machine.lanes, addresses, sizes, strict=True):
        machine.units.arrive(thread, int(address), int(size))


def _wait_phase(machine: "Machine", instruction: Instruction) -> None:
    """Threads for which it has not ended do not go on, instead of asking again."""
    ended, barrier, parity = instruction.operands
    addresses, parities = machine.address(barrier), machine.read(parity, "u32")
    machine.write(ended, np.ones(len(machine.lanes), bool))
    for threads in by_block(machine.lanes, machine.threads):
        which = np.isin(machine.lanes, threads)
        machine.units.wait_phase(threads, one_of(addresses[which]), one_of(parities[which]))


def _turn(*, waits: bool, otherwise: Step | None = None) -> Step:
    def step(machine: "Machine", instruction: Instruction) -> None:
        if len(instruction.operands) == 1 and otherwise is not None:
            otherwise(machine, instruction)
            return
        numbers, counts = (machine.read(each, "u32") for each in instruction.operands)
        groups = machine.lanes // 32
        for warp in np.unique(groups):
            own = groups == warp
            threads = machine.lanes[own]
            if len(threads) != 32:
                raise PtxError("only some threads of a warp are here")
            machine.units.turn(threads, one_of(numbers[own]), one_of(counts[own]), waits=waits)

    return step


def _copy(machine: "Machine", instruction: Instruction) -> None:
    to, source, barrier = instruction.operands
    assert isinstance(source, Several)
    maps, *coordinates = source.parts
    begins, places = machine.read(maps, "u64"), [machine.read(each, "s32") for each in coordinates]
    targets, barriers = machine.address(to), machine.address(barrier)
    for number, thread in enumerate(machine.lanes):
        tiles = Tiles.from_buffer_copy(machine.parameters.tobytes(), int(begins[number]))
        column, row, head, batch = (int(each[number]) for each in places)
        machine.units.copy(
            BoxCopy(
                thread=int(thread),
                to=int(targets[number]),
                barrier=int(barriers[number]),
                tiles=tiles,
                place=(column, row, head, batch),
            )
        )


def _groups(machine: "Machine") -> np.ndarray:
    """Return the threads of each group of four warps. Raises PtxError if one is only partly here."""
    lanes = machine.lanes
    if len(lanes) % GROUP or not np.array_equal(lanes, (lanes[::GROUP, None] + np.arange(GROUP)).ravel()):
        raise PtxError("only some threads of a group of four warps are here")
    return lanes.reshape(-1, GROUP)


def _set_registers(machine: "Machine", instruction: Instruction) -> None:
    machine.units.set_registers(_groups(machine).ravel(), one_of(machine.read(instruction.operands[0], "u32")))


def _fence(machine: "Machine", _instruction: Instruction) -> None:
    machine.units.fenced.update(int(each[0]) for each in _groups(machine))


def _commit(machine: "Machine", _instruction: Instruction) -> None:
    for threads in _groups(machine):
        first = int(threads[0])
        machine.units.committed.setdefault(first, []).append(machine.units.open.pop(first, {}))


def _wait(machine: "Machine", instruction: Instruction) -> None:
    """Only now the sums are in their registers."""
    (pending,) = instruction.operands
    assert isinstance(pending, Number)
    for threads in _groups(machine):
        groups = machine.units.committed.get(int(threads[0]), [])
        while len(groups) > pending.bits:
            for name, sums in groups.pop(0).items():
                machine.registers.write_named(name, threads, sums)
        machine.units.fenced.discard(int(threads[0]))


def _multiply(n: int) -> Step:
    def step(machine: "Machine", instruction: Instruction) -> None:
        result, left, right, add, *rest = instruction.operands
        _, kind, other = instruction.types
        scales = [one_of(machine.read(each, "s32")) for each in rest]
        in_registers = isinstance(left, Several)
        if kind != other or scales != ([1, 1, 1] if in_registers else [1, 1, 0, 0]):
            raise PtxError("a product that is not known here")
        adds, descriptors = machine.read(add, "pred"), machine.read(right, "u64")
        for number, threads in enumerate(_groups(machine)):
            own = slice(number * GROUP, (number + 1) * GROUP)
            if int(threads[0]) not in machine.units.fenced:
                raise PtxError("products begin before registers are there for them")
            b = _matrix(machine, threads[0], one_of(descriptors[own]), n, kind, along_n=in_registers)
            if in_registers:
                words = np.stack([machine.read(each, "b32")[own] for each in parts_of(left)], axis=1)
                a = _fragments(words, kind)
            else:
                a = _matrix(machine, threads[0], one_of(machine.read(left, "u64")[own]), 64, kind, along_n=False)
            _begin(machine, threads, [each.name for each in parts_of(result)], a @ b.T, add=bool(one_of(adds[own])))

    return step


def _numbers(words: np.ndarray, kind: str) -> np.ndarray:
    bits = np.ascontiguousarray(words).view(np.uint16)
    return from_bfloat16(bits).astype(np.float64) if kind == "bf16" else bits.view(np.float16).astype(np.float64)


def _matrix(machine: "Machine", thread: int, bits: int, rows: int, kind: str, *, along_n: bool) -> np.ndarray:
    """Return a matrix in shared memory, (rows, 16); `along_n`: its rows lie in memory across the depth."""
    address, beyond, eights = ((bits >> first & 0x3FFF) << 4 for first in (0, 16, 32))
    row_bytes = ROW_BYTES[bits >> 62]
    row, deep = np.arange(rows)[:, None], np.arange(DEPTH)
    along, across = (row, deep) if along_n else (deep, row)
    columns = row_bytes // 2
    place = along // columns * beyond + along % columns * 2 + across // 8 * eights + across % 8 * row_bytes
    places = exchanged(address + place, row_bytes)
    loaded = machine.shared.load(np.full(places.size, thread), places.ravel(), 2)
    return _numbers(loaded, kind).reshape(rows, DEPTH)


def _fragments(words: np.ndarray, kind: str) -> np.ndarray:
    """Return 64 rows, 16 deep, of four registers a thread."""
    held = _numbers(words, kind).reshape(4, 8, 4, 2, 2, 2)  # warp, row, thread of four, half deep, 8 rows down, pair
    return held.transpose(0, 4, 1, 3, 2, 5).reshape(64, DEPTH)


def _begin(machine: "Machine", threads: np.ndarray, names: list[str], product: np.ndarray, *, add: bool) -> None:
    n = product.shape[1]
    held = product.reshape(4, 2, 8, n // 8, 4, 2).transpose(0, 2, 4, 3, 1, 5).reshape(GROUP, n // 2)
    first = int(threads[0])
    pending = machine.units.open.setdefault(first, {})
    if len(names) != n // 2:
        raise PtxError("another number of registers than the sums have")
    for number, name in enumerate(names):
        if any(name in group for group in machine.units.committed.get(first, [])):
            raise PtxError("sums are multiplied again before they are waited for")
        before = pending[name].view(np.float32) if name in pending else machine.registers.read_named(name, threads)
        sums = held[:, number] + (before if add else 0)
        pending[name] = sums.astype(np.float32).view(np.uint32)
        machine.registers.write_named(name, threads, np.full(GROUP, UNSET, np.uint32))


def _same_lane(machine: "Machine", instruction: Instruction) -> None:
    """shfl.sync.idx from the first lane."""
    result, value, lane, _, _ = instruction.operands
    if one_of(machine.read(lane, "u32")) != 0:
        raise PtxError("a shuffle that is not known here")
    values = machine.read(value, "b32").reshape(machine.whole_warps(), 32)
    machine.write(parts_of(result)[0], np.repeat(values[:, 0], 32))


def steps(barrier: Step) -> dict[str, Step]:
    """The instructions; `barrier` is that of all threads of a block."""
    return {
        "mbarrier.init.shared::cta": _prepare,
        "fence.mbarrier_init.release.cluster": lambda _machine, _instruction: None,
        "fence.proxy.async.shared::cta": _publish,
        "mbarrier.arrive.shared::cta": _arrive,
        "mbarrier.arrive.expect_tx.shared::cta": _arrive,
        "mbarrier.try_wait.parity.shared::cta": _wait_phase,
        "bar.sync": _turn(waits=True, otherwise=barrier),
        "bar.arrive": _turn(waits=False),
        "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes": _copy,
        "setmaxnreg.dec.sync.aligned": _set_registers,
        "setmaxnreg.inc.sync.aligned": _set_registers,
        "wgmma.fence.sync.aligned": _fence,
        "wgmma.commit_group.sync.aligned": _commit,
        "wgmma.wait_group.sync.aligned": _wait,
        **{f"wgmma.mma_async.sync.aligned.m64n{n}k16": _multiply(n) for n in range(16, 257, 16)},
        "shfl.sync.idx": _same_lane,
    }
