"""A run as lines of JSON: what each holds, how often they come, and what happens when nobody reads them."""

import json
import threading
from dataclasses import replace

import pytest
from batch_programs import task

from mezzotint.batch.manifest.record import Record
from mezzotint.batch.run.progress import Tally
from mezzotint.batch_protocol import (
    BatchBegun,
    BatchEnded,
    BatchNotice,
    BatchPreview,
    BatchProgress,
    BatchStep,
    BatchTaskRow,
)
from mezzotint.cli.batch.json_lines import PREVIEW_SECONDS, STEP_SECONDS, JsonLinesWriter, figures_of
from mezzotint.cli.terminal import Terminal
from mezzotint.codec import decode
from mezzotint.errors import StorageError
from mezzotint.protocol import Notice, Step

TYPES = {
    "begun": BatchBegun,
    "step": BatchStep,
    "preview": BatchPreview,
    "settled": BatchTaskRow,
    "progress": BatchProgress,
    "notice": BatchNotice,
    "ended": BatchEnded,
}
STEP = Step(image=0, images=1, stage=0, stages=2, step=3, steps=8, sigma=1.0, preview="abcd")
PROGRESS = Tally(lambda: 0.0).progress()
ENDED = BatchEnded(stopped="finished", failures=0, exit_code=0, progress=figures_of(PROGRESS))
BEGUN = BatchBegun(schema_version=1, folder="/out", title="T", pid=7, shard=None, devices=())


class Told:
    """Lines, and what was told through them, with a clock that stands."""

    def __init__(self, stream):
        self.now, self.gone, self.stream = 100.0, 0, stream
        self.lines = JsonLinesWriter(Terminal(stream, stream), self._on_gone, lambda: self.now)

    def _on_gone(self):
        self.gone += 1

    def all(self):
        found = [json.loads(line) for line in self.stream.getvalue().splitlines()]
        return [(line["kind"], decode(TYPES[line["kind"]], line[line["kind"]])) for line in found]

    def kinds(self):
        return [kind for kind, _ in self.all()]


@pytest.fixture
def told(stream):
    return Told(stream())


def test_every_line_is_of_its_kind_and_its_type(told):
    told.lines.begun(BEGUN)
    told.lines.event(task(1, "out"), STEP)
    told.lines.settled(Record(key="k", status="failed", output="a/b.png", input="b.jpg", seed=7, kind="bug", error="x"))
    told.lines.progress(replace(PROGRESS, total=9, per_second=1.5, seconds_left=4.0, vram_bytes=2**30))
    told.lines.notice("paused", "the disk is full")
    told.lines.ended(ENDED)
    lines = dict(told.all())
    assert list(lines) == ["begun", "step", "preview", "settled", "progress", "notice", "ended"]
    assert lines["step"] == BatchStep(
        output="1/00001.png", input=None, prompt="number 1", stage=0, stages=2, step=3, steps=8
    )
    assert lines["preview"] == BatchPreview(output="1/00001.png", jpeg="abcd")
    assert lines["settled"].error == "x" and lines["settled"].output == "a/b.png"
    assert lines["progress"].seconds_left == 4.0 and lines["progress"].vram_bytes == 2**30


def test_steps_and_previews_come_a_few_times_a_second(told):
    for _ in range(80):
        told.lines.event(task(1, "out"), STEP)
        told.now += 1 / 16
    kinds = told.kinds()
    assert (kinds.count("step"), kinds.count("preview")) == (5 / STEP_SECONDS, 5 / PREVIEW_SECONDS)


def test_steps_without_an_image_and_other_events_have_none(told):
    told.lines.event(task(1, "out"), replace(STEP, preview=None))
    told.lines.event(task(1, "out"), Notice(code="x", message="of one image"))
    assert told.kinds() == ["step"]


def test_long_words_are_cut(told):
    told.lines.event(task(1, "out", prompt="word " * 10_000), STEP)
    told.lines.notice("x", "y" * 100_000)
    assert max(map(len, told.stream.getvalue().splitlines())) < 5000


def test_lines_of_several_threads_are_whole(told):
    def tell():
        for number in range(200):
            told.lines.settled(Record(key="k", status="done", output=f"{number}.png"))

    threads = [threading.Thread(target=tell) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told.kinds() == ["settled"] * 1200


@pytest.mark.parametrize("error", [BrokenPipeError(), OSError(28, "No space left on device")])
def test_when_nobody_reads_the_run_is_asked_to_stop_and_told_why_at_its_end(told, monkeypatch, error):
    def broken(_):
        raise error

    told.lines.begun(BEGUN)
    monkeypatch.setattr(told.stream, "write", broken)
    told.lines.progress(PROGRESS)
    told.lines.settled(Record(key="k", status="done", output="a.png"))
    told.lines.event(task(1, "out"), STEP)
    assert told.gone == 4 and told.kinds() == ["begun"]  # of four lines none was written
    with pytest.raises(BrokenPipeError if isinstance(error, BrokenPipeError) else StorageError):
        told.lines.ended(ENDED)


def test_nothing_is_begun_where_nobody_reads(told, monkeypatch):
    def broken(_):
        raise BrokenPipeError

    monkeypatch.setattr(told.stream, "write", broken)
    with pytest.raises(BrokenPipeError):
        told.lines.begun(BEGUN)
