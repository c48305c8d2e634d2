"""Time commands from start to end, each in its own process: those that need no model, and generating an image.

python bench/startup.py [--runs 10]
"""

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# The commands, and the seconds that each should take at most.
COMMANDS = (
    (("--help",), 0.3),
    (("--version",), 0.3),
    (("models", "list"), 1.0),
    (("generate", "house"), 4.0),
    (("generate", "house", "-m", "starter-xl"), 4.0),
)


def main() -> int:
    """Measure and print a table; return 1 if a command failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=10, help="how often each command is run (after one run unmeasured)")
    runs = parser.parse_args().runs
    program = shutil.which("mezzotint", path=str(Path(sys.executable).parent))
    if program is None:
        print(f"mezzotint is not installed beside {sys.executable}: pip install -c constraints.txt -e .")
        return 1
    machine = f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()}"
    print(f"Seconds over {runs} runs, by the clock and of the processor (what runs beside does not lengthen that).")
    print(machine)
    print(f"{'command':40} {'min':>7} {'median':>7} {'max':>7} {'processor':>9} {'goal':>7}")
    for words, goal in COMMANDS:
        try:
            with tempfile.TemporaryDirectory() as folder:
                images = ("-o", f"{folder}/") if words[0] == "generate" else ()
                seconds, processor = measure([program, *words, *images], runs)
        except subprocess.CalledProcessError as failure:
            print(f"mezzotint {' '.join(words)} ended with exit code {failure.returncode}: {failure.stderr.decode()}")
            return 1
        clock = " ".join(f"{number:7.3f}" for number in (min(seconds), statistics.median(seconds), max(seconds)))
        print(f"{'mezzotint ' + ' '.join(words):40} {clock} {processor:9.3f} {goal:7.1f}")
    return 0


def measure(command: list[str], runs: int) -> tuple[list[float], float]:
    """Return the wall-clock seconds of each run and the mean CPU seconds; a first run (cold caches) is excluded."""
    seconds = []
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    before = os.times()
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        seconds.append(time.perf_counter() - start)
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return seconds, spent / runs


if __name__ == "__main__":
    sys.exit(main())
