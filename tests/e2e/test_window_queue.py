"""The queue of the real window, with the starter: paused, arranged, stopped, told of, handed over and taken back."""

import subprocess
import sys
from pathlib import Path

import pytest
from driven_window import DrivenWindow, window_environment

pytestmark = [pytest.mark.requires_package("PySide6"), pytest.mark.timeout(900), pytest.mark.slow]

DRIVER = "window_queue_driver.py"


def test_a_queue_is_worked_through_with_and_without_the_window(tmp_path):
    environment = window_environment(tmp_path)
    first = DrivenWindow(DRIVER, "works", environment, tmp_path / "works.log")
    try:
        arranged = first.told("arranged")
        assert arranged["tasks"][str(arranged["matrix"])] == 3  # a matrix of prompts is one entry
        assert arranged["prompts"] == ["a red house", "a blue house", "a green house"]
        assert arranged["states"] == ["waiting", "waiting", "waiting", "cancelled"]

        refused = subprocess.run(
            [sys.executable, "-P", "-m", "mezzotint", "queue", "run"], env=environment, capture_output=True, text=True
        )
        assert refused.returncode != 0
        assert "the window" in refused.stderr and "is already processing the queue" in refused.stderr

        paused = first.told("paused")
        assert paused["saved"] == 1 and paused["steps"] < 40  # of 80: it is not finished first
        assert paused["states"] == ["waiting", "waiting", "waiting"]  # at once, and put back

        stopped = first.told("finished, then stopped")
        assert stopped["same_seed"] and stopped["saved"] == 2
        assert stopped["states"] == ["done", "waiting", "waiting"]

        times = first.told("times")
        assert times["seconds"] > 0 and times["line"] == "Paused; 2 jobs waiting"

        told = first.told("told")
        assert told["saved"] == 3 and "generated" in told["text"]
        assert first.told("asked")["visible"]  # closing asks, and the window stays until it is answered
        closed = first.told("closed")
        assert closed["code"] == 0 and closed["without_window"]
        assert first.process.wait(60) == 0

        second = DrivenWindow(DRIVER, "again", environment, tmp_path / "again.log")
        try:
            elsewhere = second.told("elsewhere")
            assert "mezzotint queue run" in elsewhere["line"] and "of 40 images" in elsewhere["line"]
            assert not elsewhere["work_left"]
            taken = second.told("taken over")
            assert (taken["state"], taken["error"]) == ("waiting", None) and 1 <= taken["images"] < 40
            done = second.told("done")
            assert len(set(done["seeds"])) == len(set(done["paths"])) > taken["images"]
            assert all(Path(path).is_file() for path in done["paths"])
            assert not second.told("closed")["without_window"]
            assert second.process.wait(60) == 0
        finally:
            second.kill()
        assert len(list(Path(told["folder"]).parent.rglob("*.png"))) == 3 + len(done["paths"])
    finally:
        first.kill()
