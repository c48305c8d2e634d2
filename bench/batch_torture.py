"""Run batches whose processes are killed and whose disks fill up; look for missing, duplicate or broken images.

python bench/batch_torture.py [--tasks 3000] [--devices 2] [--together 4] [--seed 7] [--only kills|limit|disk]

A fast engine writes small real images through the normal code path. `kills`: SIGKILL to the run or one of its workers
every 0.25 to 0.5 s. `limit`: additionally a file size limit (RLIMIT_FSIZE) that the manifest reaches repeatedly.
`disk`: additionally the disk (an 8 MB tmpfs, which root can mount) is repeatedly filled up and cleared. In the end no
image may be missing, duplicate or broken; otherwise the exit code is 1.
"""

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "plugins"))

import batch_programs

from mezzotint.batch.manifest.record import is_record, read_lines

PAUSES = (0.25, 0.5)  # seconds between kills
NO_ROOM = 7
FAILURES = 3
KILLED = -9
MOST_STARTS = 5000
DISK_BYTES = 8 << 20


@dataclass
class Figures:
    """What was done to a batch, and the damage found."""

    tasks: int
    devices: int
    together: int = 1
    starts: int = 0
    kills_of_runs: int = 0
    kills_of_workers: int = 0
    full: int = 0  # runs that ended for lack of space
    retried: int = 0  # runs with --retry-failed, for tasks that two kills had marked as failed
    seconds: float = 0.0
    missing: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    untold: list[str] = field(default_factory=list)  # images without exactly one "done" record in the manifest

    @property
    def is_whole(self) -> bool:
        """Whether every image exists exactly once and is correct."""
        return not (self.missing or self.twice or self.broken or self.untold)

    def __str__(self) -> str:
        return (
            f"{self.tasks} tasks, {self.devices or 'no'} processes for workers, {self.together} images together: "
            f"{self.starts} starts, "
            f"{self.kills_of_runs} kills of runs, {self.kills_of_workers} of workers, {self.full} times no room, "
            f"{self.retried} retries, {self.seconds:.0f} s; missing {len(self.missing)}, twice {len(self.twice)}, "
            f"broken {len(self.broken)}, not told right {len(self.untold)}"
        )


Shell = Callable[[], list[str]]  # returns the prefix of a run's command line


class Torture:
    """One batch, restarted until it is done."""

    def __init__(
        self,
        folder: Path,
        tasks: int,
        devices: int,
        rng: random.Random,
        before: Shell = list,
        images: tuple[int, int] | None = None,
        together: int = 1,
    ) -> None:
        """With `images` (minimum, maximum), kill after that many images instead of after a time."""
        self.figures = Figures(tasks=tasks, devices=devices, together=together)
        self._folder, self._rng, self._before, self._images = folder, rng, before, images

    def run(self, *, kills: bool = True) -> Figures:
        """Run to the end and check the result."""
        started, retry = time.monotonic(), False
        for _ in range(MOST_STARTS):
            code = self._one(kills, retry)
            retry = code == FAILURES
            self.figures.retried += retry
            self.figures.full += code == NO_ROOM
            if code == 0:
                break
            if code not in (KILLED, NO_ROOM, FAILURES):
                raise RuntimeError(f"a run ended with {code}")
        self.figures.seconds = time.monotonic() - started
        check(self._folder, self.figures)
        return self.figures

    def _one(self, kills: bool, retry: bool) -> int:
        """Start the run once and return its exit code."""
        words = [sys.executable, batch_programs.__file__, "run", str(self._folder), str(self.figures.tasks)]
        words += ["--devices", str(self.figures.devices), "--together", str(self.figures.together)]
        words += ["--retry-failed"] if retry else []
        self.figures.starts += 1
        with subprocess.Popen([*self._before(), *words], stdout=subprocess.PIPE, text=True) as process:
            if process.stdout is None or not process.stdout.readline():  # until there is work that a kill can interrupt
                return process.wait()
            if self._images is None:
                threading.Thread(target=process.stdout.read, daemon=True).start()
            while kills and not self._ends_first(process):
                self._kill(process)
            if self._images is not None:
                process.stdout.read()
            return process.wait()

    def _ends_first(self, process: "subprocess.Popen[str]") -> bool:
        """Whether the run ends before the next kill is due."""
        if self._images is not None and process.stdout is not None:
            return not all(process.stdout.readline() for _ in range(self._rng.randrange(*self._images)))
        try:
            process.wait(self._rng.uniform(*PAUSES))
        except subprocess.TimeoutExpired:
            return False
        return True

    def _kill(self, process: "subprocess.Popen[str]") -> None:
        workers = []
        with contextlib.suppress(psutil.NoSuchProcess):
            workers = psutil.Process(process.pid).children()
        if workers and self._rng.random() < 0.5:
            with contextlib.suppress(psutil.NoSuchProcess):
                self._rng.choice(workers).kill()
                self.figures.kills_of_workers += 1
            return
        process.send_signal(signal.SIGKILL)
        self.figures.kills_of_runs += 1
        process.wait()


def check(folder: Path, figures: Figures) -> None:
    """Compare the files and records with what is expected."""
    tasks = [batch_programs.task(number, folder) for number in range(figures.tasks)]
    expected = {task.output: task for task in tasks}
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*.png")}
    figures.missing = sorted(expected.keys() - there)
    figures.twice = sorted(there - expected.keys())
    figures.broken = [name for name in sorted(there & expected.keys()) if not _is_right(folder / name, expected[name])]
    lines = [line.value for path in folder.glob("mezzotint-manifest*.jsonl") for line in read_lines(path)]
    records = [line for line in lines if line is not None and is_record(line)]
    done = Counter((line["key"], line["output"]) for line in records if line["status"] == "done")
    figures.untold = [task.output for task in tasks if done.pop((task.key, task.output), 0) != 1]
    figures.untold += [output for _, output in done]


def _is_right(path: Path, task: batch_programs.BatchTask) -> bool:
    with Image.open(path) as image:
        return image.convert("RGB").tobytes() == batch_programs.painted(task.request.seed).tobytes()


# ---- full disks


def limited(folder: Path, rng: random.Random, more: tuple[int, int] = (2_000, 200_000)) -> Shell:
    """Return a prefix that limits file sizes to slightly more than the manifest's current size."""

    def before() -> list[str]:
        sizes = [path.stat().st_size for path in folder.glob("mezzotint-manifest*.jsonl")]
        limit = max([0, *sizes]) + rng.randrange(*more)
        return ["prlimit", f"--fsize={limit}"]

    return before


@contextlib.contextmanager
def small_disk(size: int = DISK_BYTES) -> Iterator[Path | None]:
    """Mount a disk of this size; yields None if this user cannot mount one."""
    with tempfile.TemporaryDirectory() as name:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "mezzotint-torture", name]
        if os.name != "posix" or subprocess.run(mount, capture_output=True, check=False).returncode:
            yield None
            return
        try:
            yield Path(name)
        finally:
            subprocess.run(["umount", name], check=True)


@contextlib.contextmanager
def filled_now_and_then(disk: Path, rng: random.Random) -> Iterator[None]:
    """Repeatedly fill all free space with one file and delete it."""
    stopped = threading.Event()
    ballast = disk / "ballast"

    def fill() -> None:
        while not stopped.wait(rng.uniform(0.5, 2.0)):
            with contextlib.suppress(OSError), open(ballast, "wb", buffering=0) as file:
                while file.write(bytes(4096)):
                    continue
            stopped.wait(rng.uniform(0.3, 0.8))
            ballast.unlink()

    thread = threading.Thread(target=fill)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def _on_a_small_disk(tasks: int, devices: int, together: int, rng: random.Random) -> Figures | None:
    with small_disk(DISK_BYTES + tasks * 8192) as disk:
        if disk is None:
            return None
        (disk / "out").mkdir()
        with filled_now_and_then(disk, rng):
            return Torture(disk / "out", tasks, devices, rng, together=together).run()


def main() -> int:
    """Run everything and print the figures; return 1 if an image is missing, duplicate or broken."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tasks", type=int, default=3000)
    parser.add_argument("--devices", type=int, default=2)
    parser.add_argument("--together", type=int, default=4)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--only", choices=("kills", "limit", "disk"))
    options = parser.parse_args()
    rng = random.Random(options.seed)
    found: list[Figures] = []
    for name in (options.only,) if options.only else ("kills", "limit", "disk"):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            before = limited(folder, rng) if name == "limit" else list
            if name == "disk":
                figures = _on_a_small_disk(options.tasks, options.devices, options.together, rng)
            else:
                torture = Torture(folder, options.tasks, options.devices, rng, before, together=options.together)
                figures = torture.run()
        print(f"{name}: {figures or 'not run: a tmpfs cannot be mounted by this user'}", flush=True)
        found += [figures] if figures else []
    return 0 if all(figures.is_whole for figures in found) else 1


if __name__ == "__main__":
    sys.exit(main())
