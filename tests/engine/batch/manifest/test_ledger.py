"""All manifests of a folder together."""

import json

import pytest

from mezzotint.batch.manifest.ledger import read_ledger
from mezzotint.batch.manifest.manifest import Manifest
from mezzotint.batch.manifest.record import Record
from mezzotint.batch.tasks.tasks import Shard
from mezzotint.errors import StorageError


def record(key, status="done", output=None, **changes):
    return Record(key=key, status=status, output=output or f"{key}.png", **changes)


def write(folder, *records, shard=None, ended=True):
    with Manifest.open(folder, shard) as manifest:
        manifest.note("run", {"schema_version": 1})
        for one in records:
            manifest.add(one)
        if ended:
            manifest.note("ended", {})


def test_an_image_counts_for_more_than_a_failure(tmp_path):
    write(tmp_path, record("a", "failed"), shard=Shard(index=0, count=2))
    write(tmp_path, record("a"), record("b", "failed"), shard=Shard(index=1, count=2))
    assert {key: one.status for key, one in read_ledger(tmp_path).records().items()} == {"a": "done", "b": "failed"}


def test_what_was_about_to_be_replaced_is_there_no_more(tmp_path):
    write(tmp_path, record("old", output="a.png"), record("b"), ended=False)
    with Manifest.open(tmp_path) as manifest:
        manifest.replace("a.png", "new")
    assert set(read_ledger(tmp_path).records()) == {"b"}


def test_a_failure_whose_place_was_taken_and_an_image_that_was_replaced_are_no_more(tmp_path):
    write(
        tmp_path,
        record("old", "failed", "a.png"),
        record("new", "done", "a.png"),
        record("c", output="c.png"),
        record("d", output="c.png"),
    )
    assert set(read_ledger(tmp_path).records()) == {"new", "d"}


def test_an_image_that_was_mended_is_passed_over_no_more_and_one_that_broke_is(tmp_path):
    def passed_over(key, name, kind="image_refused"):
        return Record(key=key, status="skipped", output="", input=name, kind=kind)

    write(
        tmp_path,
        *(passed_over("1", "mended"), passed_over("2", "mended", "storage"), record("3", input="mended")),
        *(record("4", input="broke"), passed_over("5", "broke")),
        *(passed_over("6", "some", "usage"), record("7", input="some")),  # one of its tasks
    )
    assert list(read_ledger(tmp_path).records()) == ["3", "4", "5", "6", "7"]


def test_how_the_last_run_ended_and_which_shards_are_there(tmp_path):
    write(tmp_path, record("a"), shard=Shard(index=2, count=3))
    write(tmp_path, record("b"), shard=Shard(index=0, count=3), ended=False)
    ledger = read_ledger(tmp_path)
    assert [journal.is_ended for journal in ledger.journals] == [False, True]
    assert ledger.shards_without_manifest() == [Shard(index=1, count=3)]


def test_lines_of_anyone_do_no_harm(tmp_path):
    path = tmp_path / "mezzotint-manifest.jsonl"
    odd = {"key": "a", "status": "failed", "output": "a", "input": 7, "seconds": "x", "engine": [], "more": {}}
    path.write_text("nonsense\n" + json.dumps(odd) + "\n")
    (journal,) = read_ledger(tmp_path).journals
    assert journal.damaged == 1
    assert journal.records["a"] == Record(key="a", status="failed", output="a")


def test_a_folder_without_a_manifest_is_refused(tmp_path):
    with pytest.raises(StorageError, match="has no manifest"):
        read_ledger(tmp_path)
    with pytest.raises(StorageError, match="is not a folder"):
        read_ledger(tmp_path / "absent")
