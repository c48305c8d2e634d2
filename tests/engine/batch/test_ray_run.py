"""A batch on a real Ray cluster of this machine, with two GPUs that are only counted."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import ray_programs
from batch_made import Batch
from batch_programs import painted, task
from ray_programs import PLUGINS, workers_on

from mezzotint.batch.ray_cluster import LOCAL, connected
from mezzotint.protocol import ImageInput

pytestmark = [pytest.mark.requires_package("ray"), pytest.mark.timeout(280)]


@pytest.fixture(scope="module")
def cluster():
    """One for all tests: its start takes seconds."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([PLUGINS, *filter(None, sys.path)])
    try:
        with connected(LOCAL, on_processor=False, cores=2, gpus=2) as one:
            yield one
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


@pytest.fixture
def photo(tmp_path):
    path = tmp_path / "photo of mine.png"
    painted(99).save(path)
    return path


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in Path(folder).rglob("*.png")}


def with_photo(one, photo):
    """The task with a picture that it begins from."""
    import hashlib
    from dataclasses import replace

    given = ImageInput(path=str(photo), sha256=hashlib.sha256(photo.read_bytes()).hexdigest())
    return replace(one, request=replace(one.request, images=(given,)))


@pytest.mark.parametrize("together", [1, 3])
def test_processes_that_die_in_the_middle_change_nothing_of_what_comes_out(cluster, tmp_path, photo, together):
    plain, rays, marks = Batch(tmp_path / "plain"), Batch(tmp_path / "rays"), tmp_path / "marks"
    for folder in (plain.folder, rays.folder, marks):
        folder.mkdir()
    tasks = [
        [with_photo(one, photo) if not number % 4 else one for number, one in enumerate(batch.tasks(16))]
        for batch in (plain, rays)
    ]
    plain.run(tasks[0])
    ended = rays.run(tasks[1], workers=workers_on(cluster, str(marks), most=together))
    assert {path.name for path in marks.iterdir()} == {"begun", "written"}
    assert (ended.stopped, ended.failures, ended.progress.done) == ("finished", 0, 16)
    assert contents(rays.folder) == contents(plain.folder)
    assert len(rays.heard.records) == 16
    assert {code for code, _ in rays.heard.notices} >= {"worker_died"}
