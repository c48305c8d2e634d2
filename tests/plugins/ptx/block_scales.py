"""Instructions of block-scaled numbers (PTX ISA, "Block Scaling for mma.sync"): products, and conversions of pairs.

Of scales of the left factor's row r, lane 4 (r % 8) + 2 t + r / 8 holds a register, t being the thread selector; of the
right factor's column c, lane 4 c + t.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from ptx.products import COLUMNS, _fragments, _numbers, _sum_order, _words, _write
from ptx.program import Instruction, Operand, PtxError
from ptx.small_floats import codes_of, e4m3_numbers

if TYPE_CHECKING:
    from ptx.machine import Machine

Step = Callable[["Machine", Instruction], None]
ROWS = 16
KINDS = {  # factors, scales, depth of a product, columns that share a scale
    "mxf8f6f4.block_scale.scale_vec::1X.m16n8k32": ("e4m3", "ue8m0", 32, 32),
    "mxf4nvf4.block_scale.scale_vec::4X.m16n8k64": ("e2m1", "ue4m3", 64, 16),
}


def _multiply(factors: str, scales: str, depth: int, block: int) -> Step:
    def step(machine: "Machine", instruction: Instruction) -> None:
        result, left, right, addend, left_scales, left_which, right_scales, right_which = instruction.operands
        if instruction.types != ("f32", factors, factors, "f32", scales):
            raise PtxError("unknown types of a product")
        a = _fragments(machine, left, factors, ROWS, depth)
        b = _fragments(machine, right, factors, COLUMNS, depth)
        rows, columns = np.arange(ROWS), np.arange(COLUMNS)
        byte, thread = _selected(machine, left_which, most=1)
        a = a * _scales(machine, left_scales, 4 * (rows % 8) + 2 * thread + rows // 8, scales, byte, depth // block)
        byte, thread = _selected(machine, right_which, most=3)
        b = b * _scales(machine, right_scales, 4 * columns + thread, scales, byte, depth // block)
        sums = (a @ b.swapaxes(1, 2)).reshape(len(a), -1)[:, _sum_order(ROWS)]
        _write(machine, result, sums + _numbers(_words(machine, addend), "f32"), "f32")
        machine.overlapping += machine.shared.copies_on_their_way

    return step


def _selected(machine: "Machine", operand: Operand, most: int) -> tuple[int, int]:
    """Return the byte and the thread that a selector names, the same in all lanes."""
    words = [machine.read(each, "u16") for each in operand.parts]
    if any((word != word[0]).any() for word in words):
        raise PtxError("a selector that differs among lanes")
    byte, thread = (int(word[0]) for word in words)
    if byte > 3 or thread > most:
        raise PtxError(f"there is no byte {byte} of thread {thread}")
    return byte, thread


def _scales(machine: "Machine", operand: Operand, lanes: np.ndarray, kind: str, byte: int, count: int) -> np.ndarray:
    """Return scales by row and depth: (warps, rows, depth), of `count` bytes from `byte` on."""
    words = _words(machine, operand)[:, lanes, 0]
    codes = np.stack([words >> np.uint32(8 * each) & np.uint32(255) for each in range(byte, byte + count)], axis=2)
    values = (
        np.where(codes == 255, np.nan, 2.0 ** (codes.astype(np.float64) - 127))
        if kind == "ue8m0"
        else e4m3_numbers(codes)
    )
    depth = 64 if count > 1 else 32
    return np.repeat(values, depth // count, axis=2)


def _pair(machine: "Machine", instruction: Instruction) -> None:
    """Convert two numbers; the last becomes the low part."""
    kind, given = instruction.types
    result, *both = instruction.operands
    kind = kind.removesuffix("x2")
    high, low = (codes_of(machine.read(each, given), kind) for each in both)
    bits = 4 if kind == "e2m1" else 8
    machine.write(result, (low | high << np.uint32(bits)).astype(np.uint8 if bits == 4 else np.uint16))


STEPS: dict[str, Step] = {
    **{f"mma.sync.aligned.kind::{shape}.row.col": _multiply(*kinds) for shape, kinds in KINDS.items()},
    "cvt.rn.satfinite": _pair,
}
