"""Time a whole `batch` command with images generated together against one by one.

python bench/batch_throughput.py [--tasks 40] [--together 4] [--rounds 3] [--model starter-dit] [--threads 2]

Both ways alternate, each in its own process. Three figures for each: images per second in the steady state (from the
eighth image on), CPU seconds per image in the same period, which other programs hardly affect, and the seconds of
the whole command, including loading the model. The images of both ways may differ by at most 2/255. The exit code is
1 if they differ more, or if generating together is not 1.3 times as fast.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
from PIL import Image, ImageChops

LEAST = 1.3  # required speedup in images per second
MOST_APART = 2  # of 255
WARM = 8  # images
_THINGS = ("house", "lighthouse", "tent", "castle", "boat", "tower", "tree", "bridge")
_TIMES = ("by day", "at night", "at dusk", "at dawn", "in the rain", "in the snow")


@dataclass(frozen=True)
class Timed:
    """Timing of one command."""

    seconds: float
    per_second: float  # images per second, in the steady state
    cpu: float  # CPU seconds per image, in the steady state


def prompts(count: int) -> str:
    """Return this many distinct prompts, one per line."""
    lines = (f"a {_THINGS[number % 8]} {_TIMES[number // 8 % 6]}, number {number}" for number in range(count))
    return "".join(f"{line}\n" for line in lines)


def measure(folder: Path, together: int, options: argparse.Namespace) -> Timed:
    """Time one batch into a new folder."""
    words = [sys.executable, "-P", "-m", "mezzotint", "batch", "--prompts", str(folder.parent / "prompts.txt")]
    words += ["-o", str(folder), "-m", options.model, "--batch-size", str(together), "--jsonl", "-q", "--seeds", "7"]
    environ = {**os.environ, "OMP_NUM_THREADS": str(options.threads)}
    started = time.monotonic()
    with subprocess.Popen([*words, *options.more], stdout=subprocess.PIPE, text=True, env=environ) as process:
        lines = map(json.loads, process.stdout or ())
        times = [(time.monotonic(), _cpu(process.pid)) for line in lines if line.get("kind") == "settled"]
    if process.returncode or len(times) != options.tasks:
        raise RuntimeError(f"the batch ended with {process.returncode} after {len(times)} images")
    warm = min(WARM, len(times) // 2)
    count, took, cpu = (
        len(times) - warm,
        *(last - first for first, last in zip(times[warm - 1], times[-1], strict=True)),
    )
    return Timed(time.monotonic() - started, count / max(1e-9, took), cpu / count)


def _cpu(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


def apart(folder: Path, other: Path) -> int:
    """Return the largest difference of any channel in any image, in units of 1/255."""
    names = sorted(path.name for path in folder.glob("*.png"))
    if names != sorted(path.name for path in other.glob("*.png")):
        raise RuntimeError("the two batches have made other images")
    most = 0
    for name in names:
        with Image.open(folder / name) as one, Image.open(other / name) as two:
            extrema = ImageChops.difference(one.convert("RGB"), two.convert("RGB")).getextrema()
            most = max(most, *(int(high) for _, high in extrema))  # type: ignore[misc]  a pair per channel
    return most


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tasks", type=int, default=40)
    parser.add_argument("--together", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model", default="starter-dit")
    parser.add_argument("--threads", type=int, default=2)
    options, options.more = parser.parse_known_args()  # the rest goes to `mezzotint batch`, such as --steps 8
    ratios, cpus, wholes, most = [], [], [], 0
    with tempfile.TemporaryDirectory() as temporary:
        base = Path(temporary)
        (base / "prompts.txt").write_text(prompts(options.tasks))
        for number in range(options.rounds):
            alone = measure(base / f"alone{number}", 1, options)
            together = measure(base / f"together{number}", options.together, options)
            most = max(most, apart(base / f"alone{number}", base / f"together{number}"))
            ratios.append(together.per_second / alone.per_second)
            cpus.append(alone.cpu / max(1e-9, together.cpu))
            wholes.append(alone.seconds / together.seconds)
            print(
                f"round {number + 1}: one by one {alone.per_second:.2f} a second ({alone.seconds:.1f} s in all), "
                f"{options.together} together {together.per_second:.2f} a second ({together.seconds:.1f} s in all): "
                f"{ratios[-1]:.2f} times, {cpus[-1]:.2f} by the processor's time",
                flush=True,
            )
    ratio, cpu, whole = (statistics.median(found) for found in (ratios, cpus, wholes))
    print(
        f"{options.model}: {ratio:.2f} times as fast under way, {cpu:.2f} by the processor's time, {whole:.2f} in all; "
        f"{most}/255 apart"
    )
    return 0 if ratio >= LEAST and most <= MOST_APART else 1


if __name__ == "__main__":
    sys.exit(main())
