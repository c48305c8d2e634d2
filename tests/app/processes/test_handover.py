"""The queue goes on without the window: a process that nobody holds."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest

from mezzotint import paths
from mezzotint_app.processes.handover import COMMAND, command, start_background_queue
from mezzotint_app.settings import Settings

pytestmark = pytest.mark.requires_package("PySide6")


def test_it_is_started_with_its_words_and_nothing_open(qtbot, tmp_path):
    done = tmp_path / "done"
    code = f"""
import os, sys
sys.stderr.write("what it said")
sys.stderr.flush()
open({str(tmp_path / "part")!r}, "w").write(repr((sys.stdin.read(), os.getcwd())))
os.rename({str(tmp_path / "part")!r}, {str(done)!r})
"""
    Path.home().mkdir(parents=True, exist_ok=True)
    assert start_background_queue([sys.executable, "-c", code])
    qtbot.waitUntil(done.exists)
    assert done.read_text() == repr(("", str(Path.home())))
    assert (paths.state_folder() / "queue.log").read_text() == "what it said"


def test_whether_the_computer_stays_awake_is_the_persons_to_say():
    assert command(Settings(keep_awake=True)) == (*COMMAND, "--keep-awake")
    assert command(Settings(keep_awake=False)) == COMMAND


def test_one_that_cannot_be_started_is_told(qtbot, caplog):
    Path.home().mkdir(parents=True, exist_ok=True)
    assert not start_background_queue(["/nowhere/python"])
    assert "/nowhere/python" in caplog.text


def test_it_outlives_the_window(qtbot, tmp_path):
    number = tmp_path / "number"
    writes = f"open({str(number) + '.part'!r}, 'w').write(str(os.getpid()))"
    waits = f"import os, time; {writes}; os.rename({str(number) + '.part'!r}, {str(number)!r}); time.sleep(600)"
    code = textwrap.dedent(f"""
        import sys
        from mezzotint_app.processes.handover import start_background_queue
        sys.exit(not start_background_queue([sys.executable, "-c", {waits!r}]))
    """)
    Path.home().mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    qtbot.waitUntil(number.exists)
    process = psutil.Process(int(number.read_text()))
    assert process.is_running()
    process.kill()


def test_the_command_is_one_that_there_is(qtbot, tmp_path):
    """An empty queue is worked through at once, and nothing is loaded for it."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command(Settings()), capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
