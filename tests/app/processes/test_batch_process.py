"""A run is followed to its end, whatever it writes, and is stopped by a word."""

import sys
from pathlib import Path
from typing import Any

import pytest
from fake_clock import FakeClock

from mezzotint.batch_protocol import BatchBegun, BatchEnded, BatchError, BatchProgress, BatchStep, BatchTaskRow
from mezzotint_app.processes.batch_process import FLAGS, RETRY, SILENT, BatchProcess, command

pytestmark = pytest.mark.requires_package("PySide6")

CHILD = (sys.executable, str(Path(__file__).parents[2] / "plugins" / "batch_child.py"))


@pytest.fixture
def begin(qtbot, tmp_path):
    made = []

    def start(title, clock=None, **how):
        job = tmp_path / "job.toml"
        job.write_text(f'title = "{title}"')
        process: Any = BatchProcess(command(str(job), base=CHILD, **how), clock)
        process.heard, process.endings = [], []
        process.event_received.connect(process.heard.append)
        process.ended.connect(process.endings.append)
        made.append(process)
        process.start()
        return process

    yield start
    for process in made:
        process.finish(5000)


def until_ended(qtbot, process):
    qtbot.waitUntil(lambda: bool(process.endings))
    return process.endings[0]


def test_the_words_of_the_command():
    assert command("/j.toml", base=("m", "run")) == ("m", "run", "/j.toml", *FLAGS)
    assert command("/j.toml", retry_failed=True, base=("m",))[-1] == RETRY


def test_everything_is_told_before_the_end(qtbot, begin):
    process = begin("fine")
    ending = until_ended(qtbot, process)
    assert (ending.kind, ending.code) == ("ended", 0)
    assert [type(one) for one in process.heard] == [
        BatchBegun, BatchProgress, BatchStep, *[BatchTaskRow] * 4, BatchEnded,
    ]  # fmt: skip
    assert process.log() == ("talk for people",)


def test_a_word_stops_it_after_the_image(qtbot, begin):
    process = begin("slow")
    qtbot.waitUntil(lambda: any(isinstance(one, BatchTaskRow) for one in process.heard))
    process.stop()
    process.stop()
    ending = until_ended(qtbot, process)
    assert ending.code == 130
    assert isinstance(process.heard[-1], BatchError) and process.heard[-1].kind == "cancelled"


def test_one_that_does_not_hear_is_killed(qtbot, begin):
    clock = FakeClock()
    process = begin("deaf", clock)
    qtbot.waitUntil(lambda: any(isinstance(one, BatchTaskRow) for one in process.heard))
    process.stop_now()
    clock.advance(16)
    qtbot.waitUntil(lambda: process._process.state().value == 0)
    clock.settle()
    assert process.endings and process.endings[0].kind == "crashed"


def test_garbage_is_kept_for_the_log_and_ends_nothing(qtbot, begin):
    process = begin("garbage")
    assert until_ended(qtbot, process).code == 0
    assert "not a message" in process.log() and isinstance(process.heard[-1], BatchEnded)


def test_one_that_cannot_be_started_says_so(qtbot):
    for words in ((), ("/there/is/no/such/program",)):
        process: Any = BatchProcess(words)
        with qtbot.waitSignal(process.ended) as ended:
            process.start()
        assert ended.args[0].kind == "not_started"


def test_silence_is_told_and_over_with_the_next_word(qtbot, begin):
    clock = FakeClock()
    process = begin("slow", clock)
    silences = []
    process.silence_changed.connect(silences.append)
    qtbot.waitUntil(lambda: any(isinstance(one, BatchTaskRow) for one in process.heard))
    clock.jump(10 * SILENT)  # the machine slept: nobody was silent
    assert silences == []
    clock.advance(SILENT + 20)
    assert silences == [True]
    process.stop()
    qtbot.waitUntil(lambda: silences == [True, False])
