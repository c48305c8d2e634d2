"""SDXL of full size on a card that is made small: a line of JSON for each row, as it is measured."""

import argparse
import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from kernel_build.full_size_models import write_sdxl

GB = 2**30
LIMITS = (8 * GB, 6 * GB, 4 * GB)
STEPS, REPEATS, SIDE = 30, 1, 1024
SUBJECTS = (("sdxl",), ("sdxl", "sdxl-refiner"))


def main() -> int:
    """Write the models, measure, print."""
    with tempfile.TemporaryDirectory(dir=_roomy()) as folder:
        for name in dict.fromkeys(name for names in SUBJECTS for name in names):
            written = write_sdxl(Path(folder, name), name)
            sys.stderr.write(f"{name}: {written / GB:.2f} GB of random weights\n")
        for row in measure(Path(folder), "cuda:0"):
            sys.stdout.write(json.dumps(row) + "\n")
            sys.stdout.flush()
    return 0


def measure(
    folder: Path,
    device: str,
    subjects: Sequence[Sequence[str]] = SUBJECTS,
    *,
    limits: Sequence[int] = LIMITS,
    side: int = SIDE,
    steps: int = STEPS,
    repeats: int = REPEATS,
) -> Iterator[Mapping[str, Any]]:
    """Rows of ours, then of diffusers; on a card another process holds what lies beyond each limit."""
    from mezzotint.catalog import Catalog
    from mezzotint.cli.ballast import ballast
    from mezzotint.cli.context import Context
    from mezzotint.cli.diffusers_offload import offload_cells
    from mezzotint.cli.memory_cells import CellBench, How, MemoryCell, Subject, hold_nothing
    from mezzotint.cli.terminal import Terminal
    from mezzotint.engine import Engine

    on_card = device.startswith("cuda")
    how = How(
        steps=steps,
        repeats=repeats,
        device=device,
        limits=tuple(limits),
        plenty=None if on_card else 2 * GB,
        hold=partial(ballast, 0) if on_card else hold_nothing,
    )
    context = Context(terminal=Terminal(io.StringIO(), sys.stderr))
    with (
        contextlib.closing(Engine(Catalog.standard())) as engine,
        tempfile.TemporaryDirectory() as pictures,
    ):
        bench = CellBench(engine, context, how, pictures)
        for names in subjects:
            subject = Subject(models=tuple(str(folder / name) for name in names), width=side, height=side)
            resident: MemoryCell | None = None
            for cell in bench.measure(subject):
                resident = resident or cell
                yield _row(cell, names)
            bench.close()
            seconds = None if resident is None else resident.seconds
            for cell in offload_cells(subject, folder / names[0], how, seconds):
                yield _row(cell, names)


def _row(cell: Any, names: Sequence[str]) -> dict[str, Any]:  # noqa: ANN401  a MemoryCell, which is imported late
    found = {**asdict(cell), "model": "+".join(names), "within_limit": cell.within_limit, "within_a_tenth": cell.near}
    return {**found, "weights": "random"}


def _roomy() -> str | None:
    """Where files are RAM, if there is such a place: models are read many times."""
    shared = Path("/dev/shm")  # noqa: S108  Linux's own, of which a folder of ours is used
    return str(shared) if shared.is_dir() else None


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    sys.exit(main())
