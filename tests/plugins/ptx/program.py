"""Parser of PTX as nvcc writes it: kernels, their parameters, registers, labels and instructions."""

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from kernel_build.mangled import readable

TYPE = re.compile(r"(?:[bsu](?:8|16|32|64)|s4|e4m3x2|e2m1x2|e4m3|e2m1|ue8m0|ue4m3|f16x2|bf16x2|f16|bf16|f32|pred)$")
_TARGET = re.compile(r"^\.target (sm_\d+)", re.MULTILINE)
_ENTRY = re.compile(r"\.entry\s+(\w+)\(\s*\.param .*?\.b8 (\w+)\[(\d+)\]\s*\)(.*?)\{(.*?)\n\}", re.DOTALL)
_THREADS = re.compile(r"\.maxntid (\d+)")
_STATIC = re.compile(r"\.shared\s+\.align\s+(\d+)\s+\.b8\s+(\w+)\[(\d*)\]")
_COMMENT = re.compile(r"//[^\n]*")
_PIECE = re.compile(r"\s*(?:(?P<label>\$\w+:)|(?P<brace>[{}])|(?P<statement>[^;]+);)")
_DECLARED = re.compile(r"\.reg\s+\.([a-z]+)(\d*)\s+(.+)$", re.DOTALL)
_INSTRUCTION = re.compile(r"(?:@(!?)([%\w]+)\s+)?([a-z][\w.:]*)\s*(.*)$", re.DOTALL)
_ADDRESS = re.compile(r"\[\s*([%\w$]+)\s*(?:\+\s*(-?\d+))?\s*\]$")
_NUMBER = re.compile(r"(?:-?\d+|0x[0-9a-fA-F]+)U?$")
_NAME = re.compile(r"[%\w$][\w.$]*$")
_FLOAT = re.compile(r"0f[0-9a-fA-F]{8}$")


class PtxError(Exception):
    """Illegal or unsupported PTX; the message includes the line."""


@dataclass(frozen=True, slots=True)
class Register:
    """A register, by name."""

    name: str


@dataclass(frozen=True, slots=True)
class Number:
    """A literal, by its bits."""

    bits: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """The address of a declaration, or a label."""

    name: str


@dataclass(frozen=True, slots=True)
class Address:
    """A memory operand: a register or symbol plus an offset in bytes."""

    base: "Register | Symbol"
    offset: int


@dataclass(frozen=True, slots=True)
class Several:
    """Registers in braces, or two separated by a bar."""

    parts: "tuple[Operand, ...]"


Operand = Register | Number | Symbol | Address | Several


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """One instruction."""

    name: str  # without types: mma.sync.aligned.m16n8k16.row.col
    types: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Register | None  # predicate that must be set
    guard_unset: bool  # or not set
    line: int
    text: str

    @property
    def type(self) -> str:
        """The last of its types."""
        return self.types[-1]


@dataclass(slots=True, kw_only=True)
class Program:
    """One kernel."""

    name: str
    target: str  # sm_80
    parameter: str
    parameter_bytes: int
    threads: int  # maximum per block; 0: unspecified
    statics: dict[str, int]  # addresses of declarations in shared memory
    static_bytes: int
    widths: dict[str, int] = field(default_factory=dict)  # bits per register; 1: a predicate
    labels: dict[str, int] = field(default_factory=dict)
    code: list[Instruction] = field(default_factory=list)

    def width(self, register: str) -> int:
        """Return a register's width in bits."""
        found = self.widths.get(register) or self.widths.get(register.rstrip("0123456789") + "<")
        if found is None:
            raise PtxError(f"the register {register} is not declared")
        return found


@lru_cache(maxsize=16)
def kernel_of(text: str, wanted: str) -> Program:
    """Return the only kernel whose demangled name starts with `wanted`."""
    shown = _COMMENT.sub("", text)
    found = [entry for entry in _ENTRY.finditer(shown) if readable(entry[1]).startswith(wanted)]
    target = _TARGET.search(text)
    if len(found) != 1 or target is None:
        names = [readable(entry[1]) for entry in _ENTRY.finditer(shown)]
        raise PtxError(f"there is not one kernel {wanted} for one target among {names}")
    return _kernel(found[0], target[1], shown)


def _kernel(found: re.Match[str], target: str, text: str) -> Program:
    name, parameter, size, directives, body = found.groups()
    threads = _THREADS.search(directives)
    statics, end = _placed(text[: text.index(".entry")] + body)
    program = Program(
        name=name,
        target=target,
        parameter=parameter,
        parameter_bytes=int(size),
        threads=int(threads[1]) if threads else 0,
        statics=statics,
        static_bytes=end,
    )
    first_line = text.count("\n", 0, found.start(5)) + 1
    for line, statement in _statements(body, first_line):
        _add(program, statement, line)
    return program


def _placed(text: str) -> tuple[dict[str, int], int]:
    """Lay out shared memory declarations; the dynamically sized one comes last."""
    statics, end, last = {}, 0, []
    for alignment, name, size in _STATIC.findall(text):
        if not size:
            last.append((name, int(alignment)))
            continue
        statics[name] = -(-end // int(alignment)) * int(alignment)
        end = statics[name] + int(size)
    for name, alignment in last:
        statics[name] = end = -(-end // alignment) * alignment
    return statics, end


def _statements(body: str, line: int) -> Iterator[tuple[int, str]]:
    """Yield labels and statements; braces only scope register names."""
    counted = 0
    for piece in _PIECE.finditer(body):
        start = piece.start(piece.lastgroup or 0)
        line += body.count("\n", counted, start)
        counted = start
        if piece.lastgroup != "brace":
            yield line, piece[piece.lastgroup or 0]


def _add(program: Program, statement: str, line: int) -> None:
    if statement.endswith(":"):
        program.labels[statement[:-1]] = len(program.code)
    elif declared := _DECLARED.match(statement):
        _declare(program, declared)
    elif not statement.startswith((".pragma", ".shared", ".loc")):
        program.code.append(_instruction(statement, line, program.widths))


def _declare(program: Program, declared: re.Match[str]) -> None:
    kind, bits, names = declared.groups()
    for name in names.split(","):
        counted = re.match(r"(%\w+)<\d+>$", name.strip())
        key = f"{counted[1]}<" if counted else name.strip()
        program.widths[key] = 1 if kind == "pred" else int(bits)


def _instruction(statement: str, line: int, declared: Container[str]) -> Instruction:
    found = _INSTRUCTION.match(statement)
    if found is None:
        raise PtxError(f"line {line} is not understood: {statement}")
    negated, guard, words, operands = found.groups()
    parts = words.split(".")
    return Instruction(
        name=".".join(part for part in parts if not TYPE.match(part)),
        types=tuple(part for part in parts if TYPE.match(part)),
        operands=tuple(_operand(each, line, declared) for each in _split(operands)),
        guard=Register(guard) if guard else None,
        guard_unset=bool(negated),
        line=line,
        text=" ".join(statement.split()),
    )


def _split(text: str) -> list[str]:
    """Split operands at commas outside of braces and brackets."""
    pieces = re.findall(r"(?:\[[^]]*\]|\{[^}]*\}|[^,{}[\]])+", text)
    return [piece.strip() for piece in pieces if piece.strip()]


def _operand(text: str, line: int, declared: Container[str]) -> Operand:
    parts = _split(text[1:-1]) if text.startswith("{") else [each.strip() for each in text.split("|")]
    if text.startswith("{") or len(parts) > 1:
        return Several(tuple(_operand(each, line, declared) for each in parts))
    if text.startswith("[") and "{" in text:  # a map, and where in its tensor
        base, coordinates = _split(text[1:-1])
        return Several((_operand(base, line, declared), *_operand(coordinates, line, declared).parts))
    if address := _ADDRESS.match(text):
        return Address(_named(address[1], declared), int(address[2] or 0))
    if _FLOAT.match(text):
        return Number(int(text[2:], 16))
    if _NUMBER.match(text):
        return Number(int(text.removesuffix("U"), 0))
    if _NAME.match(text):
        return _named(text, declared)
    raise PtxError(f"line {line} has an operand that is not understood: {text}")


def _named(name: str, declared: Container[str]) -> Register | Symbol:
    return Register(name) if name.startswith("%") or name == "_" or name in declared else Symbol(name)
