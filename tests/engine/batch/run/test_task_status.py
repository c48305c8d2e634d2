"""How a task stands before it is made."""

import pytest
from batch_programs import StandIn, task

from mezzotint.batch.manifest.manifest import Manifest
from mezzotint.batch.run.records import failed_record
from mezzotint.batch.run.run_options import RunOptions
from mezzotint.batch.run.task_status import TaskStatus


@pytest.fixture
def manifest(tmp_path):
    with Manifest.open(tmp_path) as one:
        yield one


def task_status(folder, manifest, **options):
    return TaskStatus(folder, manifest, RunOptions(**options))


def test_new_it_is_to_be_made(tmp_path, manifest):
    one = task_status(tmp_path, manifest)
    assert one.settled(task(1, tmp_path)) is None
    assert (one.attempts(task(1, tmp_path)), one.is_suspect(task(1, tmp_path))) == (1, False)


def test_an_image_that_nobody_told_of_is_taken_and_then_known(tmp_path, manifest):
    StandIn().write(task(1, tmp_path).request)
    found = task_status(tmp_path, manifest).settled(task(1, tmp_path))
    assert (found.status, found.output, found.seconds) == ("done", "1/00001.png", None)
    manifest.add(found)
    assert task_status(tmp_path, manifest).settled(task(1, tmp_path)) == "already"


def test_a_failure_is_left_unless_asked(tmp_path, manifest):
    manifest.add(failed_record(task(1, tmp_path), "bug", "a bug", attempts=1, seconds=None))
    assert task_status(tmp_path, manifest).settled(task(1, tmp_path)) == "left_failed"
    assert task_status(tmp_path, manifest, retry_failed=True).settled(task(1, tmp_path)) is None


def test_an_image_that_could_not_be_written_is_tried_in_the_next_run(tmp_path, manifest):
    manifest.add(failed_record(task(1, tmp_path), "storage", "the disk reports an error", attempts=3, seconds=None))
    assert task_status(tmp_path, manifest).settled(task(1, tmp_path)) is None
    with Manifest.open(tmp_path / "again") as other:
        other.add(failed_record(task(1, tmp_path), "storage", "x", attempts=3, seconds=None))
        other.sync()
    with Manifest.open(tmp_path / "again") as read:
        assert task_status(tmp_path, read).settled(task(1, tmp_path)) is None


def test_what_ended_two_processes_alone_is_set_aside_and_company_does_not_count(tmp_path, manifest):
    one = task(1, tmp_path)
    for _ in range(3):
        manifest.died(one.key, together=True)
    assert task_status(tmp_path, manifest).is_suspect(one)
    assert task_status(tmp_path, manifest).settled(one) is None
    manifest.died(one.key)
    assert task_status(tmp_path, manifest).settled(one) is None
    manifest.died(one.key)
    aside = task_status(tmp_path, manifest).settled(one)
    assert (aside.status, aside.attempts) == ("set_aside", 3)
    assert task_status(tmp_path, manifest, retry_failed=True).settled(one) is None
