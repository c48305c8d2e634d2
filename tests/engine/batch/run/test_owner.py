"""One run at a time in an output folder."""

import os
import platform

import pytest

from mezzotint.batch.run.owner import Owner, running
from mezzotint.batch.tasks.tasks import Shard
from mezzotint.errors import Locked
from mezzotint.jobs.locked_file import LockedFile

FIRST, SECOND = Shard(index=0, count=2), Shard(index=1, count=2)


@pytest.mark.parametrize("shard", [None, FIRST])
def test_the_second_is_refused_and_told_who_is_there(tmp_path, shard):
    with Owner.take(tmp_path, shard):
        with pytest.raises(Locked) as refused:
            Owner.take(tmp_path, shard)
        assert refused.value.exit_code == 8
        assert f"process {os.getpid()} on {platform.node()}" in str(refused.value)
        assert [held.pid for held in running(tmp_path)] == [os.getpid()]
    assert running(tmp_path) == []
    Owner.take(tmp_path, shard).release()


def test_shards_work_side_by_side_but_not_beside_the_whole(tmp_path):
    with Owner.take(tmp_path, FIRST), Owner.take(tmp_path, SECOND), pytest.raises(Locked):
        Owner.take(tmp_path, None)
    with Owner.take(tmp_path, None), pytest.raises(Locked):
        Owner.take(tmp_path, FIRST)
    Owner.take(tmp_path, FIRST).release()


def test_a_run_waits_for_workers_of_one_that_was_killed(tmp_path):
    with Owner.take(tmp_path, None) as owner:
        path = owner.hold_of_worker(3)
    held, waited = LockedFile.take(path), []

    def sleep(seconds):
        waited.append(seconds)
        if len(waited) == 3:
            held.release()

    with Owner.take(tmp_path, None, sleep=sleep):
        assert len(waited) == 3


def test_workers_that_do_not_end_are_told(tmp_path):
    with Owner.take(tmp_path, None) as owner:
        held = LockedFile.take(owner.hold_of_worker(0))
    with pytest.raises(Locked, match="is still generating an image"):
        Owner.take(tmp_path, None, patience=0)
    held.release()
    Owner.take(tmp_path, None, patience=0).release()
