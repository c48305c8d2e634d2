"""Instructions that the threads of a warp or block execute together."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from ptx.movement import parts_of, so_many
from ptx.program import Instruction, Operand, PtxError

if TYPE_CHECKING:
    from ptx.machine import Machine

Step = Callable[["Machine", Instruction], None]
LAST_LANE, ALL_LANES = 31, 0xFFFFFFFF


def _shuffle(machine: "Machine", instruction: Instruction) -> None:
    """shfl.sync.bfly: each thread reads the value of the thread whose number is XORed with the distance."""
    result, value, distance, last, mask = instruction.operands
    if not (_is(machine, last, LAST_LANE) and _is(machine, mask, ALL_LANES)):
        raise PtxError("a shuffle of a part of a warp")
    lanes = np.arange(32 * machine.whole_warps())
    machine.write(parts_of(result)[0], machine.read(value, "b32")[lanes ^ machine.read(distance, "u32")])


def _ballot(machine: "Machine", instruction: Instruction) -> None:
    """vote.sync.ballot: return a bit for each thread of the warp whose predicate is set."""
    result, value, mask = instruction.operands
    if not _is(machine, mask, ALL_LANES):
        raise PtxError("a vote of a part of a warp")
    votes = machine.read(value, "pred").reshape(machine.whole_warps(), 32)
    words = np.packbits(votes, axis=1, bitorder="little").view(np.uint32)
    machine.write(result, np.repeat(words.ravel(), 32))


def _is(machine: "Machine", operand: Operand, value: int) -> bool:
    return bool((machine.read(operand, "u32") == value).all())


def _barrier(machine: "Machine", instruction: Instruction) -> None:
    """bar.sync: all threads of a block that have not ended must be here."""
    here = np.zeros(len(machine.places), bool)
    here[machine.lanes] = True
    alive = here | (machine.places < len(machine.program.code))
    blocks, expected = (each.reshape(-1, machine.threads) for each in (here, alive))
    if (blocks != expected)[blocks.any(axis=1)].any():
        raise PtxError("some threads of a block are not at the barrier")


def _load_matrices(count: int, *, transposed: bool) -> Step:
    """ldmatrix: load 8 x 8 matrices; the threads supply the row addresses, 8 per matrix."""

    def step(machine: "Machine", instruction: Instruction) -> None:
        targets, address = instruction.operands
        rows = machine.address(address).reshape(machine.whole_warps(), 32)
        lanes = machine.lanes.reshape(-1, 32)
        asked = 4 if machine.program.target == "sm_75" else count  # Turing requires valid addresses from all threads
        read = machine.shared.load(lanes[:, : 8 * asked].ravel(), rows[:, : 8 * asked].ravel(), 16)
        matrices = read.view(np.uint16).reshape(-1, asked, 8, 8)
        if transposed:
            matrices = matrices.swapaxes(2, 3)
        pairs = np.ascontiguousarray(matrices).view(np.uint32).reshape(-1, asked, 32)
        for number, target in enumerate(so_many(targets, count)):
            machine.write(target, pairs[:, number].ravel())

    return step


STEPS: dict[str, Step] = {
    "shfl.sync.bfly": _shuffle,
    "vote.sync.ballot": _ballot,
    "bar.sync": _barrier,
    **{
        f"ldmatrix.sync.aligned.m8n8.x{count}{'.trans' * transposed}.shared": _load_matrices(
            count, transposed=transposed
        )
        for count in (2, 4)
        for transposed in (False, True)
    },
}
