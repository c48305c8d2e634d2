"""The end of a run fits a screen, whatever went wrong."""

import pytest

from kernel_build.card.machine import STUB, Device
from kernel_build.card.parts import PARTS
from kernel_build.card.protocol import Row
from kernel_build.card.record_file import Record
from kernel_build.card.summary import MOST_LINES, summary


@pytest.fixture
def record(tmp_path, monkeypatch):
    monkeypatch.setattr(Record, "write", lambda self: None)
    device = Device(name="Paper Card", capability=(9, 0), torch="2.11", cuda="13.0")
    return Record(path=tmp_path / "results.json", commit="abc", device=device)


def problem(times):
    return {"shape": "SDXL, 64x64", "kind": "16 bits", "best": "mezzotint 64x64", "chosen_by_best": times}


def test_it_stays_short_and_ends_with_the_count(record):
    for part in PARTS:
        for number in range(30):
            record.add(part.name, Row(item=f"item {number}", outcome="failed", problem="no\nreason " * 90))
        record.end(part.name, "failed", "it ended " * 90, 10)
    lines = summary(record, PARTS, [problem(1 + number / 9) for number in range(40)])
    assert len(lines) <= MOST_LINES == 60
    assert all(len(line) <= 180 and "\n" not in line for line in lines)
    assert any(line.startswith("FAILED: ") and "more, in the file" in line for line in lines)
    assert lines[-1].endswith("targets pending")


def test_each_part_has_its_line(record):
    record.add("tests-linear", Row(item="one"))
    record.add("tests-linear", Row(item="two", outcome="skipped", problem="needs 14 GB"))
    record.end("tests-linear", "complete", None, 12.4)
    assert "tests-linear: complete, 1 ok, 1 skipped, 12 s" in summary(record, PARTS[:1], [])


def test_choices_that_cost_time_are_told_the_worst_first(record):
    lines = summary(record, [], [problem(1.02), problem(1.2), problem(1.4), problem(None)])
    told = [line for line in lines if line.startswith("slower")]
    assert [line.split()[-4] for line in told] == ["1.40", "1.20"]


def test_a_stub_says_that_it_is_one(record):
    record.device = Device(name=STUB, capability=None, torch="2.11", cuda=None)
    lines = summary(record, [], [problem(1.4)])
    assert lines[0].startswith("stub, ") and "no figure of this run is one of a card" in lines[1]
    assert not any(line.startswith("slower") for line in lines)
