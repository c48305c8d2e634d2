"""Matrix products held by the threads of a warp (PTX ISA, "Matrix Fragments for mma").

Thread l holds row l/4, and row l/4+8 if there are 16, at depths starting at (l%4) times the numbers per register.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from ptx.conversions import from_bfloat16
from ptx.movement import parts_of
from ptx.program import Instruction, Operand, PtxError
from ptx.small_floats import numbers_of

if TYPE_CHECKING:
    from ptx.machine import Machine

Step = Callable[["Machine", Instruction], None]
NUMBERS = {"f16": 2, "bf16": 2, "s8": 4, "u8": 4, "s4": 8, "e4m3": 4, "e2m1": 8}  # per register
SHAPES = {  # with the supported types of accumulator and factors
    "m16n8k16": {("f32", "f16"), ("f32", "bf16"), ("f16", "f16")},
    "m16n8k8": {("f32", "f16"), ("f32", "bf16"), ("f16", "f16")},
    "m16n8k32": {("s32", "s8"), ("s32", "u8"), ("f32", "e4m3"), ("f16", "e4m3")},
    "m8n8k16": {("s32", "s8"), ("s32", "u8")},
    "m16n8k64": {("s32", "s4")},
    "m8n8k32": {("s32", "s4")},
}
LANES = np.arange(32)
COLUMNS = 8


def _multiply(shape: str) -> Step:
    rows, _, depth = (int(number) for number in re.findall(r"\d+", shape))

    def step(machine: "Machine", instruction: Instruction) -> None:
        result, left, right, addend = instruction.operands
        sums, kind, other, added = instruction.types
        factors = "s8" if kind == "u8" else kind  # bytes without a sign are multiplied by bytes with one
        if (sums, kind) not in SHAPES[shape] or (factors, sums) != (other, added):
            raise PtxError("unknown types of a product")
        a = _fragments(machine, left, kind, rows, depth)
        b = _fragments(machine, right, other, COLUMNS, depth)
        c = _numbers(_words(machine, addend), sums)
        held = (a @ b.swapaxes(1, 2)).reshape(len(a), -1)[:, _sum_order(rows)]
        _write(machine, result, held + c, sums)
        machine.overlapping += machine.shared.copies_on_their_way

    return step


def _words(machine: "Machine", operand: Operand) -> np.ndarray:
    """Return the registers of each warp: (warps, 32, registers)."""
    words = np.stack([machine.read(each, "b32") for each in parts_of(operand)], axis=1)
    return words.reshape(machine.whole_warps(), 32, -1)


def _numbers(words: np.ndarray, kind: str) -> np.ndarray:
    """Return the values in the registers as float64: (warps, 32, numbers)."""
    if kind == "bf16":
        return from_bfloat16(words.view(np.uint16)).astype(np.float64)
    if kind in ("e4m3", "e2m1"):
        return numbers_of(words, kind)
    if kind == "s4":
        halves = words[..., None] >> np.arange(0, 32, 4, dtype=np.uint32) & 15
        return (halves.astype(np.float64) - 16 * (halves > 7)).reshape(*words.shape[:2], -1)
    dtypes = {"f16": np.float16, "s8": np.int8, "u8": np.uint8, "f32": np.float32, "s32": np.int32}
    return words.view(dtypes[kind]).astype(np.float64)


def _fragments(machine: "Machine", operand: Operand, kind: str, rows: int, depth: int) -> np.ndarray:
    """Return a matrix per warp: (warps, rows, depth)."""
    numbers = _numbers(_words(machine, operand), kind)
    if numbers.shape[2] * 32 != rows * depth:
        raise PtxError("another number of registers than the matrix has")
    return numbers.reshape(len(numbers), -1)[:, _order(rows, depth, NUMBERS[kind])]


@cache
def _order(rows: int, depth: int, each: int) -> np.ndarray:
    """Return the position of each matrix element among the threads' values: (rows, depth)."""
    held = rows * depth // 32  # per thread
    row, column = np.arange(rows)[:, None], np.arange(depth)
    lane = row % 8 * 4 + column // each % 4
    register = row // 8 + column // (4 * each) * (rows // 8)
    return lane * held + register * each + column % each


@cache
def _sum_order(rows: int) -> np.ndarray:
    """Return the position in the product of each thread's values: (32, numbers)."""
    row = LANES[:, None] // 4 + np.repeat(np.arange(0, rows, 8), 2)
    return row * COLUMNS + LANES[:, None] % 4 * 2 + np.arange(rows // 4) % 2


def _write(machine: "Machine", operand: Operand, values: np.ndarray, kind: str) -> None:
    if kind == "s32":
        words = values.astype(np.int64).astype(np.int32).view(np.uint32)
    else:
        words = np.ascontiguousarray(values.astype(np.float16 if kind == "f16" else np.float32)).view(np.uint32)
    targets = parts_of(operand)
    if words.shape[2] != len(targets):
        raise PtxError("another number of registers than the sums have")
    for number, target in enumerate(targets):
        machine.write(target, words[:, :, number].ravel())


STEPS: dict[str, Step] = {f"mma.sync.aligned.{shape}.row.col": _multiply(shape) for shape in SHAPES}
