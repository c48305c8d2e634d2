"""The manifest: appended, synced in groups, and read again after any end."""

import errno
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.batch.manifest.manifest import Manifest
from mezzotint.batch.manifest.record import STATUSES, Record, is_record, line_of, read_lines
from mezzotint.batch.manifest.shards import Shard
from mezzotint.errors import StorageError


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class FullDisk:
    """Takes so many bytes, and refuses the rest; a part of a line may find room."""

    def __init__(self, room):
        self.room = room

    def __call__(self, handle, data):
        taken = data[: self.room]
        self.room -= len(taken)
        if not taken:
            raise OSError(errno.ENOSPC, "full")
        return os.write(handle, taken)


def record(number, status="done", **changes):
    return Record(key=f"key {number}", status=status, output=f"{number}.png", **changes)


def values(folder):
    return [line.value for path in sorted(folder.glob("*.jsonl")) for line in read_lines(path)]


def keys(folder):
    return [value["key"] for value in values(folder) if is_record(value)]


def test_a_task_counts_once_it_is_synced(tmp_path):
    synced = []
    with Manifest.open(tmp_path, fsync=lambda _: synced.append(keys(tmp_path))) as manifest:
        manifest.add(record(1))
        manifest.add(record(2))
        assert synced == []
        assert [one.key for one in manifest.sync()] == ["key 1", "key 2"]
        assert synced == [["key 1", "key 2"]]
        assert manifest.sync() == []


def test_due_after_so_many_tasks_or_so_long(tmp_path):
    clock = Clock()
    with Manifest.open(tmp_path, sync_tasks=3, sync_seconds=1, clock=clock) as manifest:
        for number in range(2):
            manifest.add(record(number))
            assert not manifest.due()
        manifest.add(record(3))
        assert manifest.due()
        manifest.sync()
        assert not manifest.due()
        manifest.add(record(4))
        clock.now = 1.0
        assert manifest.due()


@given(st.lists(st.sampled_from(STATUSES), min_size=1, max_size=6), st.data())
def test_torn_anywhere_the_lines_before_stand_and_new_ones_follow(tmp_path_factory, statuses, data):
    folder = tmp_path_factory.mktemp("torn")
    with Manifest.open(folder) as manifest:
        for number, status in enumerate(statuses):
            manifest.add(record(number, status))
        manifest.sync()
    whole = manifest.path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    tail = data.draw(st.sampled_from([b"", b"\0\0\0", b"\0\n", b'{"key": "', b"\xff"]))
    manifest.path.write_bytes(whole[:cut] + tail)
    expected = [f"key {number}" for number in range(whole[:cut].count(b"\n"))]
    with Manifest.open(folder) as again:
        assert again.cut == len(whole[:cut]) + len(tail) - sum(
            len(line_of(record(n, s))) for n, s in zip(range(len(expected)), statuses, strict=False)
        )
        assert keys(folder) == expected
        for number, status in enumerate(statuses):
            known = again.history(f"key {number}").status
            assert known == (status if number < len(expected) else None)
        again.add(record(99))
        again.sync()
    assert keys(folder) == [*expected, "key 99"]


def test_what_was_begun_and_never_ended_has_cost_a_process(tmp_path):
    for deaths in range(3):
        with Manifest.open(tmp_path) as manifest:
            assert manifest.history("key 1").deaths == deaths
            manifest.begin("key 1")
            manifest.begin("key 2")
            manifest.release("key 2")
            manifest.begin("key 3")
            manifest.add(record(3))
    with Manifest.open(tmp_path) as manifest:
        assert [manifest.history(f"key {number}").deaths for number in (1, 2, 3)] == [3, 0, 0]
        manifest.died("key 2")
        assert manifest.history("key 2").deaths == 1
        manifest.add(record(1, "set_aside"))
        assert manifest.history("key 1").deaths == 0
        assert manifest.failures() == 1


def test_of_those_that_were_begun_together_nobody_knows_which_has_cost_the_process(tmp_path):
    with Manifest.open(tmp_path) as manifest:
        for number in range(3):
            manifest.begin(f"key {number}", together=True)
        manifest.add(record(0))
        manifest.release("key 1")
    with Manifest.open(tmp_path) as manifest:
        assert [manifest.history(f"key {number}").is_suspect for number in range(3)] == [False, False, True]
        assert not any(manifest.history(f"key {number}").deaths for number in range(3))
        manifest.died("key 1", together=True)
        assert manifest.history("key 1").is_suspect


def test_what_is_about_to_be_replaced_is_safely_told_before_and_no_record_is_lost_by_that(tmp_path):
    syncs = []
    with Manifest.open(tmp_path, fsync=lambda handle: syncs.append(os.fsync(handle))) as manifest:
        manifest.add(record(1))
        manifest.replace(record(1).output, "key 1")
        manifest.replace("nobody.png", "key 2")
        assert not syncs
        manifest.replace(record(1).output, "key 2")
        assert len(syncs) == 1 and manifest.due()
        assert [one.key for one in manifest.sync()] == ["key 1"]
        assert manifest.sync() == []
    with Manifest.open(tmp_path) as manifest:
        assert manifest.history("key 1").status is None


def test_given_up_by_hand_at_once(tmp_path):
    with Manifest.open(tmp_path) as manifest:
        manifest.begin("key 1")
        manifest.release_now(["key 1"])
    with Manifest.open(tmp_path) as manifest:
        assert manifest.history("key 1").deaths == 0


@given(st.integers(0, 900))
def test_a_full_disk_loses_no_line_and_leaves_no_half_one(tmp_path_factory, room):
    folder = tmp_path_factory.mktemp("full")
    disk = FullDisk(room)
    with Manifest.open(folder, write=disk) as manifest:
        for number in range(4):
            try:
                manifest.begin(f"key {number}")
                manifest.add(record(number))
            except StorageError as error:
                assert "full" in str(error)
            assert manifest.path.read_bytes().endswith(b"\n") or not manifest.path.read_bytes()
        disk.room = 10**6
        assert [one.key for one in manifest.sync()] == [f"key {number}" for number in range(4)]
    assert keys(folder) == [f"key {number}" for number in range(4)]
    assert None not in values(folder)


def test_after_a_failed_sync_everything_since_the_last_one_is_written_again(tmp_path):
    troubles = [None, OSError(errno.EIO, "fault"), None]

    def fsync(_):
        trouble = troubles.pop(0)
        if trouble is not None:
            raise trouble

    with Manifest.open(tmp_path, fsync=fsync) as manifest:
        manifest.add(record(1))
        manifest.sync()
        manifest.add(record(2))
        with pytest.raises(StorageError, match="the disk reports an error"):
            manifest.sync()
        assert keys(tmp_path) == ["key 1"]  # what the system holds of it is not to be trusted
        manifest.add(record(3))
        assert [one.key for one in manifest.sync()] == ["key 2", "key 3"]
    assert keys(tmp_path) == ["key 1", "key 2", "key 3"]


def test_a_manifest_of_a_newer_version_is_left_alone(tmp_path):
    with Manifest.open(tmp_path) as manifest:
        manifest.note("run", {"schema_version": 99})
    before = manifest.path.read_bytes()
    with pytest.raises(StorageError, match="newer Mezzotint"):
        Manifest.open(tmp_path)
    assert manifest.path.read_bytes() == before


def test_shards_know_of_each_other_and_write_apart(tmp_path):
    with Manifest.open(tmp_path, Shard(index=0, count=2)) as first:
        first.add(record(1))
    with Manifest.open(tmp_path, Shard(index=1, count=2)) as second:
        assert second.history("key 1").status == "done"
        second.add(record(2))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "mezzotint-manifest-0-of-2.jsonl",
        "mezzotint-manifest-1-of-2.jsonl",
    ]


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError):
        Manifest.open(tmp_path / "file" / "out")
