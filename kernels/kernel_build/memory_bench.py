"""Measure full-size SDXL on a GPU whose free memory is limited."""

import contextlib
import io
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from mezzotint.memory_protocol import Quantization

GB = 2**30
LIMITS = (8 * GB, 6 * GB, 4 * GB)
STEPS, REPEATS, SIDE = 30, 1, 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The models of a job, their quantization, and the limits to test besides the whole GPU."""

    names: tuple[str, ...]
    quantization: Quantization | None = None
    limits: tuple[int, ...] = LIMITS

    @property
    def name(self) -> str:
        """The models, followed by the quantization."""
        return "+".join(self.names) + (f" {self.quantization}" if self.quantization else "")


JOBS = (
    Job(names=("sdxl",)),
    Job(names=("sdxl", "sdxl-refiner")),
    Job(names=("sdxl",), quantization="int8", limits=(8 * GB,)),
    Job(names=("sdxl",), quantization="int4", limits=(4 * GB,)),
)


def measure(
    folder: Path, device: str, job: Job, *, side: int = SIDE, steps: int = STEPS, repeats: int = REPEATS
) -> Iterator[Mapping[str, Any]]:
    """Rows of ours, then of diffusers; on a card another process holds what lies beyond each limit."""
    from mezzotint.benchmarks.ballast import limit_gpu_memory
    from mezzotint.catalog import Catalog
    from mezzotint.cli.bench.diffusers_offload import offload_cells
    from mezzotint.cli.bench.memory_cells import BenchCase, BenchSettings, CellBench, MemoryCell, no_ballast
    from mezzotint.cli.context import Context
    from mezzotint.cli.terminal import Terminal
    from mezzotint.engine import Engine

    on_card = device.startswith("cuda")
    how = BenchSettings(
        steps=steps,
        repeats=repeats,
        device=device,
        limits=job.limits,
        plenty=None if on_card else 2 * GB,
        ballast=partial(limit_gpu_memory, 0) if on_card else no_ballast,
    )
    context = Context(terminal=Terminal(io.StringIO(), sys.stderr))
    with (
        contextlib.closing(Engine(Catalog.standard())) as engine,
        tempfile.TemporaryDirectory() as image_folder,
    ):
        bench = CellBench(engine, context, how, image_folder)
        models = tuple(str(folder / name) for name in job.names)
        subject = BenchCase(models=models, width=side, height=side, quantization=job.quantization)
        resident: MemoryCell | None = None
        for cell in bench.measure(subject):
            resident = resident or cell
            yield _row(cell, job)
        bench.close()
        if job.quantization is None:
            seconds = None if resident is None else resident.seconds
            for cell in offload_cells(subject, folder / job.names[0], how, seconds):
                yield _row(cell, job)


def _row(cell: Any, job: Job) -> dict[str, Any]:  # noqa: ANN401  a MemoryCell, imported late
    found = {**asdict(cell), "model": job.name, "within_limit": cell.within_limit, "within_a_tenth": cell.near}
    return {**found, "weights": "random"}


def roomy() -> str | None:
    """Return a RAM-backed folder if there is one, since models are read many times."""
    shared = Path("/dev/shm")  # noqa: S108  Linux's own; a subfolder of it is used
    return str(shared) if shared.is_dir() else None
