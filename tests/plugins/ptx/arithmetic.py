"""Arithmetic instructions, executed per thread; 32-bit operations are rounded once."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from ptx.program import Instruction, PtxError

if TYPE_CHECKING:
    from ptx.machine import Machine

Array = np.ndarray
Step = Callable[["Machine", Instruction], None]


def _of_all(compute: Callable[..., Array]) -> Step:
    """Return a step whose operands and result have the same type."""

    def step(machine: "Machine", instruction: Instruction) -> None:
        result, *operands = instruction.operands
        values = [machine.read(each, instruction.type) for each in operands]
        machine.write(result, compute(*values))

    return step


def _shift(compute: Callable[[Array, Array], Array]) -> Step:
    """Return a step whose last operand is a bit count."""

    def step(machine: "Machine", instruction: Instruction) -> None:
        result, value, bits = instruction.operands
        machine.write(result, compute(machine.read(value, instruction.type), machine.read(bits, "u32")))

    return step


def _wide(machine: "Machine", instruction: Instruction) -> None:
    """Widening multiplication."""
    machine.write(instruction.operands[0], _whole_product(machine, instruction))


def _high(machine: "Machine", instruction: Instruction) -> None:
    """Upper half of a product."""
    whole = _whole_product(machine, instruction)
    bits = 4 * whole.dtype.itemsize
    machine.write(instruction.operands[0], (whole >> bits).astype(f"{whole.dtype.kind}{bits // 8}"))


def _whole_product(machine: "Machine", instruction: Instruction) -> Array:
    first, second = (machine.read(each, instruction.type) for each in instruction.operands[1:])
    if first.dtype.itemsize > 4:
        raise PtxError("a product of 128 bits")
    twice = np.dtype(f"{first.dtype.kind}{2 * first.dtype.itemsize}")
    return first.astype(twice) * second.astype(twice)


def _compare(compute: Callable[[Array, Array], Array]) -> Step:
    def step(machine: "Machine", instruction: Instruction) -> None:
        result, *operands = instruction.operands
        first, second = (machine.read(each, instruction.type) for each in operands)
        machine.write(result, compute(first, second))

    return step


def _select(machine: "Machine", instruction: Instruction) -> None:
    result, first, second, condition = instruction.operands
    values = [machine.read(each, instruction.type) for each in (first, second)]
    machine.write(result, np.where(machine.read(condition, "pred"), *values))


def _pick_bytes(machine: "Machine", instruction: Instruction) -> None:
    """prmt: select four of eight bytes; selectors with the sign-replication bit are not supported."""
    result, low, high, digits = instruction.operands
    places = np.arange(0, 32, 8, dtype=np.uint32)
    eight = np.concatenate([machine.read(each, "u32")[:, None] >> places & 255 for each in (low, high)], axis=1)
    wanted = machine.read(digits, "u32")[:, None] >> places // 2 & 15
    if (wanted > 7).any():
        raise PtxError("bytes that repeat a sign are not known")
    picked = np.take_along_axis(eight, wanted.astype(np.int64), axis=1)
    machine.write(result, (picked << places).sum(axis=1, dtype=np.uint32))


def _add_products_of_bytes(machine: "Machine", instruction: Instruction) -> None:
    """dp4a of bytes without a sign: their four products and a third number."""
    if instruction.types != ("u32", "u32"):
        raise PtxError("unknown types of a sum of products")
    result, first, second, added = instruction.operands
    places = np.arange(0, 32, 8, dtype=np.uint32)
    one, other = (machine.read(each, "u32")[:, None] >> places & 255 for each in (first, second))
    machine.write(result, (one * other).sum(axis=1, dtype=np.uint32) + machine.read(added, "u32"))


def _insert_bits(machine: "Machine", instruction: Instruction) -> None:
    """bfi: the lowest `count` bits of the first in place of those of the second from `begin` on."""
    result, inserted, into, begin, count = instruction.operands
    low, whole = (machine.read(each, "u32").astype(np.uint64) for each in (inserted, into))
    first, bits = (machine.read(each, "u32").astype(np.uint64) & np.uint64(255) for each in (begin, count))
    if (first + bits > 32).any():
        raise PtxError("bits beyond the 32nd")
    mask = (np.uint64(1) << bits) - np.uint64(1)
    machine.write(result, (whole & ~(mask << first) | (low & mask) << first).astype(np.uint32))


def _shifted_left(value: Array, bits: Array) -> Array:
    width = 8 * value.dtype.itemsize
    shifted = value << np.minimum(bits, width - 1).astype(value.dtype)
    return np.where(bits < width, shifted, np.zeros_like(value))


def _shifted_right(value: Array, bits: Array) -> Array:
    width = 8 * value.dtype.itemsize
    shifted = value >> np.minimum(bits, width - 1).astype(value.dtype)
    gone = value >> (width - 1) if value.dtype.kind == "i" else np.zeros_like(value)
    return np.where(bits < width, shifted, gone)


def _quotient(first: Array, second: Array) -> Array:
    """Division, truncating for integers."""
    if first.dtype.kind == "f":
        return first / second
    if (second == 0).any():
        raise PtxError("division by zero")
    return (first - np.fmod(first, second)) // second


def _rest(first: Array, second: Array) -> Array:
    if (second == 0).any():
        raise PtxError("division by zero")
    return np.fmod(first, second)


def multiplied_and_added(x: Array, y: Array, z: Array) -> Array:
    """Return x y + z, rounded once: float64 products are exact, and the sum's last bit is sticky (round to odd)."""
    product, addend = x.astype(np.float64) * y, z.astype(np.float64)
    total = product + addend
    part = total - product
    lost = (product - (total - part)) + (addend - part)
    even = total.view(np.int64) & 1 == 0
    towards = np.where(lost > 0, np.inf, -np.inf)
    return np.where((lost != 0) & even, np.nextafter(total, towards), total).astype(np.float32)


def multiplied_and_added_toward_zero(x: Array, y: Array, z: Array) -> Array:
    """Likewise, rounded towards zero."""
    exact = x.astype(np.float64) * y + z
    nearest = exact.astype(np.float32)
    return np.where(np.abs(nearest) > np.abs(exact), np.nextafter(nearest, np.float32(0)), nearest)


def _without_subnormals(value: Array) -> Array:
    return np.where(np.abs(value) < np.finfo(np.float32).tiny, np.copysign(np.float32(0), value), value)


def _flushing(compute: Callable[[Array], Array]) -> Step:
    """Return a step that flushes subnormal inputs and results to zero."""

    def exact(value: Array) -> Array:
        result = compute(_without_subnormals(value).astype(np.float64)).astype(np.float32)
        return _without_subnormals(result)

    return _of_all(exact)


def _approximately(compute: Callable[[Array], Array]) -> Step:
    return _of_all(lambda value: compute(value.astype(np.float64)).astype(np.float32))


def _unordered_less(first: Array, second: Array) -> Array:
    return ~(first >= second)


def _unordered_less_equal(first: Array, second: Array) -> Array:
    return ~(first > second)


STEPS: dict[str, Step] = {
    "add": _of_all(np.add),
    "sub": _of_all(np.subtract),
    "mul": _of_all(np.multiply),
    "mul.lo": _of_all(np.multiply),
    "mul.wide": _wide,
    "mul.hi": _high,
    "mad.lo": _of_all(lambda x, y, z: x * y + z),
    "fma.rn": _of_all(multiplied_and_added),
    "fma.rz": _of_all(multiplied_and_added_toward_zero),
    "div": _of_all(_quotient),
    "div.rn": _of_all(_quotient),
    "rem": _of_all(_rest),
    "neg": _of_all(np.negative),
    "abs": _of_all(np.abs),
    "copysign": _of_all(lambda sign, value: np.copysign(value, sign)),
    "min": _of_all(np.fmin),
    "max": _of_all(np.fmax),
    "max.NaN": _of_all(np.maximum),
    "and": _of_all(np.bitwise_and),
    "or": _of_all(np.bitwise_or),
    "xor": _of_all(np.bitwise_xor),
    "not": _of_all(np.invert),
    "shl": _shift(_shifted_left),
    "shr": _shift(_shifted_right),
    "prmt": _pick_bytes,
    "bfi": _insert_bits,
    "dp4a": _add_products_of_bytes,
    "selp": _select,
    "setp.eq": _compare(np.equal),
    "setp.ne": _compare(np.not_equal),
    "setp.lt": _compare(np.less),
    "setp.le": _compare(np.less_equal),
    "setp.gt": _compare(np.greater),
    "setp.ge": _compare(np.greater_equal),
    "setp.ltu": _compare(_unordered_less),
    "setp.leu": _compare(_unordered_less_equal),
    "setp.neu": _compare(np.not_equal),
    "sqrt.rn": _of_all(np.sqrt),
    "rcp.rn": _of_all(np.reciprocal),
    "rcp.approx.ftz": _flushing(np.reciprocal),
    "ex2.approx.ftz": _flushing(np.exp2),
    "lg2.approx": _approximately(np.log2),
}
