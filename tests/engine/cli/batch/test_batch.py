"""`mezzotint batch`, and what it says of output folders."""

import csv
import io

import pytest
from batch_programs import run, task

from mezzotint.batch.tasks.tasks import Shard
from mezzotint.cli.batch.batch import insert_run_command


@pytest.fixture
def folder(tmp_path):
    """One that has been filled, but for a failure."""
    run(tmp_path, 3, stream=[task(0, tmp_path), task(1, tmp_path, "refused"), task(2, tmp_path)])
    return tmp_path


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["batch", "photos", "-o", "out"], ["batch", "run", "photos", "-o", "out"]),
        (["batch", "--prompt", "a"], ["batch", "run", "--prompt", "a"]),
        (["batch", "./status", "-o", "out"], ["batch", "run", "./status", "-o", "out"]),
        (["batch", "status", "out"], ["batch", "status", "out"]),
        (["batch", "run", "photos"], ["batch", "run", "photos"]),
        (["batch", "--help"], ["batch", "--help"]),
        (["batch"], ["batch"]),
        (["generate", "batch"], ["generate", "batch"]),
        ([], []),
    ],
)
def test_the_word_run_may_be_left_out(words, expected):
    assert insert_run_command(words) == expected


def test_status(command, folder):
    done = command("batch", "status", str(folder))
    assert done.code == 3
    assert done.out.splitlines() == ["generated    2 of 3", "failed       1 (1 image_refused)"]
    said = command("batch", "status", "--json", str(folder)).json
    assert (said["done"], said["failed"], said["is_ended"]) == (2, 1, True)


def test_report(command, folder):
    done = command("batch", "report", str(folder))
    assert done.code == 0
    assert done.out.splitlines()[0] == "failed     1/00001.png: image_refused: broken.png is cut off in the middle"
    assert len(done.out.splitlines()) == 3
    assert len(command("batch", "report", "--failed", str(folder)).out.splitlines()) == 1
    rows = list(csv.DictReader(io.StringIO(command("batch", "report", "--csv", str(folder)).out)))
    assert [row["status"] for row in rows] == ["failed", "done", "done"]


def test_merge(command, folder, tmp_path):
    done = command("batch", "merge", str(folder))
    assert done.code == 3
    assert done.out.strip() == str(folder / "mezzotint-manifest.merged.jsonl")
    (folder / "0/00000.png").unlink()
    done = command("batch", "merge", "--json", str(folder))
    assert done.code == 1
    assert done.json["missing"] == ["0/00000.png: the image is missing"]
    assert "missing: 0/00000.png" in done.err
    run(tmp_path / "shards", 6, shard=Shard(index=1, count=2))
    done = command("batch", "merge", "--quick", str(tmp_path / "shards"))
    assert done.code == 1 and "shard 0/2: it has no manifest" in done.err


def test_a_folder_without_a_batch(command, tmp_path):
    for name in ("status", "report", "merge"):
        done = command("batch", name, str(tmp_path))
        assert done.code == 7 and "has no manifest" in done.err
