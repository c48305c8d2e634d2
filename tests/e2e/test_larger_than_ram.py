"""A model larger than the memory that its process may have makes the image that it makes without a limit."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "bench" / "stream_from_disk.py"
WEIGHTS, LIMIT = 400, 750  # MiB, the libraries counted in the limit


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit a process's private memory")
def test_weights_are_streamed_from_their_files():
    words = f"--weights {WEIGHTS} --limit {LIMIT} --width 384 --size 64 --steps 2".split()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, SCRIPT, *words], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"^(\d+) MiB of weights", done.stdout)[1]) > 0.9 * WEIGHTS
    assert re.search(r"unet: \d+ MiB wait in disk, \d of \d\d blocks stay", done.stdout)
    peak, imports = (
        int(number) for number in re.search(r"streamed: peak RSS (\d+) MiB.* (\d+);", done.stdout).groups()
    )
    assert imports < peak < LIMIT and "whole: out of memory" in done.stdout
    whole = int(re.search(r"unlimited: peak RSS (\d+) MiB", done.stdout)[1])
    assert whole - imports > WEIGHTS, "without a limit they are all in memory"
