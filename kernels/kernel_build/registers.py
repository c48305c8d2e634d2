"""The checked-in table of how many registers each kernel may use on each architecture."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kernel_build.errors import BuildError
from kernel_build.machine_code import Kernel
from kernel_build.sources import ARCHITECTURES

TABLE = Path(__file__).with_name("registers.txt")
WRITE = "python -m kernel_build gates --write-table"
_ABSENT = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterTable:
    """The compiler that it holds for, and the registers of each kernel by (name, architecture)."""

    compiler: str
    registers: Mapping[tuple[str, str], int]


def table_of(kernels: Iterable[Kernel], compiler: str) -> RegisterTable:
    """What the kernels use now."""
    used = {(kernel.label, kernel.architecture): kernel.resources.registers for kernel in kernels}
    return RegisterTable(compiler=compiler, registers=used)


def read_table(path: Path = TABLE) -> RegisterTable:
    """The table as it was written; BuildError for one that is damaged."""
    try:
        lines = [line.split() for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#")]
        (_, compiler), (_, *architectures), *rows = lines
        registers = {
            (name, architecture): int(number)
            for name, *numbers in rows
            for architecture, number in zip(architectures, numbers, strict=True)
            if number != _ABSENT
        }
    except (OSError, ValueError) as error:
        raise BuildError(f"{path} is no table of registers ({error}): write it with {WRITE}") from error
    return RegisterTable(compiler=compiler, registers=registers)


def write_table(table: RegisterTable, path: Path = TABLE) -> None:
    """Write the table, a line for each kernel, a column for each architecture."""
    names = sorted({name for name, _ in table.registers})
    width = max(map(len, ["kernel", *names]))
    lines = [
        f"# Registers that each kernel may use, as ptxas counts them. Written by: {WRITE}",
        f"nvcc {table.compiler}",
        " ".join([f"{'kernel':{width}}", *(f"{name:>7}" for name in ARCHITECTURES)]),
    ]
    for name in names:
        numbers = (str(table.registers.get((name, architecture), _ABSENT)) for architecture in ARCHITECTURES)
        lines.append(" ".join([f"{name:{width}}", *(f"{number:>7}" for number in numbers)]))
    path.write_text("\n".join(lines) + "\n", "utf-8", newline="\n")
