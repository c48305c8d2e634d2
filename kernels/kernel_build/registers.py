"""The checked-in table of register limits per kernel and architecture, and of the sources that passed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kernel_build.errors import BuildError
from kernel_build.machine_code import Kernel
from kernel_build.sources import ARCHITECTURES, FAMILY

TABLE = Path(__file__).with_name("registers.txt")
WRITE = "python -m kernel_build gates --write-table"
_ABSENT = "-"
_SOURCE = "source"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterTable:
    """Compiler version, registers by (kernel, architecture), digests of the sources that passed."""

    compiler: str
    registers: Mapping[tuple[str, str], int]
    sources: Mapping[str, str] = field(default_factory=dict)  # digests by source name


def table_of(kernels: Iterable[Kernel], compiler: str, sources: Mapping[str, str] | None = None) -> RegisterTable:
    """Return the table of the kernels' current register use."""
    used = {(kernel.label, kernel.architecture): kernel.resources.registers for kernel in kernels}
    return RegisterTable(compiler=compiler, registers=used, sources=sources or {})


def read_table(path: Path = TABLE) -> RegisterTable:
    """Read the table. Raises BuildError if it is damaged."""
    try:
        lines = [line.split() for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#")]
        sources = {name: digest for word, name, digest in (line for line in lines if line[0] == _SOURCE)}
        (_, compiler), (_, *architectures), *rows = (line for line in lines if line[0] != _SOURCE)
        registers = {
            (name, architecture): int(number)
            for name, *numbers in rows
            for architecture, number in zip(architectures, numbers, strict=True)
            if number != _ABSENT
        }
    except (OSError, ValueError) as error:
        raise BuildError(f"{path} is no table of registers ({error}): write it with {WRITE}") from error
    return RegisterTable(compiler=compiler, registers=registers, sources=sources)


def write_table(table: RegisterTable, path: Path = TABLE) -> None:
    """Write the table: a line per kernel, a column per architecture, then the sources that passed."""
    names = sorted({name for name, _ in table.registers})
    width = max(map(len, ["kernel", *names]))
    architectures = (*ARCHITECTURES, FAMILY)
    lines = [
        f"# Registers that each kernel may use, as ptxas counts them. Written by: {WRITE}",
        f"nvcc {table.compiler}",
        " ".join([f"{'kernel':{width}}", *(f"{name:>7}" for name in architectures)]),
    ]
    for name in names:
        numbers = (str(table.registers.get((name, architecture), _ABSENT)) for architecture in architectures)
        lines.append(" ".join([f"{name:{width}}", *(f"{number:>7}" for number in numbers)]))
    lines += [f"{_SOURCE} {name} {digest}" for name, digest in sorted(table.sources.items())]
    path.write_text("\n".join(lines) + "\n", "utf-8", newline="\n")
