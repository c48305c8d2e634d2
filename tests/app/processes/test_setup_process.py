"""The bootstrap as a process: what it says, and how it is stopped."""

import sys
from pathlib import Path
from typing import Any

import pytest

from mezzotint_app.processes.handover import start_detached
from mezzotint_app.processes.setup_process import Bootstrap, maker

pytestmark = pytest.mark.requires_package("PySide6")

MAIN = """
import os, pathlib, sys, time
if sys.argv[1] == "start":
    pathlib.Path(os.environ["PYTHONPATH"], "started").write_text(os.environ.get("MEZZOTINT_FIRST_START", "") + "yes")
    sys.exit()
print('{"event": "phase", "name": "download"}')
print('no JSON')
print('[1]')
print('{"event": 3}', flush=True)
if sys.argv[1] == "install":
    print('{"event": "paused"}' if sys.stdin.readline() == "pause\\\\n" else "", flush=True)
    sys.exit(3)
if sys.argv[1] == "deaf":
    time.sleep(600)
print('{"event": "done", "version": "1.0"}', end="")
sys.exit("it broke")
"""


@pytest.fixture
def bootstrap(tmp_path):
    (tmp_path / "mezzotint_setup").mkdir()
    (tmp_path / "mezzotint_setup" / "__main__.py").write_text(MAIN.replace("\\\\", "\\"))
    return Bootstrap(python=sys.executable, payload=str(tmp_path), root="/root of it")


@pytest.fixture
def begin(qtbot, bootstrap):
    made = []

    def start(command):
        process: Any = maker(bootstrap)(bootstrap.words((command,)))
        process.heard, process.endings = [], []
        process.told.connect(process.heard.append)
        process.ended.connect(process.endings.append)
        process.start()
        made.append(process)
        return process

    yield start
    for process in made:
        process.finish(1000)


def test_it_is_found_where_it_started_the_program():
    names = {"MEZZOTINT_SETUP_PYTHON": "/p", "MEZZOTINT_SETUP_PAYLOAD": "/l", "MEZZOTINT_ENGINE_ROOT": "/r"}
    assert Bootstrap.found(names) == Bootstrap(python="/p", payload="/l", root="/r")
    assert Bootstrap.found({**names, "MEZZOTINT_FIRST_START": "1"}).first
    assert Bootstrap.found({**names, "MEZZOTINT_SETUP_PYTHON": ""}) is None


def test_events_then_the_end_with_its_last_words(qtbot, begin):
    process = begin("repair")
    qtbot.waitUntil(lambda: bool(process.endings))
    assert process.heard == [{"event": "phase", "name": "download"}]
    assert (process.endings[0].code, process.endings[0].detail) == (1, "it broke")


def test_a_word_pauses_it(qtbot, begin):
    process = begin("install")
    qtbot.waitUntil(lambda: bool(process.heard))
    process.pause()
    qtbot.waitUntil(lambda: bool(process.endings))
    assert process.heard[-1] == {"event": "paused"} and process.endings[0].code == 3


def test_one_that_does_not_hear_is_killed_at_the_end(qtbot, begin):
    process = begin("deaf")
    qtbot.waitUntil(lambda: bool(process.heard))
    process.finish(50)
    assert process.endings[0].kind == "crashed"


def test_without_its_python(qtbot, bootstrap):
    process = maker(None)(["/no such python"])
    endings = []
    process.ended.connect(endings.append)
    process.start()
    qtbot.waitUntil(lambda: bool(endings))
    assert endings[0].kind == "not_started"


def test_the_next_window_is_started_on_its_own(qtbot, bootstrap, tmp_path, monkeypatch):
    monkeypatch.setenv("MEZZOTINT_FIRST_START", "1")
    Path.home().mkdir(parents=True, exist_ok=True)
    assert start_detached(bootstrap.words(("start",)), "start.log", bootstrap.environment())
    qtbot.waitUntil((tmp_path / "started").exists)
    qtbot.waitUntil(lambda: Path(tmp_path / "started").read_text() == "yes")
