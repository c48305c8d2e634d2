"""Conversion instructions between number types, and between address spaces."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch
from ptx.program import Instruction, PtxError
from ptx.registers import dtype_of

if TYPE_CHECKING:
    from ptx.machine import Machine

Step = Callable[["Machine", Instruction], None]
WINDOW = 1 << 40  # where shared memory lies in the generic address space


def from_bfloat16(bits: np.ndarray) -> np.ndarray:
    """Convert bfloat16 bits to float32."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def to_bfloat16(values: np.ndarray) -> np.ndarray:
    """Convert to bfloat16 bits, rounding to nearest even."""
    bits = values.astype(np.float32).view(np.uint32)
    rounded = bits + 0x7FFF + (bits >> 16 & 1)
    return np.where(np.isnan(values), 0x7FFF, rounded >> 16).astype(np.uint16)


def from_e4m3(bits: np.ndarray) -> np.ndarray:
    """Convert floats of 8 bits to float32, as torch does."""
    return torch.from_numpy(np.ascontiguousarray(bits)).view(torch.float8_e4m3fn).float().numpy()


def to_e4m3(values: np.ndarray) -> np.ndarray:
    """Convert to floats of 8 bits, rounding to nearest even and saturating."""
    limited = torch.from_numpy(np.ascontiguousarray(values)).clamp(-448, 448)
    bits = limited.to(torch.float8_e4m3fn).view(torch.uint8).numpy()
    return np.where(np.isnan(values), 0x7F, bits).astype(np.uint8)


def _plain(machine: "Machine", instruction: Instruction) -> None:
    """Convert between integers, or to a wider format."""
    result, value = instruction.operands
    kind, given = instruction.types
    read = machine.read(value, given)
    if kind == "f32" and given == "bf16":
        read = from_bfloat16(read)
    elif (kind[0] == "f") != (given[0] == "f"):
        raise PtxError("a conversion that rounds says how")
    machine.write(result, read.astype(dtype_of(kind)))


def _to_nearest(machine: "Machine", instruction: Instruction) -> None:
    """Convert to a narrower format, or from integers."""
    kind, given = instruction.types
    result, value = instruction.operands
    machine.write(result, _nearest(machine.read(value, given), kind))


def _pair(machine: "Machine", instruction: Instruction) -> None:
    """Pack two numbers into a register; the last becomes the low half."""
    kind, given = instruction.types
    result, *values = instruction.operands
    both = [_nearest(machine.read(value, given), kind.removesuffix("x2")).view(np.uint16) for value in values]
    high, low = (each.astype(np.uint32) for each in both)
    machine.write(result, low | high << 16)


def _to_nearest_or_pair(machine: "Machine", instruction: Instruction) -> None:
    (_pair if instruction.types[0].endswith("x2") else _to_nearest)(machine, instruction)


def _pair_of_floats(machine: "Machine", instruction: Instruction) -> None:
    """Pack two floats of 8 bits; the last becomes the low byte."""
    result, *values = instruction.operands
    if instruction.types != ("e4m3x2", "f32"):
        raise PtxError("a conversion that saturates is of pairs of e4m3")
    high, low = (to_e4m3(machine.read(value, "f32")).astype(np.uint16) for value in values)
    machine.write(result, low | high << 8)


def _nearest(number: np.ndarray, kind: str) -> np.ndarray:
    return to_bfloat16(number) if kind == "bf16" else number.astype(dtype_of(kind))


def _to_integer(round_: Callable[[np.ndarray], np.ndarray]) -> Step:
    """Return a step that converts to integers, saturating."""

    def step(machine: "Machine", instruction: Instruction) -> None:
        result, value = instruction.operands
        kind = dtype_of(instruction.types[0])
        whole = round_(machine.read(value, instruction.types[1]))
        if kind.kind != "f":
            limits = np.iinfo(kind)
            whole = np.clip(np.nan_to_num(whole.astype(np.float64)), limits.min, limits.max)
        machine.write(result, whole.astype(kind))

    return step


def _moved(by: int) -> Step:
    def step(machine: "Machine", instruction: Instruction) -> None:
        result, value = instruction.operands
        machine.write(result, machine.read(value, "s64") + by)

    return step


STEPS: dict[str, Step] = {
    "cvt": _plain,
    "cvt.rn": _to_nearest_or_pair,
    "cvt.rn.satfinite": _pair_of_floats,
    "cvt.rni": _to_integer(np.rint),
    "cvt.rzi": _to_integer(np.trunc),
    "cvta.to.global": _moved(0),
    "cvta.to.shared": _moved(-WINDOW),
    "cvta.shared": _moved(WINDOW),
}
