"""A run in a process of its own, as a window starts it: its lines, and how its input stops it."""

import json
import os
import subprocess
import sys

import pytest

from mezzotint.batch.manifest.ledger import read_ledger
from mezzotint.batch_protocol import BatchBegun, BatchEnded, BatchError, BatchTaskRow
from mezzotint.codec import decode

# An engine whose images called "slow" wait, once they are begun, until their folder has a file `go`.
PROGRAM = """
import sys, time
from pathlib import Path
from batch_programs import StandIn
from mezzotint.cli.context import Context
from mezzotint.cli.entry import run
from mezzotint.protocol import Step

class Slow(StandIn):
    def generate(self, request, on_event, cancelled):
        on_event(Step(image=0, images=1, stage=0, stages=1, step=1, steps=2, sigma=1.0,
                      preview="abcd" if request.previews else None))
        return super().generate(request, on_event, cancelled)

    def _slow(self):
        while not Path("go").exists():
            time.sleep(0.01)

sys.exit(run(sys.argv[1:], Context(make_catalog=lambda _: None, make_engine=lambda _: Slow())))
"""
JOB = """
version = 1
title = "Two"
prompts.list = ["slow", "never"]
output.batch-size = 1
"""


class Started:
    """The process, and what it says."""

    def __init__(self, folder, *words):
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, "run", "job.toml", "--jsonl", "--stop-with-input", *words],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        self.lines = []

    def until(self, kind):
        """The first line of a kind."""
        for line in self.process.stdout:
            self.lines.append(json.loads(line))
            if self.lines[-1]["kind"] == kind:
                return self.lines[-1][kind]
        raise AssertionError(self.process.stderr.read().decode())

    def say(self, words):
        self.process.stdin.write(words)
        self.process.stdin.flush()

    def rest(self):
        """All lines to the end, by their kind, and the exit code."""
        self.lines += [json.loads(line) for line in self.process.stdout]
        return {line["kind"]: line[line["kind"]] for line in self.lines}, self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()

    def hears_that_it_is_to_stop(self):
        """Waits until it has."""
        assert b"stopping after this image" in self.process.stderr.readline() + self.process.stderr.readline()


@pytest.fixture
def start(tmp_path):
    (tmp_path / "job.toml").write_text(JOB)
    return lambda *words: Started(tmp_path, *words)


def images(folder):
    return len(list((folder / "out").glob("*.png")))


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("way", ["stop", "stop and end", "end"])
def test_asked_once_the_image_is_finished_and_the_rest_can_be_made(start, tmp_path, way):
    with start() as one:
        begun = decode(BatchBegun, one.until("begun"))
        assert (begun.folder, begun.title, begun.pid) == (str(tmp_path / "out"), "Two", one.process.pid)
        assert one.until("step")["prompt"] == "slow"
        if way != "end":
            one.say(b"stop\n")
        if way != "stop":
            one.process.stdin.close()
        one.hears_that_it_is_to_stop()
        (tmp_path / "go").touch()
        told, code = one.rest()
    ended = decode(BatchEnded, told["ended"])
    assert (code, ended.exit_code, ended.stopped, ended.progress.done) == (130, 130, "interrupted", 1)
    assert decode(BatchTaskRow, told["settled"]).status == "done"
    assert decode(BatchError, told["error"]).kind == "cancelled"
    assert images(tmp_path) == 1
    with start() as again:
        told, code = again.rest()
    assert (code, told["ended"]["progress"]["already"], images(tmp_path)) == (0, 1, 2)


def test_asked_twice_it_ends_at_once_and_the_task_is_not_blamed(start, tmp_path):
    with start() as one:
        one.until("step")
        one.say(b"stop\nstop\n")
        told, code = one.rest()
    assert code == 130 and "ended" not in told and images(tmp_path) == 0
    (tmp_path / "go").touch()
    with start("--jsonl-previews") as again:
        told, code = again.rest()
    assert (code, told["ended"]["progress"]["done"], told["preview"]["jpeg"]) == (0, 2, "abcd")
    assert all(record.attempts == 1 for record in read_ledger(tmp_path / "out").records().values())


def test_a_window_that_has_died_does_not_leave_it_running(start, tmp_path):
    with start() as one:
        one.until("step")
        one.process.stdin.close()
        one.process.stdout.close()
        one.hears_that_it_is_to_stop()
        (tmp_path / "go").touch()
        assert one.process.wait() != 0
    assert images(tmp_path) == 1


def test_what_cannot_be_ends_with_an_error_line(start, tmp_path):
    (tmp_path / "job.toml").write_text(JOB + "[output]\ncolour = 1\n")
    with start() as one:
        told, code = one.rest()
    assert (code, told["error"]["kind"], list(told)) == (2, "usage", ["error"])
