"""Registers: an array with a value per thread for each name, viewed as the type that an instruction specifies."""

import numpy as np
from ptx.program import Number, Operand, Program, PtxError, Register, Symbol

UNSIGNED = {1: np.dtype(bool), 8: np.dtype("u1"), 16: np.dtype("u2"), 32: np.dtype("u4"), 64: np.dtype("u8")}
SIGNED = {8: np.dtype("i1"), 16: np.dtype("i2"), 32: np.dtype("i4"), 64: np.dtype("i8")}
OTHERS = {
    "pred": np.dtype(bool),
    "f16": np.dtype("f2"),
    "bf16": np.dtype("u2"),
    "f16x2": np.dtype("u4"),
    "bf16x2": np.dtype("u4"),
    "f32": np.dtype("f4"),
}
UNSET = {2: 0x7FFF, 4: 0x7FFF7FFF, 8: 0x7FFF7FFF7FFF7FFF}  # NaN patterns: unwritten registers must not look like zeros


def dtype_of(name: str) -> np.dtype:
    """Return the numpy dtype of a type; bfloat16 as its bits."""
    if name in OTHERS:
        return OTHERS[name]
    return (SIGNED if name[0] == "s" else UNSIGNED)[int(name[1:])]


class Registers:
    """The registers of all threads."""

    def __init__(self, program: Program, blocks: int, threads: int) -> None:
        self._program = program
        self._count = blocks * threads
        numbers = np.arange(self._count, dtype=np.uint32)
        self._values = {"%tid.x": numbers % threads, "%ctaid.x": numbers // threads}

    def read(self, operand: Operand, lanes: np.ndarray, kind: str) -> np.ndarray:
        """Return an operand's values for these threads, truncated to the type's width."""
        wanted = dtype_of(kind)
        match operand:
            case Register(name):
                bits = self._of(self._named(name), lanes)
            case Number(value) if kind == "pred":
                bits = np.full(len(lanes), value != 0)
            case Number(value):
                size = 8 * wanted.itemsize
                bits = np.full(len(lanes), value % 2**size, UNSIGNED[size])
            case Symbol(name):
                bits = np.full(len(lanes), self._address(name), np.uint64)
            case _:
                raise PtxError(f"{operand} is no number")
        return _seen_as(bits, wanted)

    def write(self, operand: Operand, lanes: np.ndarray, values: np.ndarray) -> None:
        """Set a register of these threads; narrower values are widened, with sign if they have one."""
        if not isinstance(operand, Register):
            raise PtxError(f"{operand} cannot be set")
        if operand.name == "_":
            return
        target = self._values.get(operand.name)
        if target is None:
            target = self._values[operand.name] = self._unset(operand.name)
        target[... if len(lanes) == self._count else lanes] = _widened(values, target.dtype)

    def read_named(self, name: str, lanes: np.ndarray) -> np.ndarray:
        """Return the floats in a register of these threads; those of one that nothing wrote are no numbers."""
        held = self._values.get(name)
        return (self._unset(name) if held is None else held)[lanes].view(np.float32)

    def write_named(self, name: str, lanes: np.ndarray, words: np.ndarray) -> None:
        """Set a register of these threads to 32-bit words."""
        self._values.setdefault(name, self._unset(name))[lanes] = words

    def predicate(self, register: Register, lanes: np.ndarray) -> np.ndarray:
        """Whether a predicate is set."""
        return self.read(register, lanes, "pred")

    def _of(self, values: np.ndarray, lanes: np.ndarray) -> np.ndarray:
        return values if len(lanes) == self._count else values[lanes]

    def _named(self, name: str) -> np.ndarray:
        if name not in self._values:
            raise PtxError(f"{name} is read, and nothing wrote it")
        return self._values[name]

    def _unset(self, name: str) -> np.ndarray:
        dtype = UNSIGNED[self._program.width(name)]
        return np.full(self._count, UNSET.get(dtype.itemsize, 1), dtype)

    def _address(self, name: str) -> int:
        if name == self._program.parameter:
            return 0
        if name not in self._program.statics:
            raise PtxError(f"{name} is not declared")
        return self._program.statics[name]


def _seen_as(bits: np.ndarray, wanted: np.dtype) -> np.ndarray:
    if bits.dtype.itemsize < wanted.itemsize or (bits.dtype.kind == "b") != (wanted.kind == "b"):
        raise PtxError(f"a register of type {bits.dtype} is read as {wanted}")
    if bits.dtype.itemsize > wanted.itemsize:
        bits = bits.astype(f"u{wanted.itemsize}")
    return bits.view(wanted)


def _widened(values: np.ndarray, target: np.dtype) -> np.ndarray:
    if values.dtype.itemsize > target.itemsize or (values.dtype.kind == "b") != (target.kind == "b"):
        raise PtxError(f"a register of type {target} is given a {values.dtype}")
    if values.dtype.kind == "f":
        values = np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")
    if values.dtype.kind == "i":
        values = values.astype(f"i{target.itemsize}")
    return values.astype(target, copy=False)
