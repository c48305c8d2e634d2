"""Ctrl-C at any moment: exit code 130, no traceback, no half an image."""

import json
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process alone")


# Python that is interrupted when a module is first looked for: a moment of its start, on whatever machine.
INTERRUPTED_AT = """
import signal, sys

class Interrupts:
    def find_spec(self, name, *_):
        if name == MOMENT:
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupts())
from mezzotint.cli import main
sys.exit(main())
"""


@pytest.fixture
def start(tiny_sdxl_folder, tmp_path):
    """A long job in a process of its own, talking in JSON lines."""
    running = []

    def begin(*options, python=("-m", "mezzotint")):
        command = [sys.executable, *python, "generate", "a house", "-m", str(tiny_sdxl_folder)]
        command += ["--size", "64x64", "--steps", "900", "-o", f"{tmp_path}/out/", "--jsonl", *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        running.append(process)
        return process

    yield begin
    for process in running:
        process.kill()
        process.communicate()


def wait_for(process, kind):
    for line in process.stdout:
        if json.loads(line).get("event", {}).get("type") == kind:
            return
    pytest.fail(f"it ended before {kind}: {process.stderr.read()}")


def interrupted(process, tmp_path):
    out, error = process.communicate(timeout=120)
    assert process.returncode == 130, error
    assert "Traceback" not in error and "Traceback" not in out
    assert not list(tmp_path.glob("out/*"))
    return error


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("moment", ["Loading", "Step"])
def test_while_it_works(start, tmp_path, moment):
    process = start()
    wait_for(process, moment)
    process.send_signal(signal.SIGINT)
    assert "stopping after this step" in interrupted(process, tmp_path)


@pytest.mark.slow
def test_twice(start, tmp_path):
    process = start("--size", "256x256")
    wait_for(process, "Step")
    process.send_signal(signal.SIGINT)
    process.stderr.readline()
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    interrupted(process, tmp_path)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("module", ["mezzotint.cli.entry", "mezzotint.catalog", "torch", "diffusers"])
def test_before_it_works(start, tmp_path, module):
    """From the first line of ours on: while Python itself starts, nobody can do better than it does."""
    interrupted(start(python=("-c", INTERRUPTED_AT.replace("MOMENT", repr(module)))), tmp_path)
