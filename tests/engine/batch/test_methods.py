"""What the librarian answers about batches."""

import json
import os
import sys
from pathlib import Path

import pytest
from batch_programs import run, task
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.batch import methods
from mezzotint.batch.job.reading import job_of_data
from mezzotint.batch.job.writing import data_of
from mezzotint.batch.methods import batch_methods
from mezzotint.batch_protocol import BatchFolder, BatchLook, BatchTasks, BatchWrite
from mezzotint.catalog import Catalog
from mezzotint.errors import MezzotintError, StorageError, UsageError
from mezzotint.library.params import PathParams

JOB = {"version": 1, "prompts": {"list": ["a house"]}, "output": {"folder": "out"}}
HERE = str(Path.cwd()) + os.sep


@pytest.fixture
def ask():
    table = batch_methods(lambda: Catalog.standard(()))
    return lambda name, params: table[name].run(params, lambda event: None, lambda: False)


def test_a_job_is_written_read_looked_at_and_stands(ask, tmp_path):
    path = tmp_path / "job.toml"
    assert ask("batch_write", BatchWrite(job=JOB, path=str(path))).path == str(path)
    read = ask("batch_read", PathParams(path=str(path)))
    assert (read.job, read.base) == (JOB, str(tmp_path))
    assert ask("batch_look", BatchLook(job=read.job, base=read.base)).to_make == 1
    run(tmp_path / "out", 2, stream=[task(0, tmp_path / "out"), task(1, tmp_path / "out", "refused")])
    status = ask("batch_status", BatchFolder(folder=str(tmp_path / "out")))
    assert (status.done, status.failed, status.total) == (1, 1, 2)
    (row,) = ask("batch_tasks", BatchTasks(folder=str(tmp_path / "out"), which="failed")).rows
    assert row.kind == "image_refused"


@pytest.mark.parametrize("name", ["job.toml", "job.json"])
def test_nothing_is_replaced_unless_that_is_asked_for(ask, tmp_path, name):
    path = tmp_path / name
    path.write_text("mine")
    with pytest.raises(StorageError, match="already exists"):
        ask("batch_write", BatchWrite(job=JOB, path=str(path)))
    assert path.read_text() == "mine"
    ask("batch_write", BatchWrite(job=JOB, path=str(path), overwrite=True))
    assert ask("batch_read", PathParams(path=str(path))).job == JOB
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_written_elsewhere_its_paths_mean_the_same(ask, tmp_path):
    (tmp_path / "other").mkdir()
    path = str(tmp_path / "other" / "job.toml")
    ask("batch_write", BatchWrite(job=JOB, path=path, base=str(tmp_path)))
    assert ask("batch_read", PathParams(path=path)).job["output"] == {"folder": str(tmp_path / "out")}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("version = 1\n[settings]\nsteps = 0\n[prompts]\nlist = ['a']\n", "job.toml, line 3: settings.steps"),
        ("version = 1\n[prompts\n", "not valid TOML"),
        ("version = 1\n", "nothing to generate"),
        ("\0", "not valid TOML"),
        ("a = " + "[" * 3000, "nested too deeply|not valid TOML"),
    ],
)
def test_a_file_that_is_no_job_is_named_with_its_line(ask, tmp_path, text, words):
    (tmp_path / "job.toml").write_text(text)
    with pytest.raises(UsageError, match=words):
        ask("batch_read", PathParams(path=str(tmp_path / "job.toml")))


def test_what_is_too_long_for_a_window_is_told(ask, tmp_path, monkeypatch):
    monkeypatch.setattr(methods, "MOST_BYTES", 1000)
    path = tmp_path / "job.json"
    path.write_text(json.dumps({**JOB, "title": "t" * 2000}))
    with pytest.raises(StorageError, match="larger than the 1000 bytes"):
        ask("batch_read", PathParams(path=str(path)))
    path.write_text(json.dumps({**JOB, "title": "\u00e4" * 250}, ensure_ascii=False), encoding="utf-8")
    with pytest.raises(UsageError, match="use `mezzotint run`"):
        ask("batch_read", PathParams(path=str(path)))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes in folders")
def test_pipes_devices_and_links_in_a_circle_are_no_jobs(ask, tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "loop.toml").symlink_to("loop.toml")
    (tmp_path / "null.toml").symlink_to("/dev/zero")
    for name in ("pipe.toml", "loop.toml", "null.toml", "absent.toml"):
        with pytest.raises(MezzotintError) as caught:
            ask("batch_read", PathParams(path=str(tmp_path / name)))
        assert caught.value.kind == "storage"


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("batch_read", PathParams(path="job.toml")),
        ("batch_read", PathParams(path="/a\0b.toml")),
        ("batch_write", BatchWrite(job=JOB, path="job.toml")),
        ("batch_write", BatchWrite(job=JOB, path=HERE + "job.txt")),
        ("batch_write", BatchWrite(job=JOB, path=HERE + "x.toml", base="here")),
        ("batch_write", BatchWrite(job={}, path=HERE + "x.toml")),
        ("batch_status", BatchFolder(folder="out")),
        ("batch_tasks", BatchTasks(folder="out")),
        ("batch_look", BatchLook(job=JOB, base="here")),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_a_usage_error(ask, name, params):
    with pytest.raises(UsageError):
        ask(name, params)


def test_a_folder_that_is_not_there_is_told_when_a_job_is_written(ask, tmp_path):
    with pytest.raises(StorageError):
        ask("batch_write", BatchWrite(job=JOB, path=str(tmp_path / "absent" / "job.toml")))


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
parts = st.sampled_from(["version", "title", "settings", "prompts", "input", "matrix", "output", "request"])
said = st.fixed_dictionaries({"list": st.lists(st.text(max_size=20), max_size=3)})


@given(st.dictionaries(parts, anything | said | st.just(1), max_size=8))
def test_whatever_is_sent_is_a_job_or_refused_in_plain_words(data):
    try:
        job = job_of_data(data)
    except MezzotintError as error:
        assert error.kind == "usage" and str(error)
    else:
        assert job_of_data(data_of(job)) == job
