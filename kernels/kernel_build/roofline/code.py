"""Usual instructions of one step of a kernel's main loop, counted in its machine code, in a checked-in table."""

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from kernel_build.errors import BuildError
from kernel_build.machine_code import Kernel, Unit, read_machine_code
from kernel_build.sass import count
from kernel_build.sources import FAMILY, HOPPER, architectures_of, kernel_sources
from kernel_build.toolchain import Toolchain

TABLE = Path(__file__).with_name("instructions.txt")
ARCHITECTURE = "sm_89"  # that of block-scaled products is FAMILY, that of wgmma HOPPER
WRITE = "python -m kernel_build roofline"
_HEAD = (
    f"# Usual instructions in the loops of {ARCHITECTURE} machine code; everywhere if no loop has products.\n"
    f"# Block-scaled products: of {FAMILY} machine code; wgmma: of {HOPPER}.\n"
    f"# Written by: {WRITE}\n"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCode:
    """Instructions that a warp usually executes in one step: without what a branch skips that has no products."""

    all: int
    hmma: int  # products of 16-bit numbers
    imma: int  # products of 8-bit numbers, and of fewer bits; also of floats
    ex2: int  # exponentials
    ldsm: int  # loads of fragments from shared memory
    ldgsts: int  # asynchronous copies to shared memory


_NAMES = tuple(field.name for field in fields(StepCode))


def code_of(kernel: Kernel) -> StepCode:
    """Count a kernel's instructions."""
    loops = kernel.instructions.usual
    where = loops if sum(count(loops, word) for word in _PRODUCTS) else kernel.instructions.everywhere
    named = {name: sum(count(where, word) for word in words) for name, words in zip(_NAMES[1:], _WORDS, strict=True)}
    return StepCode(all=where.total(), **named)


_NARROW = ("IMMA", "QMMA", "OMMA")  # the latter of floats
_WIDE = ("HMMA", "HGMMA")  # the latter of four warps
_PRODUCTS = (*_WIDE, *_NARROW)
_WORDS = (_WIDE, _NARROW, ("MUFU.EX2",), ("LDSM",), ("LDGSTS",))


def measured_code(labels: Iterable[str], toolchain: Toolchain) -> dict[str, StepCode]:
    """Compile the sources of these kernels, unless that is cached, and count. Raises BuildError if one is missing."""
    wanted = set(labels)
    stems = {label.partition(":")[0] for label in wanted}
    sources = [path for path in kernel_sources() if path.stem in stems]
    units = [Unit(source=path, architecture=_architecture(path)) for path in sources]
    found = {kernel.label: code_of(kernel) for kernel in read_machine_code(units, toolchain)}
    if missing := wanted - found.keys():
        raise BuildError(f"no such kernel: {', '.join(sorted(missing))}; roofline/kernels.py names those to count")
    return {label: found[label] for label in sorted(wanted)}


def _architecture(source: Path) -> str:
    return (*architectures_of(source, (ARCHITECTURE,)), *architectures_of(source, (HOPPER,)), FAMILY)[0]


def read_code(path: Path = TABLE) -> dict[str, StepCode]:
    """Read the table. Raises BuildError if it is damaged."""
    try:
        lines = [line.split() for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#")]
        return {label: StepCode(**dict(zip(_NAMES, map(int, numbers), strict=True))) for label, *numbers in lines[1:]}
    except (OSError, ValueError) as error:
        raise BuildError(f"{path} is no table of instructions ({error}): write it with {WRITE}") from error


def write_code(table: Mapping[str, StepCode], path: Path = TABLE) -> None:
    """Write the table: a line per kernel."""
    width = max(map(len, ["kernel", *table]))
    rows = [("kernel", *_NAMES), *((label, *map(str, astuple(code))) for label, code in sorted(table.items()))]
    lines = [" ".join([f"{label:{width}}", *(f"{number:>6}" for number in numbers)]) for label, *numbers in rows]
    path.write_text(_HEAD + "\n".join(lines) + "\n", "utf-8", newline="\n")
