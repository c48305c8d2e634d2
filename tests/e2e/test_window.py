"""The real window on a screen of its own, with real processes: a first image, and every kind of sudden end."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.requires_package("PySide6"),
    pytest.mark.requires_command("Xvfb", "sudo apt-get install xvfb"),
    pytest.mark.timeout(900),
    pytest.mark.slow,
]

DRIVER = Path(__file__).parents[1] / "plugins" / "window_driver.py"


@pytest.fixture
def display(tmp_path):
    """An X server without a screen; it says which number it took."""
    reading, writing = os.pipe()
    server = subprocess.Popen(
        [shutil.which("Xvfb"), "-displayfd", str(writing), "-screen", "0", "1400x900x24", "-nolisten", "tcp"],
        pass_fds=[writing],
        stderr=(tmp_path / "xvfb.log").open("wb"),
    )
    os.close(writing)
    with os.fdopen(reading) as told:
        number = told.readline().strip()
    yield f":{number}"
    server.terminate()
    server.wait(20)


@pytest.fixture
def environment(display, tmp_path):
    folders = {
        name: str(tmp_path / name.lower()) for name in ("MEZZOTINT_CONFIG", "MEZZOTINT_STATE", "MEZZOTINT_CACHE")
    }
    home = tmp_path / "home"
    home.mkdir()
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("QT_", "XDG_", "WAYLAND"))}
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    own = {"HOME": str(home), "DISPLAY": display, "QT_QPA_PLATFORM": "xcb", "XDG_RUNTIME_DIR": str(runtime)}
    return inherited | folders | own


class Driven:
    """One part of the driver, and what it told."""

    def __init__(self, part, environment, log):
        self._log = log
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(DRIVER), part],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=log.open("ab"),
            text=True,
        )

    def told(self, part):
        """The facts of that part."""
        for line in self.process.stdout:
            if not line.startswith("{"):
                continue
            facts = json.loads(line)
            assert "failed" not in facts, facts
            if facts.get("part") == part:
                return facts
        raise AssertionError(f"it ended before {part!r}: {self._log.read_text('utf-8', 'replace')[-6000:]}")

    def kill(self):
        self.process.kill()
        self.process.wait(20)


def is_running(process_id):
    try:
        return Path(f"/proc/{process_id}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_first_image_and_every_sudden_end(environment, tmp_path):
    first = Driven("first", environment, tmp_path / "first.log")
    try:
        image = first.told("first image")
        assert image["first_run"]
        assert image["previews"] >= 10
        assert image["shown"] == image["size"]
        assert Path(image["path"]).is_file()

        gallery = first.told("gallery")
        assert gallery["path"] == image["path"]
        assert gallery["prompt"] == "a blue boat on the sea"

        dropped = first.told("dropped back")
        assert dropped["prompt"] == "a blue boat on the sea"
        assert dropped["seed"] == dropped["first_seed"] == gallery["seed"]
        assert dropped["steps"] == 20

        killed = first.told("engine killed")
        assert killed["another"]
        assert killed["reason"]
        assert killed["saved"] == 1
        assert len(killed["files"]) == 2

        working = first.told("working")
    finally:
        first.kill()
    end = time.monotonic() + 30
    while time.monotonic() < end and (is_running(working["engine"]) or is_running(working["librarian"])):
        time.sleep(0.1)
    assert not is_running(working["engine"])
    assert not is_running(working["librarian"])

    second = Driven("second", environment, tmp_path / "second.log")
    try:
        offered = second.told("offered")
        assert offered["saved"] == 0
        assert offered["state"] == "paused"
        resumed = second.told("resumed")
        assert len(set(resumed["seeds"])) == len(set(resumed["paths"])) == 2
        assert all(Path(path).is_file() for path in resumed["paths"])
        second.told("closed")
        assert second.process.wait(60) == 0
    finally:
        second.kill()
    images = list(Path(image["path"]).parents[1].rglob("*.png"))
    assert len(images) == 4
