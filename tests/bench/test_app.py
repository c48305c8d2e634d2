"""The script of the window's speed: its table, its ends, and a short run of the real thing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"
WATCHED = {"name": "typing", "gap": 12.0, "work": 5.0, "kept": 1.0, "own": 11.0, "slow": 0}
INPUTS = {"input": 61.0, "usual_input": 2.0, "inputs": 7}


@pytest.fixture(autouse=True)
def _beside(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))


def run(script, monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["app.py", *words])
    return script.main()


def test_a_line_for_every_figure_and_a_word_for_what_does_not_hold(script, monkeypatch, capsys):
    told = {"watched": [WATCHED | INPUTS], "extra": {"entries": 40}, "torch": False}
    monkeypatch.setattr(script, "_child", lambda *words, folder: told)
    assert run(script, monkeypatch, "--only", "queue", "--entries", "40") == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("queue")]
    assert len(lines) == 3
    assert "typing: gap" in lines[0] and "12.00 ms" in lines[0] and "OVER" not in lines[0]
    assert "typing: input" in lines[1] and "61.00 ms" in lines[1] and "OVER" in lines[1]
    assert "entries" in lines[2] and "40" in lines[2]


def test_starts_are_counted_without_the_first(script, monkeypatch, capsys):
    starts = iter([(9.0, 1.0), (0.5, 0.4), (0.7, 0.4), (0.6, 0.4)])

    def start(*words, folder):
        shown, worked = next(starts)
        return {"shown": shown, "worked": worked, "torch": False}

    monkeypatch.setattr(script, "_child", start)
    assert run(script, monkeypatch, "--only", "start", "--runs", "3", "--json") == 0
    assert [one["value"] for one in json.loads(capsys.readouterr().out)] == [0.6, 0.7, 9.0]


def test_torch_in_the_window_is_a_failure(script, monkeypatch, capsys):
    monkeypatch.setattr(script, "_child", lambda *words, folder: {"shown": 0.1, "worked": 0.1, "torch": True})
    assert run(script, monkeypatch, "--only", "start") == 1
    assert "torch is loaded" in capsys.readouterr().err


def test_a_part_that_breaks_is_told(script, monkeypatch, capsys):
    monkeypatch.setattr(script, "HERE", Path("/nowhere"))
    assert run(script, monkeypatch, "--only", "idle") == 1
    assert "idle ended with exit code" in capsys.readouterr().err


@pytest.mark.requires_package("PySide6")
@pytest.mark.timeout(600)
@pytest.mark.slow
def test_a_short_run_of_the_real_window():
    words = ["--only", "start", "queue", "--runs", "1", "--entries", "230", "--json"]
    env = os.environ | {"PYTHONSAFEPATH": "1"}  # its scripts find each other also there
    done = subprocess.run([sys.executable, str(BENCH / "app.py"), *words], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    figures = {one["what"]: one["value"] for one in json.loads(done.stdout)}
    assert figures["window shown, worst of 1"] > 0
    assert (figures["entries"], figures["selected"], figures["left"]) == (230, 100, 0)
    assert figures["stands at the end"] is True
