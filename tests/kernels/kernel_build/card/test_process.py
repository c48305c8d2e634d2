"""A part's processes: small programs that end in every way."""

import contextlib
import os
import sys
import time

import psutil
import pytest
from patience import MILLISECONDS

from kernel_build.card.process import Limits, run_part
from kernel_build.card.protocol import AGAIN, Row

LIMITS = Limits(item=60, part=120)
PROGRAM = """
import json, os, sys, time
from kernel_build.card.protocol import Row, Teller
teller = Teller(json.loads(sys.stdin.read()))
print("a word for people", flush=True)
"""
TWO = (
    "for item in ('one', 'two', 'three'):\n    if teller.wants(item):\n        {}\n        teller.row(Row(item=item))\n"
)


@pytest.fixture
def follow(tmp_path, root):
    """Run a program; gives how it ended, and the outcome of each item in order."""

    def run(body, limits=LIMITS, done=()):
        rows = []
        environment = {**os.environ, "PYTHONPATH": str(root / "kernels"), "PYTHONDONTWRITEBYTECODE": ""}
        words = [sys.executable, "-c", PROGRAM + body]
        return run_part(words, environment, tmp_path, limits, done, rows.append), rows

    return run


def outcomes(rows):
    return [(row.item, row.outcome) for row in rows]


def test_rows_come_in_order_and_what_is_done_is_left_out(follow, capfd):
    ending, rows = follow(TWO.format("pass"), done=["two"])
    assert ending.state == "complete"
    assert outcomes(rows) == [("one", "ok"), ("three", "ok")]
    assert "a word for people" in capfd.readouterr().err


def test_a_crash_costs_one_row_and_says_what_was_said_last(follow):
    ending, rows = follow(TWO.format("if item == 'two': print('very bad', flush=True); os.abort()"))
    assert ending.state == "complete"
    assert outcomes(rows) == [("one", "ok"), ("two", "crashed"), ("three", "ok")]
    assert rows[1].problem == "the process ended with signal SIGABRT in it: very bad"


def test_a_hang_costs_one_row(follow):
    began = time.monotonic()
    ending, rows = follow(TWO.format("if item == 'two': time.sleep(600)"), Limits(item=2, part=120))
    assert ending.state == "complete" and time.monotonic() - began < 60
    assert outcomes(rows) == [("one", "ok"), ("two", "hung"), ("three", "ok")]
    assert rows[1].problem == "not over after 2 seconds"


def test_what_a_process_has_started_ends_with_it(follow, tmp_path):
    body = "import subprocess\nif teller.wants('one'):\n    child = subprocess.Popen(['sleep', '600'])\n"
    body += "    open('child', 'w').write(str(child.pid))\n    os._exit(1)\n"
    assert outcomes(follow(body)[1]) == [("one", "crashed")]
    with contextlib.suppress(psutil.NoSuchProcess):
        child = psutil.Process(int((tmp_path / "child").read_text()))
        end = time.monotonic() + MILLISECONDS / 1000
        while child.status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < end
            time.sleep(0.01)


def test_a_process_whose_card_is_lost_leaves_the_rest_to_another(follow):
    body = f"if item == 'two': teller.row(Row(item=item, outcome='failed', problem='no')); os._exit({AGAIN})"
    ending, rows = follow(TWO.format(body))
    assert ending.state == "complete"
    assert outcomes(rows) == [("one", "ok"), ("two", "failed"), ("three", "ok")]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("raise SystemExit('there is no library')", "status 1 between items: there is no library"),
        (f"os._exit({AGAIN})", f"status {AGAIN} without doing anything: a word for people"),
        ("os.kill(os.getpid(), 9)", "signal SIGKILL between items"),
    ],
)
def test_a_process_that_does_nothing_is_not_started_for_ever(follow, body, problem):
    ending, rows = follow(body)
    assert (ending.state, rows) == ("failed", [])
    assert problem in ending.problem


def test_errors_that_a_sanitizer_tells_at_the_end_fail_the_part(follow):
    ending, rows = follow(TWO.format("pass") + "print('ERROR SUMMARY: 3 errors', flush=True)\nos._exit(9)")
    assert len(rows) == 3
    assert ending.state == "failed" and ending.problem.endswith("status 9 between items: ERROR SUMMARY: 3 errors")


def test_a_process_that_does_not_begin_is_told(follow):
    ending, rows = follow("time.sleep(600)", Limits(item=60, part=120, start=1))
    assert (ending.state, rows) == ("failed", []) and "nothing was told for 1 seconds" in ending.problem


@pytest.mark.slow
def test_time_that_is_over_leaves_the_rest_for_another_run(follow):
    ending, rows = follow(TWO.format("if item == 'two': time.sleep(600)"), Limits(item=60, part=2))
    assert (ending.state, ending.problem) == ("unfinished", "its time was over")
    assert outcomes(rows) in ([], [("one", "ok")])


def test_several_rows_of_an_item_are_kept_and_its_own_ends_it(follow):
    body = "if teller.wants('all'):\n    teller.row(Row(item='all, 1 of 2', measured={'x': 1}))\n    os._exit(3)\n"
    ending, rows = follow(body)
    assert outcomes(rows) == [("all, 1 of 2", "ok"), ("all", "crashed")] and rows[0].measured == {"x": 1}
    assert isinstance(rows[0], Row) and ending.state == "complete"
