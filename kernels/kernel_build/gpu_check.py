"""`make gpu-check`: build for the card that is here, run the GPU tests, measure, and write each row as it comes.

Works with the Python, torch and CUDA compiler of the system: nothing is fetched or installed.
"""

import contextlib
import datetime
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

from kernel_build.errors import BuildError
from kernel_build.gpu_parts import PARTS, RowOf
from kernel_build.library import build_library
from kernel_build.results import RESULTS, Place, record
from kernel_build.sources import ARCHITECTURES, KERNELS, OUTPUT, digest, kernel_sources
from kernel_build.toolchain import find_toolchain

ROOT = KERNELS.parent
FOLDER = OUTPUT / "kernels-gpu-check"
SECONDS = 8 * 60 + 40  # for everything: each step gets what is left, up to its own limit
BUILD_SECONDS = 270
TEST_SECONDS = 150
_CARD = """
import json, torch
here = torch.cuda.is_available()
name, capability = (torch.cuda.get_device_name(), torch.cuda.get_device_capability()) if here else (None, None)
print(json.dumps({"name": name, "capability": capability}))
"""


class Deadline:
    """How many seconds a step may take."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self, limit: float = float("inf")) -> float:
        """What is left, up to a limit of the step's own; BuildError when nothing is."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise BuildError("the time for gpu-check is over; what was measured is written")
        return min(left, limit)


def gpu_check(part: str, *, results: Path = RESULTS, seconds: float = SECONDS) -> list[str]:
    """Do all of it; gives what failed, a line each, and goes on to the measurements when only tests fail."""
    if part not in PARTS:
        raise BuildError(f"PART is {part!r}: give {' or '.join(PARTS)}")
    checked = PARTS[part]
    deadline = Deadline(seconds)
    name, capability = find_card(run_python(["-c", _CARD], deadline.left(60)))
    place = Place(
        gpu=name,
        commit=find_commit(),
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        command=f"make gpu-check PART={part}",
    )
    architecture = architecture_for(capability)
    say(f"{name}: building for {architecture}")
    build_library(find_toolchain(), architectures=architecture, folder=FOLDER, seconds=deadline.left(BUILD_SECONDS))
    environment = environment_with(FOLDER)
    failed = run_tests(checked.tests, environment, deadline.left(TEST_SECONDS))
    rows = Rows(checked.new_row_of(), place, results)
    failed += run_benchmark(["-m", checked.benchmark], environment, deadline.left(), rows.take)
    if rows.written == 0:
        failed.append("the measurements gave no row")
    say(f"{rows.written} rows written to {results}")
    return failed + rows.failed


def find_card(said: str) -> tuple[str, tuple[int, int]]:
    """The card's name and compute capability, as torch tells them; BuildError without one."""
    told = json.loads(said)
    if told["name"] is None:
        raise BuildError("torch sees no CUDA device here: gpu-check needs one (see nvidia-smi)")
    major, minor = told["capability"]
    return told["name"], (major, minor)


def architecture_for(capability: tuple[int, int]) -> str:
    """As CMake names it: one of ours where one is meant for the card, else the card's own."""
    number = f"{capability[0]}{capability[1]}"
    ours = [name.removeprefix("sm_") for name in ARCHITECTURES if name.removeprefix("sm_").rstrip("a") == number]
    return f"{(ours or [number])[0]}-real"


def find_commit(environment: Mapping[str, str] = os.environ, root: Path = ROOT) -> str:
    """What was measured: git's word for it, or COMMIT, or a hash of the kernels' sources where neither is there."""
    words = ["git", "-c", "safe.directory=*", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=10"]
    with contextlib.suppress(OSError):
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.strip()
    if environment.get("COMMIT"):
        return environment["COMMIT"]
    return f"sources {digest(KERNELS / 'CMakeLists.txt', [digest(path, []) for path in kernel_sources()])[:10]}"


def environment_with(folder: Path) -> dict[str, str]:
    """The environment in which Python finds the engine and the library that was just built."""
    path = os.pathsep.join(str(ROOT / name) for name in ("engine", "kernels", "tests/plugins"))
    library = next((each for each in folder.glob("*mezzotint_kernels.*") if each.suffix in {".so", ".dll"}), None)
    if library is None:
        raise BuildError(f"no library was built in {folder}")
    return {**os.environ, "PYTHONPATH": path, "MEZZOTINT_KERNELS_LIBRARY": str(library)}


def run_python(words: Sequence[str], seconds: float) -> str:
    """Run a short program with this Python and give what it prints; BuildError with its words when it fails."""
    try:
        done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        raise BuildError(f"{sys.executable} did not import torch within {seconds:.0f} seconds; try again") from None
    if done.returncode:
        raise BuildError(f"{sys.executable} cannot be used: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout


def run_tests(tests: Sequence[str], environment: Mapping[str, str], seconds: float) -> list[str]:
    """Run the tests that need a card, with no plugin and no setting of the project's others; gives what failed."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        alone = {**environment, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        words = [sys.executable, "-m", "pytest", "-q", "-m", "gpu", "-rfs", "-p", "no:cacheprovider", "-W", "ignore"]
        words += ["-c", os.devnull, "--rootdir", str(ROOT), "--confcutdir", str(ROOT / "tests/kernels/csrc")]
        words += ["--import-mode", "importlib", "--junitxml", str(report), *tests]
        try:
            status = subprocess.run(words, cwd=ROOT, env=alone, timeout=seconds, check=False).returncode
        except subprocess.TimeoutExpired:
            return [f"the tests took longer than {seconds:.0f} seconds"]
        if status:
            return [f"tests failed (pytest's status is {status})"]
        suites = list(ElementTree.parse(report).iter("testsuite"))  # noqa: S314  our own pytest wrote it
    total, skipped = (sum(int(suite.get(name, 0)) for suite in suites) for name in ("tests", "skipped"))
    say(f"{total - skipped} of {total} tests ran, and passed")
    return [] if total > skipped else ["no test ran"]


def run_benchmark(
    words: Sequence[str], environment: Mapping[str, str], seconds: float, take: Callable[[str], None]
) -> list[str]:
    """Hand on the lines that a Python program prints, as it prints them; gives why it ended before its end, if so."""
    command = [sys.executable, "-u", *words]
    over = threading.Event()
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:

        def end() -> None:
            over.set()
            process.kill()

        timer = threading.Timer(seconds, end)
        timer.start()
        try:
            for line in process.stdout or ():
                take(line)
            status = process.wait()
        finally:
            timer.cancel()
            process.kill()
    if over.is_set():
        return [f"the measurements were not over after {seconds:.0f} seconds"]
    return [f"the measurements ended with status {status}; what they said is above"] if status else []


class Rows:
    """Writes the row of each line of JSON at once; what is none is passed on to the terminal."""

    def __init__(self, row_of: RowOf, place: Place, results: Path) -> None:
        self._row_of, self._place, self._results = row_of, place, results
        self.written = 0
        self.failed: list[str] = []  # what of ours does not run

    def take(self, line: str) -> None:
        """Write one."""
        try:
            measured = json.loads(line)
            row = self._row_of(measured, self._place)
        except (ValueError, KeyError, TypeError):
            say(line.rstrip())
            return
        problem = measured.get("problem")
        record(row, self._results, counts=not problem)
        say(f"{row.what}: {row.figure}")
        self.written += 1
        if problem and "mezzotint" in row.what:
            self.failed.append(f"{row.what}: {problem}")


def say(line: str) -> None:
    """Tell the person at the terminal."""
    sys.stderr.write(f"gpu-check: {line}\n")
