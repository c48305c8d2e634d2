"""What is heard of a batch while it runs."""

import json
from typing import Any

import pytest
from batch_programs import task

from mezzotint.batch.manifest.record import Record
from mezzotint.batch.run.progress import Tally
from mezzotint.cli.batch.reporter import BatchReporter, summary
from mezzotint.cli.context import Context
from mezzotint.cli.terminal import Terminal
from mezzotint.protocol import Notice

DONE = Record(key="1", status="done", output="a/b.png")
FAILED = Record(key="2", status="failed", output="c.png", input="c\x1b[31m.jpg", kind="image_refused", error="broken")
PROGRESS = Tally(lambda: 0.0).progress()


@pytest.fixture
def heard(stream):
    """Tells a show everything, and gives both streams."""

    def call(form, tty=False, quiet=False):
        terminal: Any = Terminal(stream(), stream(tty=tty))
        terminal.quiet = quiet
        with BatchReporter(Context(terminal=terminal), form, "out") as show:
            show.progress(PROGRESS)
            for number in range(2):
                show.event(task(number, "out"), Notice(code="x", message="of \x1b one image"))
            show.settled(DONE, PROGRESS)
            show.settled(FAILED, PROGRESS)
            show.notice("paused", "no room")
        return terminal.stdout.getvalue(), terminal.stderr.getvalue()

    return call


@pytest.mark.parametrize("tty", [True, False])
def test_paths_for_results_and_talk_for_the_rest(heard, tty):
    out, errors = heard("paths", tty)
    assert out == "out/a/b.png\n"
    assert "failed: c" in errors and ".jpg: broken\n" in errors and "notice: no room\n" in errors
    assert "\x1b[31m.jpg" not in errors
    assert errors.count("one image") == 1 and "\x1b one" not in errors


def test_lines_of_json(heard):
    lines = [json.loads(line) for line in heard("jsonl")[0].splitlines()]
    assert [line["kind"] for line in lines] == ["progress", "notice", "settled", "settled", "notice"]
    assert lines[1]["notice"]["code"] == "x"
    assert lines[2]["settled"]["output"] == "a/b.png"


def test_quiet_and_one_object_at_the_end(heard):
    out, err = heard("json", quiet=True)
    assert out == ""
    assert [line.partition(":")[0] for line in err.splitlines()] == ["failed"], "failures are not progress"


def test_a_summary_names_what_happened():
    tally = Tally(lambda: 0.0)
    assert summary(tally.progress()) == "nothing to generate"
    tally.settled("done")
    tally.settled("failed")
    tally.already, tally.left_failed = 3, 1
    said = "1 made, 1 failed, 3 done before, 1 failed before (--retry-failed retries them)"
    assert summary(tally.progress()) == said
