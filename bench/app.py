"""Measure the window's speed: startup, responsiveness under background work, long lists, and idle load.

python bench/app.py [--only start life queue gallery canvas idle] [--json]
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # also where Python leaves the script's folder out of sys.path

from app_material import environment, fill_queue, write_images, write_settings

HERE = Path(__file__).parent
SHOWN = 1.0  # target in seconds from interpreter start to first frame
LATE = 50.0  # target in milliseconds for gaps of the event loop and input latency
IDLE = 1.0  # target in percent of a core
AT_ONCE = ("light and dark",)  # restyles the entire window on request, so it has no target
FRAME = 32.0  # milliseconds for a frame of the canvas, of 95 % of them
PARTS = ("start", "life", "queue", "gallery", "canvas", "idle")
LIMIT = 600.0  # timeout of a part in seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A row of the table."""

    part: str
    what: str
    value: float
    unit: str
    aim: float | None  # upper bound; None: informational only
    note: str = ""

    def holds(self) -> bool:
        """Whether the value meets its target."""
        return self.aim is None or self.value <= self.aim


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Options of the command line."""

    runs: int
    entries: int
    images: int


def main() -> int:
    """Measure and print a table; return 1 if something could not be measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--runs", type=int, default=7, help="starts that are measured, after one that is not")
    parser.add_argument("--entries", type=int, default=10_000, help="entries of the queue")
    parser.add_argument("--images", type=int, default=50_000, help="images of the gallery")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON instead")
    words = parser.parse_args()
    asked = Asked(runs=words.runs, entries=words.entries, images=words.images)
    if sys.platform.startswith("linux") and not {"DISPLAY", "WAYLAND_DISPLAY"} & set(os.environ):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    figures = []
    for part in words.only:
        try:
            with tempfile.TemporaryDirectory(prefix="mezzotint-bench-", ignore_cleanup_errors=True) as folder:
                figures += MEASURES[part](Path(folder), asked)
        except subprocess.CalledProcessError as failure:
            print(f"{part} ended with exit code {failure.returncode}:\n{failure.stderr}", file=sys.stderr)
            return 1
        except subprocess.TimeoutExpired:
            print(f"{part} did not end within {LIMIT:.0f} seconds", file=sys.stderr)
            return 1
    if words.json:
        print(json.dumps([asdict(one) for one in figures], indent=1))
    else:
        print_table(figures)
    return 0


def print_table(figures: Sequence[Figure]) -> None:
    """Print the figures next to their targets."""
    screen = os.environ.get("QT_QPA_PLATFORM", "the display")
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()}, drawn on {screen}")
    print("Gap: the longest that the window's thread was away; in brackets what of it was its own work, and how long")
    print("others had the processor (Linux tells); without others: the longest when that is taken away.")
    print("Input: from when a key or a turn of the wheel was due until it was handled.")
    for figure in figures:
        aim = "" if figure.aim is None else f"under {figure.aim:g}"
        mark = "" if figure.holds() else "OVER"
        print(f"{figure.part:8} {figure.what:66} {figure.value:9.2f} {figure.unit:3} {aim:10} {mark:4} {figure.note}")


# ---- the parts, each in its own folder


def measure_start(folder: Path, asked: Asked) -> Iterator[Figure]:
    """Measure the time from before interpreter start to the first frame."""
    write_settings(folder, folder / "images")
    first, *others = [_start(folder) for _ in range(asked.runs + 1)]
    middle = statistics.median_low(others), f"window shown, median of {asked.runs}", SHOWN
    worst = max(others), f"window shown, worst of {asked.runs}", SHOWN
    for (number, worked), what, aim in (middle, worst, (first, "the first start of all, which compiles Python", None)):
        note = f"{worked:.2f} s of it of the processor"
        yield Figure(part="start", what=what, value=number, unit="s", aim=aim, note=note)


def _start(folder: Path) -> tuple[float, float]:
    begun = time.monotonic()
    told = _child("app_start.py", str(begun), folder=folder)
    if told["torch"]:
        raise subprocess.CalledProcessError(1, "app_start.py", stderr="torch is loaded in the window's process")
    return float(told["shown"]), float(told["worked"])


def measure_life(folder: Path, asked: Asked) -> Iterator[Figure]:  # noqa: ARG001
    """Measure a session including engine crashes."""
    write_images(folder / "images", 3000)
    write_settings(folder, folder / "images")
    yield from _watched("life", _child("app_scenes.py", "life", folder=folder))


def measure_queue(folder: Path, asked: Asked) -> Iterator[Figure]:
    """Measure a long queue."""
    write_settings(folder, folder / "images")
    fill_queue(folder / "state" / "queue.sqlite", asked.entries)
    yield from _watched("queue", _child("app_scenes.py", "queue", folder=folder))


def measure_gallery(folder: Path, asked: Asked) -> Iterator[Figure]:
    """Measure a gallery of very many real files, read by the real library service."""
    write_images(folder / "images", asked.images)
    write_settings(folder, folder / "images")
    yield from _watched("gallery", _child("app_scenes.py", "gallery", folder=folder))


def measure_canvas(folder: Path, asked: Asked) -> Iterator[Figure]:  # noqa: ARG001
    """Measure frames of a canvas of 8192x8192 pixels in a view of 1400x900, from the movement until it is drawn."""
    write_settings(folder, folder / "images")
    for name, times in _child("app_scenes.py", "canvas", folder=folder)["extra"].items():
        taken, worked = (sorted(column) for column in zip(*times, strict=True))
        place = len(times) * 95 // 100
        what, median = f"{name}: p95 of {len(times)} frames", statistics.median(taken)
        note = f"median {median:.1f}, worst {taken[-1]:.1f}; without others p95 {worked[place]:.1f}"
        yield Figure(part="canvas", what=what, value=taken[place], unit="ms", aim=FRAME, note=note)


def measure_idle(folder: Path, asked: Asked) -> Iterator[Figure]:  # noqa: ARG001
    """Measure the idle load."""
    write_settings(folder, folder / "images")
    extra = _child("app_scenes.py", "idle", folder=folder)["extra"]
    share = 100 * extra["worked"] / extra["seconds"]
    yield Figure(part="idle", what="of a core, everything started and nothing done", value=share, unit="%", aim=IDLE)


def _watched(part: str, told: dict) -> Iterator[Figure]:
    for one in told["watched"]:
        name, aim = one["name"], None if one["name"] in AT_ONCE else LATE
        note = f"[{one['work']:.0f}, {one['kept']:.0f}] without others {one['own']:.0f}, {one['slow']} over 50 ms"
        yield Figure(part=part, what=f"{name}: gap", value=one["gap"], unit="ms", aim=aim, note=note)
        if one["inputs"]:
            note = f"usually {one['usual_input']:.1f}, of {one['inputs']}"
            yield Figure(part=part, what=f"{name}: input", value=one["input"], unit="ms", aim=aim, note=note)
    for name, number in told["extra"].items():
        yield Figure(part=part, what=name, value=number, unit="", aim=None)


def _child(script: str, *words: str, folder: Path) -> dict:
    """Run a script as the window's process and return the JSON it prints."""
    done = subprocess.run(
        [sys.executable, str(HERE / script), *words],
        check=True, capture_output=True, text=True, timeout=LIMIT, env=environment(folder, os.environ), cwd=folder,
    )  # fmt: skip
    return dict(json.loads(done.stdout.splitlines()[-1]))


MEASURES: dict[str, Callable[[Path, Asked], Iterator[Figure]]] = {
    "start": measure_start,
    "life": measure_life,
    "queue": measure_queue,
    "gallery": measure_gallery,
    "canvas": measure_canvas,
    "idle": measure_idle,
}

if __name__ == "__main__":
    sys.exit(main())
