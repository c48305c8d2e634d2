"""How long the commands that need no model take to answer, each in a process of its own.

python bench/startup.py [--runs 10]
"""

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

# The command, and the seconds that a person should not wait longer than.
COMMANDS = ((("--help",), 0.3), (("--version",), 0.3), (("models", "list"), 1.0))


def main() -> int:
    """Measure and print a table; 1 when a command failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=10, help="how often each command is run (after one run unmeasured)")
    runs = parser.parse_args().runs
    program = shutil.which("mezzotint", path=str(Path(sys.executable).parent))
    if program is None:
        print(f"mezzotint is not installed beside {sys.executable}: pip install -c constraints.txt -e .")
        return 1
    machine = f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()}"
    print(f"Seconds of wall time over {runs} runs; {machine}")
    print(f"{'command':24} {'min':>7} {'median':>7} {'max':>7} {'goal':>7}")
    for words, goal in COMMANDS:
        try:
            seconds = measure([program, *words], runs)
        except subprocess.CalledProcessError as failure:
            print(f"mezzotint {' '.join(words)} ended with exit code {failure.returncode}: {failure.stderr.decode()}")
            return 1
        line = (min(seconds), statistics.median(seconds), max(seconds))
        print(f"{'mezzotint ' + ' '.join(words):24} {line[0]:7.3f} {line[1]:7.3f} {line[2]:7.3f} {goal:7.1f}")
    return 0


def measure(command: list[str], runs: int) -> list[float]:
    """Seconds of each run, the first one (cold caches) left out."""
    seconds = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        seconds.append(time.perf_counter() - start)
    return seconds[1:]


if __name__ == "__main__":
    sys.exit(main())
