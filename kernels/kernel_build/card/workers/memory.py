"""Full jobs: full-size SDXL with random weights, resident, streamed under VRAM limits, quantized, and with refiner."""

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kernel_build.card import stub as stubs
from kernel_build.card.protocol import Row, Teller
from kernel_build.full_size_models import write_sdxl
from kernel_build.memory_bench import JOBS, Job, measure, roomy
from kernel_build.memory_rows import what_of

GB = 2**30


def run(teller: Teller, words: Sequence[str], stub: bool) -> None:
    """Report a row per limit of each job."""
    del words
    with tempfile.TemporaryDirectory(dir=roomy()) as made:
        folder = Path(made)
        if stub:
            stubs.write_small_sdxl(folder)
        for job in JOBS[:1] if stub else JOBS:
            if teller.wants(job.name):
                _tell(teller, job, _small(folder, job) if stub else _full(folder, job))


def _tell(teller: Teller, job: Job, rows: Iterator[Mapping[str, Any]]) -> None:
    problem = None
    for measured in rows:
        ours = measured["method"] == "mezzotint"
        outcome = "ok" if measured["problem"] is None else "failed" if ours else "unavailable"
        teller.row(Row(item=what_of(measured), outcome=outcome, problem=measured["problem"], measured=measured))
        problem = problem or (measured["problem"] if ours else None)
    teller.row(Row(item=job.name, outcome="failed" if problem else "ok", problem=problem))


def _full(folder: Path, job: Job) -> Iterator[Mapping[str, Any]]:
    for name in job.names:
        if not (folder / name).is_dir():
            written = write_sdxl(folder / name, name)
            sys.stderr.write(f"{name}: {written / GB:.2f} GB of random weights\n")
    yield from measure(folder, "cuda:0", job)


def _small(folder: Path, job: Job) -> Iterator[Mapping[str, Any]]:
    yield from measure(folder, "cpu", replace(job, limits=(GB,)), side=64, steps=1)
