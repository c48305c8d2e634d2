"""python -m kernel_build COMMAND: compile the kernels and inspect the result."""

import argparse
import random
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kernel_build.card.check import RESULTS, SECONDS, STUB_RESULTS, Options, gpu_check
from kernel_build.card.parts import PARTS
from kernel_build.card.recorded import record_results
from kernel_build.errors import BuildError
from kernel_build.gates import failures
from kernel_build.library import FOLDER, build_library
from kernel_build.machine_code import Kernel, Unit, read_machine_code, source_digest
from kernel_build.registers import TABLE, WRITE, RegisterTable, read_table, table_of, write_table
from kernel_build.results import RESULTS as RESULTS_TABLE
from kernel_build.results import read_rows, with_targets, write_rows
from kernel_build.sources import ARCHITECTURES, OUTPUT, architectures_of, kernel_sources, source_name
from kernel_build.toolchain import find_toolchain


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return 1 if the kernels fail a check, 2 if they cannot be built."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except BuildError as error:
        say(f"kernels: {error}")
        return 2


def say(line: str) -> None:
    """Print a line to stderr."""
    sys.stderr.write(line + "\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m kernel_build", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    library = commands.add_parser("library", help="build the library into build/kernels")
    library.add_argument("--architectures", help="as CMake names them: 89-real, or native (default: all)")
    library.set_defaults(run=_library)
    gates = commands.add_parser("gates", help="compile kernels for each architecture and look at the machine code")
    gates.add_argument("--architectures", nargs="+", choices=ARCHITECTURES, default=ARCHITECTURES, metavar="sm_XX")
    gates.add_argument(
        "--sample",
        type=float,
        default=1.0,
        metavar="SHARE",
        help=f"compile only this share, drawn at random, of what {TABLE.name} says has passed (default: 1)",
    )
    gates.add_argument("--seed", type=int, help="draw that share as an earlier run did, which printed its seed")
    gates.add_argument("--write-table", action="store_true", help=f"write {TABLE.name} as it is now")
    gates.set_defaults(run=_gates)
    roofline = commands.add_parser("roofline", help="count instructions, and write the tables of docs/kernels.md")
    roofline.add_argument(
        "--page-only", action="store_true", help="compile nothing: take the instructions counted before"
    )
    roofline.set_defaults(run=_roofline)
    _add_gpu_check(commands)
    for command in (library, gates):
        command.add_argument("-j", "--jobs", type=int, help="how many compilers at a time (default: one per core)")
    return parser


def _add_gpu_check(commands: Any) -> None:  # noqa: ANN401  argparse does not export the type
    gpu = commands.add_parser("gpu-check", help="build, test and measure on the card that is here")
    gpu.add_argument("parts", nargs="*", metavar="PART", help=", ".join(part.name for part in PARTS) + "; or a word")
    gpu.add_argument("--results", type=Path, metavar="DIR", help=f"where results are kept (default: {_shown(RESULTS)})")
    gpu.add_argument("--again", action="store_true", help="put the results that are there aside, and start afresh")
    gpu.add_argument("--stub", action="store_true", help=f"without a card: all steps, into {_shown(STUB_RESULTS)}")
    gpu.add_argument("--seconds", type=float, default=SECONDS, help=f"for all of it (default: {SECONDS})")
    gpu.set_defaults(run=_gpu_check)
    record = commands.add_parser("record", help="write a card's results into the project's table of results")
    record.add_argument(
        "folder",
        type=Path,
        nargs="?",
        metavar="DIR",
        help="what gpu-check was given as --results; without: targets alone",
    )
    record.set_defaults(run=_record)


def _shown(path: Path) -> str:
    return path.relative_to(OUTPUT.parent).as_posix()


def _library(options: argparse.Namespace) -> int:
    toolchain = find_toolchain()
    say(f"kernels: nvcc {toolchain.version} ({toolchain.nvcc})")
    started = time.monotonic()
    build_library(toolchain, architectures=options.architectures, jobs=options.jobs)
    say(
        f"kernels: built in {FOLDER} in {time.monotonic() - started:.0f} s; python -c 'import mezzotint_kernels; "
        "print(mezzotint_kernels.info())' tells about it"
    )
    return 0


def _gates(options: argparse.Namespace) -> int:
    toolchain = find_toolchain()
    if options.write_table and (set(options.architectures) != set(ARCHITECTURES) or options.sample < 1):
        raise BuildError("--write-table writes all architectures: leave --architectures and --sample out")
    units = [
        Unit(source=source, architecture=name)
        for source in kernel_sources()
        for name in architectures_of(source, options.architectures)
    ]
    digests = {source_name(source): source_digest(source, toolchain) for source in kernel_sources()}
    chosen = units if options.sample == 1 else _sample(units, digests, options)
    kernels = read_machine_code(chosen, toolchain, jobs=options.jobs, on_compile=_Progress(len(chosen)).one)
    if options.write_table:
        _write(table_of(kernels, toolchain.version, digests), kernels)
    found = failures(kernels, read_table(), toolchain.version, set(units) - set(chosen))
    for line in found:
        say(f"kernels: {line}")
    if not found:
        say(f"kernels: {len(kernels)} on {len(options.architectures)} architectures: no spill, no stack, as expected")
    return 1 if found else 0


def _sample(units: Sequence[Unit], digests: Mapping[str, str], options: argparse.Namespace) -> list[Unit]:
    """Select every unit whose source changed since the table was written, plus a random share of the others."""
    passed = read_table().sources
    changed = [unit for unit in units if passed.get(name := source_name(unit.source)) != digests[name]]
    rest = [unit for unit in units if unit not in changed]
    seed = random.randrange(2**32) if options.seed is None else options.seed
    drawn = random.Random(seed).sample(rest, round(len(rest) * options.sample))
    say(f"kernels: {len(changed)} units of changed sources, {len(drawn)} of {len(rest)} others by --seed {seed}")
    if changed:
        say(f"kernels: once all is right, {WRITE} records it, and they are not compiled each time")
    return [*changed, *drawn]


def _write(table: RegisterTable, kernels: Sequence[Kernel]) -> None:
    """Write the table; source digests are recorded only if every kernel passes."""
    right = not failures(kernels, table, table.compiler)
    write_table(table if right else replace(table, sources={}))
    say(f"kernels: wrote {TABLE}")


def _roofline(options: argparse.Namespace) -> int:
    from kernel_build.roofline.code import measured_code, read_code, write_code
    from kernel_build.roofline.kernels import every
    from kernel_build.roofline.page import PAGE, tables, write_page

    works = every()
    if not options.page_only:
        write_code(measured_code((work.label for work in works), find_toolchain()))
    write_page(tables(works, read_code(), read_table(), read_rows()))
    say(f"kernels: wrote {PAGE}")
    return 0


def _gpu_check(options: argparse.Namespace) -> int:
    return gpu_check(
        Options(
            parts=tuple(options.parts),
            results=options.results,
            again=options.again,
            stub=options.stub,
            seconds=options.seconds,
        )
    )


def _record(options: argparse.Namespace) -> int:
    if options.folder is None:
        write_rows(with_targets(read_rows()))
        say(f"kernels: wrote the targets of {RESULTS_TABLE}")
        return 0
    say(f"kernels: {record_results(options.folder)} rows recorded")
    return 0


class _Progress:
    """Progress output: one line per tenth of the units that may need compiling."""

    def __init__(self, units: int) -> None:
        self._units, self._done, self._lock = units, 0, threading.Lock()

    def one(self, unit: Unit) -> None:
        """Report that a unit is about to be compiled."""
        with self._lock:
            if self._done % max(1, self._units // 10) == 0:
                say(f"kernels: compiling {unit} ({self._done + 1} of up to {self._units})")
            self._done += 1


if __name__ == "__main__":
    sys.exit(main())
