"""A batch on a real Ray cluster of this machine, with two GPUs that are only counted."""

import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
import ray_programs
from batch_made import Batch
from batch_programs import painted, task
from ray_programs import PLUGINS, workers_on, working_below

from mezzotint.batch.ray.cluster import LOCAL, ActorDied, connected
from mezzotint.batch.run.workers import WorkerUnusable
from mezzotint.errors import Cancelled
from mezzotint.protocol import Cascade, ImageInput, ModelRef, Stage

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
    """The task with an image that it begins from."""
    given = ImageInput(path=str(photo), sha256=hashlib.sha256(photo.read_bytes()).hexdigest())
    return replace(one, request=replace(one.request, images=(given,)))


@pytest.mark.slow
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
    ended = rays.run(tasks[1], workers=workers_on(cluster, str(marks), batch_size=together))
    assert {path.name for path in marks.iterdir()} == {"begun", "written"}
    assert (ended.stopped, ended.failures, ended.progress.done) == ("finished", 0, 16)
    assert contents(rays.folder) == contents(plain.folder)
    assert len(rays.heard.records) == 16
    assert {code for code, _ in rays.heard.notices} & {"worker_died", "together_failed"}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_killed_run_takes_its_ray_along_and_the_next_one_makes_what_is_missing(cluster, tmp_path):
    rays, plain = Batch(tmp_path / "rays"), Batch(tmp_path / "plain")
    plain.run(plain.tasks(60))
    words = [sys.executable, ray_programs.__file__, str(rays.folder), "60"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as run:
        assert [run.stdout.readline() for _ in range(5)] == [".\n"] * 5  # and nothing that Ray would say
        below = working_below(run.pid)
        run.kill()
    assert psutil.wait_procs(below, timeout=120)[1] == []
    ended = rays.run(rays.tasks(60), workers=workers_on(cluster))
    assert (ended.stopped, ended.failures, ended.progress.done + ended.progress.already) == ("finished", 0, 60)
    assert ended.progress.already >= 5
    assert contents(rays.folder) == contents(plain.folder)


@pytest.mark.slow
def test_who_stops_gets_what_is_under_way_and_the_cluster_of_others_stays(cluster, tmp_path):
    batch = Batch(tmp_path)
    with connected(LOCAL, on_processor=False) as same:
        ended = batch.run(batch.tasks(2000), workers=workers_on(same), stopping=lambda: len(batch.heard.records) >= 2)
    assert ended.stopped == "interrupted"
    assert 2 <= len(batch.heard.records) == len(batch.images()) < 2000
    assert workers_on(cluster)[0].make(task(7, tmp_path, "after").request, lambda _: None).images


@pytest.mark.slow
def test_a_process_that_is_ended_between_images_is_no_fault_of_the_next(cluster, tmp_path):
    worker = workers_on(cluster)[0]
    worker.make(task(1, tmp_path).request, lambda _: None)
    cluster.end(worker._actor)
    with pytest.raises(ActorDied):  # Ray ends it by and by
        while True:
            cluster.ask(worker._actor, "hello")
    assert worker.make(task(2, tmp_path).request, lambda _: None).images
    worker.close()


@pytest.mark.slow
def test_a_node_that_lacks_a_model_or_has_another_is_refused(cluster, tmp_path):
    for name, words in [("absent", "no model is called 'absent'"), ("other", "has different content there")]:
        stage = Stage(model=ModelRef(id=name))
        request = replace(task(1, tmp_path).request, cascade=Cascade(stages=(stage,)))
        worker = workers_on(cluster, hashes=lambda kind, name: "0" * 64)[0]
        with pytest.raises(WorkerUnusable, match=words):
            worker.make(request, lambda _: None)
        worker.close()
    assert not list(tmp_path.rglob("*.png"))


@pytest.mark.slow
def test_a_node_with_another_version_is_refused(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr("mezzotint.batch.ray.worker.__version__", "99")
    worker = workers_on(cluster)[0]
    with pytest.raises(WorkerUnusable, match="and this is 99: install the same version"):
        worker.make(task(1, tmp_path).request, lambda _: None)
    worker.close()


@pytest.mark.slow
def test_who_waits_for_a_place_can_stop_waiting(cluster, tmp_path):
    holders, heard = workers_on(cluster), []
    for number, worker in enumerate(holders):
        worker.make(task(number, tmp_path).request, lambda _: None)
    waiter = workers_on(cluster, stopping=lambda: bool(heard))[0]
    with pytest.raises(Cancelled):
        waiter.make(task(5, tmp_path).request, heard.append)
    assert [event.code for event in heard] == ["waiting"]
    for worker in (waiter, *holders):
        worker.close()
