"""A batch whose disk is full, whose device is lost, whose workers cannot work."""

import errno
import os
from dataclasses import replace

import pytest
from batch_made import Batch
from batch_programs import StandIn, task

from mezzotint.batch.manifest.manifest import Manifest
from mezzotint.batch.run import run
from mezzotint.batch.run.pause import Pause
from mezzotint.batch.run.workers import WorkerUnusable
from mezzotint.errors import DeviceLost, NoDevice, StorageError
from mezzotint.images.writing import require_folder
from mezzotint.trouble import storage_error


@pytest.fixture
def batch(tmp_path):
    return Batch(tmp_path)


class Disk:
    """Room for so many images; `looks` of the run are needed until there is more."""

    def __init__(self, images, looks=0, error=errno.ENOSPC):
        self.images, self.looks, self.error = images, looks, error

    def why(self, folder, size=0):
        if self.images > 0:
            return None
        self.looks -= 1
        self.images = 100 if self.looks < 0 else 0
        return None if self.images else f"{folder}: no room"

    def write(self, path):
        self.images -= 1
        if self.images < 0:
            self.images = 0
            raise storage_error("write", path, OSError(self.error, "x"))


class OnDisk(StandIn):
    """Writes where the disk has room."""

    def __init__(self, disk):
        super().__init__()
        self.disk = disk

    def write(self, request):
        self.disk.write(request.output.path)
        return super().write(request)


@pytest.fixture
def small_disk(monkeypatch):
    """A disk for the run; time flies while it waits."""
    now = [0.0]

    def clock():
        now[0] += 0.3
        return now[0]

    def make(*values, **named):
        disk = Disk(*values, **named)
        monkeypatch.setattr(run, "Pause", lambda folder, _: Pause(folder, clock, disk.why))
        return disk

    return make


@pytest.mark.parametrize("together", [1, 4])
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EACCES, errno.EROFS])
def test_without_a_terminal_no_room_ends_the_run_and_the_next_goes_on(batch, small_disk, error, together):
    disk = small_disk(4, looks=10**6, error=error)
    with pytest.raises(StorageError):
        batch.run(batch.tasks(10), OnDisk(disk), together=together)
    assert len(batch.images()) == 4
    assert {record.status for record in batch.records().values()} == {"done"}
    ended = batch.run(batch.tasks(10), together=together)
    assert (ended.progress.done, ended.progress.already, ended.failures) == (6, 4, 0)
    assert len(batch.images()) == 10


@pytest.mark.parametrize("together", [1, 4])
def test_on_a_terminal_it_waits_and_says_so(batch, small_disk, together):
    disk = small_disk(4, looks=3)
    ended = batch.run(batch.tasks(10), OnDisk(disk), waits_for_room=True, together=together)
    assert (ended.stopped, ended.progress.done, ended.failures) == ("finished", 10, 0)
    assert [code for code, _ in batch.heard.notices] == ["paused", "resumed"]
    assert "the disk is full" in batch.heard.notices[0][1]


def test_one_that_waited_for_room_has_cost_no_process(batch, small_disk):
    disk = small_disk(0, looks=10**6)
    for _ in range(3):
        with pytest.raises(StorageError):
            batch.run(batch.tasks(1), OnDisk(disk))
    with Manifest.open(batch.folder) as manifest:
        assert manifest.history(batch.tasks(1)[0].key).deaths == 0


def test_asked_to_stop_while_it_waits(batch, small_disk):
    disk = small_disk(2, looks=10**6)

    def stopping():
        return any(code == "paused" for code, _ in batch.heard.notices)

    ended = batch.run(batch.tasks(10), OnDisk(disk), waits_for_room=True, stopping=stopping)
    assert (ended.stopped, ended.progress.done) == ("interrupted", 2)


@pytest.mark.parametrize("waits", [True, False])
def test_a_manifest_that_finds_no_room(batch, monkeypatch, small_disk, waits):
    """The images fit, their lines do not: those are found again, or were kept."""
    disk, opened, room = small_disk(0, looks=2), Manifest.open, [2000]

    def write(handle, data):
        if disk.images == 0 and room[0] < len(data):
            raise OSError(errno.ENOSPC, "full")
        room[0] -= len(data)
        return os.write(handle, data)

    monkeypatch.setattr(Manifest, "open", lambda folder: opened(folder, write=write))
    if waits:
        assert batch.run(batch.tasks(10), waits_for_room=True).progress.done == 10
    else:
        with pytest.raises(StorageError):
            batch.run(batch.tasks(10))
        disk.images = 100
    ended = batch.run(batch.tasks(10))
    assert ended.failures == 0
    assert batch.images() == sorted(one.output for one in batch.tasks(10))
    assert {record.status for record in batch.records().values()} == {"done"}


@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.parametrize("together", [1, 4])
def test_a_file_in_the_way_of_a_folder_costs_the_images_of_that_folder(batch, waits, together):
    """Waiting would help nobody, and the run would begin to wait again and again."""
    batch.folder.mkdir(exist_ok=True)
    (batch.folder / "3").write_text("mine")
    ended = batch.run(batch.tasks(20), waits_for_room=waits, together=together)
    assert (ended.stopped, ended.progress.done, ended.failures) == ("finished", 18, 2)
    assert [code for code, _ in batch.heard.notices if code == "paused"] == []
    assert {record.kind for record in batch.records().values() if record.status == "failed"} == {"storage"}
    assert (batch.folder / "3").read_text() == "mine"


@pytest.mark.slow
def test_one_folder_that_may_not_be_written_to_any_more_is_waited_for(batch, monkeypatch):
    """Until it may be again, not only until the others may."""
    now, denied = [0.0], [True]

    def clock():
        now[0] += 0.3
        return now[0]

    def trial(folder, size=0):
        denied[0] = denied[0] and now[0] < 30
        return "no permission" if denied[0] and folder.name == "3" else None

    class Denied(StandIn):
        def write(self, request):
            if denied[0] and "/3/" in request.output.path.replace("\\", "/"):
                raise storage_error("write", request.output.path, PermissionError(errno.EACCES, "x"))
            return super().write(request)

    monkeypatch.setattr(run, "Pause", lambda folder, _: Pause(folder, clock, trial))
    ended = batch.run(batch.tasks(10), Denied(), waits_for_room=True)
    assert (ended.stopped, ended.progress.done, ended.failures) == ("finished", 10, 0)
    assert [code for code, _ in batch.heard.notices] == ["paused", "resumed"]
    assert "no permission" in batch.heard.notices[0][1]


def test_an_input_that_cannot_be_read_is_no_reason_to_wait(batch):
    class Unreadable(StandIn):
        def write(self, request):
            if request.seed == 1:
                raise StorageError("cannot read photo.jpg: no permission")
            return super().write(request)

    ended = batch.run(batch.tasks(3), Unreadable(), waits_for_room=True)
    assert (ended.progress.done, ended.progress.failed) == (2, 1)


def test_a_disk_that_fails_once_costs_no_image(batch):
    class Flaky(StandIn):
        failures = 2

        def write(self, request):
            if request.seed == 1 and self.failures:
                self.failures -= 1
                raise storage_error("write", "1.png", OSError(errno.EIO, "x"))
            return super().write(request)

    ended = batch.run(batch.tasks(3), Flaky())
    assert (ended.progress.done, ended.progress.failed) == (3, 0)


def test_a_disk_that_is_unplugged_is_waited_for_and_its_folder_is_not_made_anew(batch, monkeypatch):
    now, away = [0.0], batch.folder.with_name("unplugged")

    def clock():
        now[0] += 0.3
        if now[0] > 30 and away.exists():
            away.rename(batch.folder)
        return now[0]

    class Unplugged(StandIn):
        def write(self, request):
            if request.seed == 1 and now[0] < 30 and not away.exists():
                batch.folder.rename(away)
            require_folder(request.output.required_folder)
            return super().write(request)

    def required(one):
        output = replace(one.request.output, required_folder=str(batch.folder / ".mezzotint"))
        return replace(one, request=replace(one.request, output=output))

    monkeypatch.setattr(run, "Pause", lambda folder, _: Pause(folder, clock))
    ended = batch.run(map(required, batch.tasks(3)), Unplugged(), waits_for_room=True)
    assert (ended.progress.done, ended.failures) == (3, 0)
    assert [code for code, _ in batch.heard.notices] == ["paused", "resumed"]
    assert "is gone: connect its disk again" in batch.heard.notices[0][1]
    assert not away.exists()


def test_a_device_that_is_lost_ends_the_run_and_is_remembered(batch):
    stream = [task(0, batch.folder, "lost"), task(1, batch.folder)]
    for _ in range(2):
        with pytest.raises(DeviceLost):
            batch.run(stream)
    ended = batch.run(stream)
    assert (ended.progress.left_failed, ended.failures, batch.images()) == (1, 1, ["1/00001.png"])
    assert batch.records()["0/00000.png"].status == "set_aside"


def test_a_device_that_is_not_there_ends_the_run_and_blames_no_task(batch):
    stream = [task(0, batch.folder, "nowhere"), task(1, batch.folder)]
    with pytest.raises(NoDevice):
        batch.run(stream)
    ended = batch.run(batch.tasks(2))
    assert (ended.failures, len(batch.images())) == (0, 2)


class Unusable:
    """A worker whose engine does not start."""

    in_this_process = False

    def ready(self):
        return None

    def batch_size(self, request):
        return 2

    def make_many(self, requests, on_event):
        return self.make(requests[0], on_event)

    def make(self, request, on_event):
        raise WorkerUnusable("the engine process failed to start 5 times")

    def close(self):
        return None


def test_a_worker_that_cannot_work_leaves_it_to_the_others(batch, monkeypatch):
    workers = [Unusable(), *batch.workers(1)]
    ended = batch.run(batch.tasks(6), workers=workers)
    assert (ended.progress.done, ended.failures) == (6, 0)


def test_with_no_worker_that_can_work_the_run_ends(batch):
    with pytest.raises(WorkerUnusable, match="failed to start"):
        batch.run(batch.tasks(3), workers=[Unusable(), Unusable()])
    assert batch.images() == []
