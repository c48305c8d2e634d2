"""Results are kept with every row, resumed on the same card and commit, and never mixed."""

import json
from dataclasses import replace

import pytest

from kernel_build.card import record_file
from kernel_build.card.machine import STUB, Device
from kernel_build.card.protocol import Row
from kernel_build.card.record_file import NAME, open_record, read_record
from kernel_build.errors import BuildError

CARD = Device(name="Paper Card", capability=(9, 0), torch="2.11", cuda="13.0")
STUBBED = Device(name=STUB, capability=None, torch="2.11", cuda=None)


def opened(folder, commit="abc", device=CARD, again=False):
    return open_record(folder, commit, device, again=again)


@pytest.fixture
def record(tmp_path):
    found = opened(tmp_path / "results")
    found.add("times", Row(item="one", measured={"milliseconds": 1.5}))
    return found


def test_a_row_is_in_the_file_at_once_and_is_gone_on_with(record, tmp_path):
    found = opened(tmp_path / "results")
    (row,) = found.rows
    assert (row["item"], row["outcome"], row["device"]) == ("one", "ok", "Paper Card")
    assert row["measured"] == {"milliseconds": 1.5} and len(row["date"]) == 10
    assert found.device == CARD and not found.is_complete("times")


def test_a_record_that_does_not_know_the_multiprocessors_is_read(record, tmp_path):
    words = json.loads(record.path.read_text("utf-8"))
    del words["device"]["multiprocessors"]
    record.path.write_text(json.dumps(words), "utf-8")
    assert read_record(tmp_path / "results").device == CARD


def test_how_a_part_ended_is_kept_and_its_seconds_add_up(record, tmp_path):
    record.end("times", "unfinished", "its time was over", 30)
    again = opened(tmp_path / "results")
    again.end("times", "complete", None, 12.04)
    assert read_record(tmp_path / "results").parts == {"times": {"state": "complete", "problem": None, "seconds": 42.0}}


def test_a_row_that_comes_again_takes_the_place_of_the_old(record):
    record.add("times", Row(item="one", outcome="failed", problem="no"))
    assert [row["outcome"] for row in record.rows] == ["failed"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"commit": "def"}, "results of commit 'abc', and this is 'def'"),
        ({"device": replace(CARD, name="Other Card")}, "results of device 'Paper Card', and this is 'Other Card'"),
        ({"device": STUBBED}, "results of device 'Paper Card', and this is 'stub'"),
        ({"device": replace(CARD, torch="2.12")}, "torch 2.11, and this is 2.12"),
    ],
)
def test_what_was_found_elsewhere_is_not_mixed_in(record, tmp_path, changes, words):
    before = record.path.read_bytes()
    with pytest.raises(BuildError, match=words):
        opened(tmp_path / "results", **changes)
    assert record.path.read_bytes() == before


def test_a_stub_s_results_are_none_of_a_card(tmp_path):
    opened(tmp_path, device=STUBBED).add("times", Row(item="one"))
    with pytest.raises(BuildError, match="results of device 'stub', and this is 'Paper Card'"):
        opened(tmp_path)


def test_again_puts_the_old_aside(record, tmp_path):
    folder = tmp_path / "results"
    for _ in range(2):
        found = opened(folder, commit="def", again=True)
        assert found.rows == [] and not (folder / NAME).exists()
        found.add("times", Row(item="two"))
    assert sorted(path.name for path in folder.iterdir()) == ["results.1.json", "results.2.json", "results.json"]
    assert json.loads((folder / "results.1.json").read_text())["commit"] == "abc"


def test_a_write_that_fails_leaves_the_file_as_it_was(record, monkeypatch):
    before = record.path.read_bytes()

    def fail(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr("kernel_build.results.os.fsync", fail)
    with pytest.raises(OSError, match="full"):
        record.add("times", Row(item="two"))
    assert record.path.read_bytes() == before


@pytest.mark.parametrize("text", ["", "[]", '{"form": 0}', '{"form": 1}', '{"form": 1, "device": {"name": 1}}'])
def test_what_is_no_record_is_told(tmp_path, text):
    (tmp_path / NAME).write_text(text)
    with pytest.raises(BuildError, match="results.json"):
        read_record(tmp_path)


def test_a_folder_without_results_is_told(tmp_path):
    with pytest.raises(BuildError, match="there are no results in"):
        read_record(tmp_path)
    assert record_file.FORM == 1
