"""Measure the overhead of a batch besides generating images: a no-op engine, with the synced manifest.

python bench/batch_overhead.py [--tasks 10000] [--devices 1] [--together 4]

Four figures: text-to-image tasks with the engine in this process; a folder of small images, each opened and hashed;
text-to-image tasks through an engine process; and the first run repeated with nothing left to do. The engine leaves
empty files as images.
"""

import argparse
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "plugins"))

from fake_engine import result_of

from mezzotint.batch.job.job import InputFolder, JobFile, JobOutput, Prompts
from mezzotint.batch.manifest.manifest import Manifest
from mezzotint.batch.run.listener import Silent
from mezzotint.batch.run.owner import Owner
from mezzotint.batch.run.run import Run, RunOptions
from mezzotint.batch.run.workers import EngineWorker, ProcessWorker
from mezzotint.batch.tasks.tasks import tasks_of
from mezzotint.protocol import (
    SCHEMA_VERSION,
    GeneratedImage,
    GenerateManyRequest,
    GenerateManyResult,
    GenerateRequest,
    GenerateResult,
    IsCancelled,
    ManyOutcome,
    OnEvent,
)
from mezzotint.server import serve

LEAST = 300  # tasks per second


class Nothing:
    """An engine that reports success and leaves an empty file."""

    def generate(self, request: GenerateRequest, _: OnEvent, __: IsCancelled) -> GenerateResult:
        """Return immediately."""
        Path(str(request.output.path)).touch()
        image = GeneratedImage(
            path=str(request.output.path), width=8, height=8, seed=request.seed or 0, index=0, sha256="0" * 64
        )
        return result_of(request, [image])

    def generate_many(self, request: GenerateManyRequest, on_event: OnEvent, stop: IsCancelled) -> GenerateManyResult:
        """Return immediately."""
        results = [self.generate(one, on_event, stop) for one in request.requests]
        outcomes = tuple(ManyOutcome(result=result, failure=None) for result in results)
        return GenerateManyResult(schema_version=SCHEMA_VERSION, outcomes=outcomes)

    def close(self) -> None:
        """No resources to release."""


@dataclass
class Figures:
    """Figures of one run."""

    name: str
    tasks: int
    seconds: float
    peak_bytes: int
    syncs: int

    def __str__(self) -> str:
        rate, peak = self.tasks / self.seconds, self.peak_bytes / 2**20
        each = self.seconds / self.tasks * 1e6
        return (
            f"{self.name}: {self.tasks} tasks in {self.seconds:.2f} s, {rate:.0f} a second, {each:.0f} us each, "
            f"{self.syncs} syncs, {peak:.0f} MB"
        )


def measure(name: str, job: JobFile, base: Path, devices: int = 0, together: int = 1) -> Figures:
    """Run the job and measure it."""
    folder, syncs = base / job.output.folder, 0

    def fsync(handle: int) -> None:
        nonlocal syncs
        syncs += 1
        os.fsync(handle)

    started = time.perf_counter()
    with Owner.take(folder, None) as owner, Manifest.open(folder, fsync=fsync) as manifest:
        serving = [sys.executable, __file__, "--serve"]
        workers = [ProcessWorker(serving, dict(os.environ), batch_size=together) for _ in range(devices)]
        ended = Run(
            tasks_of(job, base=base),
            folder,
            manifest,
            workers or [EngineWorker(Nothing, together)],  # type: ignore[arg-type,list-item]  enough of an engine
            Silent(),
            options=RunOptions(),
            stopping=lambda: False,
        ).run()
        del owner
    seconds = time.perf_counter() - started
    settled = ended.progress.done + ended.progress.already
    return Figures(name, settled, seconds, psutil.Process().memory_info().rss, syncs)


def jobs_of(base: Path, tasks: int) -> tuple[JobFile, JobFile]:
    """Return one job of prompts and one of a folder of small images."""
    (base / "words.txt").write_text("".join(f"a house, number {number}\n" for number in range(tasks)))
    (base / "in").mkdir()
    for number in range(tasks):
        Image.new("RGB", (8, 8), (number & 255, number >> 8, 0)).save(base / "in" / f"{number:05d}.png")
    words = JobFile(prompts=Prompts(file="words.txt"), output=JobOutput(folder="words"))
    images = JobFile(
        prompts=Prompts(list=("at night",)), input=InputFolder(folder="in"), output=JobOutput(folder="images")
    )
    return words, images


def main() -> int:
    """Print the figures; return 1 below 300 tasks per second."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--together", type=int, default=4, help="images at a time")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(lambda: None, lambda _: Nothing())  # type: ignore[arg-type,return-value]
    with tempfile.TemporaryDirectory() as temporary:
        base = Path(temporary)
        words, images = jobs_of(base, options.tasks)
        apart = JobFile(prompts=words.prompts, output=JobOutput(folder="apart"))
        found = [
            measure("words, engine here", words, base, together=options.together),
            measure("words again", words, base, together=options.together),
            measure("images, engine here", images, base, together=options.together),
            measure(f"words, {options.devices} process(es)", apart, base, options.devices, options.together),
        ]
    for figures in found:
        print(figures)
    return 0 if all(figures.tasks / figures.seconds >= LEAST for figures in found) else 1


if __name__ == "__main__":
    sys.exit(main())
