"""Sudden ends of the window, and a second start: the queue and the settings are whole afterwards."""

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from skip_rules import skip_module_without

skip_module_without("PySide6")

from mezzotint.jobs.store import JobStore  # noqa: E402
from mezzotint_app.settings import state_path  # noqa: E402

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes are ended otherwise there")

DRIVER = Path(__file__).parents[1] / "plugins" / "ending_driver.py"
SECONDS = 60.0  # that anything may take; a busy machine is no failure


class Driven:
    """A window in a process of its own, and what it told."""

    def __init__(self, *arguments, **environment):
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(DRIVER), *map(str, arguments)],
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            text=True,
        )
        self._told = queue.Queue()
        self._passed = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                self._told.put(json.loads(line))
        self._told.put({"part": "over"})

    def told(self, part):
        """The facts of that part, once it comes."""
        for facts in self._passed:
            if facts["part"] == part:
                return facts
        while (facts := self._told.get(timeout=SECONDS))["part"] != part:
            assert facts["part"] != "over", f"it ended before {part!r}"
            self._passed.append(facts)
        return facts

    def end(self, number):
        os.kill(self.process.pid, number)
        return self.process.wait(SECONDS)

    def kill(self):
        self.process.kill()
        self.process.wait(SECONDS)


@pytest.fixture(autouse=True)
def _runtime(tmp_path, monkeypatch):
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))


@pytest.fixture
def start():
    started = []

    def begin(*arguments, **environment):
        started.append(Driven(*arguments, **environment))
        return started[-1]

    yield begin
    for one in started:
        one.kill()


@pytest.fixture
def display(tmp_path):
    """An X server that the test can take away."""
    reading, writing = os.pipe()
    server = subprocess.Popen(
        [shutil.which("Xvfb"), "-displayfd", str(writing), "-screen", "0", "1400x900x24", "-nolisten", "tcp"],
        pass_fds=[writing],
        stderr=(tmp_path / "xvfb.log").open("wb"),
    )
    os.close(writing)
    with os.fdopen(reading) as told:
        number = told.readline().strip()
    yield f":{number}", server
    server.kill()
    server.wait(20)


def rows():
    with JobStore.open().store as store:
        return [(row.title, row.state) for row in store.rows()]


def is_running(process_id):
    try:
        return Path(f"/proc/{process_id}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(condition):
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def wait_until_ended(process_id):
    wait_until(lambda: not is_running(process_id))


# ---- signals


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda one: one.name)
def test_a_signal_ends_the_window_as_closing_does(start, number):
    first = start(PROMPT="slow")
    ready = first.told("ready")
    assert first.told("started")["prompt"] == "slow"
    assert first.end(number) == 0
    first.told("ended")
    wait_until_ended(ready["engine"])
    assert rows() == [("slow", "waiting")]  # put back, and no interruption that anybody is asked about
    if number == signal.SIGTERM:  # once is enough for what follows
        second = start()
        assert second.told("ready")["kept"] == "slow"
        assert second.told("started")["prompt"] == "slow"


def test_a_logout_ends_window_and_engine_at_once_and_blames_no_task(start):
    first = start(PROMPT="slow")
    ready = first.told("ready")
    first.told("started")
    os.kill(first.process.pid, signal.SIGTERM)
    os.kill(ready["engine"], signal.SIGTERM)
    assert first.process.wait(SECONDS) == 0
    wait_until_ended(ready["engine"])
    with JobStore.open().store as store:
        [row] = store.rows()
        assert (row.state, row.error) == ("waiting", None)


@pytest.mark.slow
def test_after_sigkill_the_next_start_asks_what_is_to_become_of_the_rest(start):
    first = start(PROMPT="slow")
    ready = first.told("ready")
    first.told("started")
    first.end(signal.SIGKILL)
    wait_until_ended(ready["engine"])
    second = start()
    assert "while it was generating" in second.told("interrupted")["words"]


# ---- the display


@pytest.mark.slow
@pytest.mark.requires_command("Xvfb", "sudo apt-get install xvfb")
def test_a_display_that_goes_away_ends_the_program_and_the_next_start_is_complete(start, display):
    name, server = display
    first = start(PROMPT="slow", DISPLAY=name, QT_QPA_PLATFORM="xcb")
    ready = first.told("ready")
    first.told("started")
    wait_until(lambda: state_path("create").exists() and '"slow"' in state_path("create").read_text())
    server.kill()
    assert first.process.wait(SECONDS) != 0
    wait_until_ended(ready["engine"])
    second = start()
    assert second.told("ready")["kept"] == "slow"
    assert "while it was generating" in second.told("interrupted")["words"]
    assert rows() == [("slow", "interrupted")]


# ---- a second start


@pytest.mark.slow
def test_a_second_start_raises_the_first_window_and_hands_over_its_paths(start, tmp_path):
    first = start()
    first.told("ready")
    second = start(tmp_path / "no such image.png")
    assert second.process.wait(SECONDS) == 0
    first.told("raised")
    assert "no method" in first.told("told")["words"]  # the fake librarian was asked about it
    assert first.process.poll() is None


@pytest.mark.slow
def test_very_many_paths_are_handed_over_and_the_first_of_them_looked_at(start, tmp_path):
    first = start()
    first.told("ready")
    second = start(*(tmp_path / f"an image with a long name {'x' * 60} {number}.png" for number in range(2000)))
    assert second.process.wait(SECONDS) == 0
    assert "the first 500 are used" in first.told("told")["words"]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["hangs", "is stopped"])
def test_a_second_start_says_so_when_the_first_does_not_answer(start, how):
    first = start(HANG="1") if how == "hangs" else start()
    first.told("ready")
    if how == "is stopped":
        os.kill(first.process.pid, signal.SIGSTOP)
    else:
        first.told("hangs")
    second = start()
    words = second.told("warned")["words"]
    assert "is already running but does not respond" in words
    assert "end its process" in words
    assert second.process.wait(SECONDS) == 1
    first.kill()
    third = start()
    third.told("ready")
