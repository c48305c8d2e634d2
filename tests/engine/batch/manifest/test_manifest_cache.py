"""Output folders that are looked at again and again, while a run writes, and whatever lies there."""

import json
import os
import sys
import threading

import pytest
from batch_programs import run, task
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.batch.manifest.ledger import read_ledger
from mezzotint.batch.manifest.manifest import Manifest
from mezzotint.batch.manifest.manifest_cache import MOST_ROWS, ManifestCache
from mezzotint.batch.manifest.record import Record
from mezzotint.batch.manifest.rows import is_inside
from mezzotint.batch.manifest.status import status_of
from mezzotint.batch.run.owner import Owner
from mezzotint.batch.tasks.tasks import Shard
from mezzotint.batch_protocol import BatchFolder, BatchTaskPage, BatchTasks
from mezzotint.codec import from_json, to_json
from mezzotint.errors import Cancelled, StorageError, UsageError


class Asking:
    """One who asks about a folder."""

    def __init__(self, folder):
        self.folder, self.followed = folder, ManifestCache()

    def status(self, look_for_files=False):
        return self.followed.status(BatchFolder(folder=str(self.folder), look_for_files=look_for_files), lambda: False)

    def tasks(self, **asked):
        return self.followed.tasks(BatchTasks(folder=str(self.folder), **asked), lambda: False)

    def outputs(self, **asked):
        return [row.output for row in self.tasks(**asked).rows]


@pytest.fixture
def asking(tmp_path):
    return Asking(tmp_path)


@pytest.fixture
def manifest(tmp_path):
    with Manifest.open(tmp_path) as opened:
        opened.note("run", {"schema_version": 1, "title": "Houses", "pid": 7, "time": "2026-01-01T00:00:00Z"})
        yield opened


def record(number, status="done", **changes):
    return Record(key=str(number), status=status, output=f"{number}.png", seed=number, **changes)


def test_what_is_written_meanwhile_is_seen(asking, manifest):
    manifest.add(record(1))
    assert asking.outputs() == ["1.png"]
    manifest.note("counted", {"total": 3})
    manifest.add(record(2, "failed", kind="bug", error="nobody thought of this"))
    status = asking.status()
    assert (status.done, status.failed, status.total, status.is_ended) == (1, 1, 3, False)
    assert (status.title, status.last_run.pid, status.kinds) == ("Houses", 7, {"bug": 1})
    manifest.add(record(2))
    manifest.note("ended", {"total": 2})
    status = asking.status()
    assert (status.done, status.failed, status.total, status.is_ended) == (2, 0, 2, True)


def test_a_line_that_is_being_written_waits(asking, manifest):
    manifest.add(record(1))
    path = manifest.path
    line = json.dumps({"key": "2", "status": "done", "output": "2.png"}).encode() + b"\n"
    for at in range(len(line)):
        path.open("ab").write(line[at : at + 1])
        assert asking.status().done == (2 if at == len(line) - 1 else 1)
    assert asking.status().damaged_lines == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows replaces no file that is open")
def test_a_manifest_that_was_replaced_or_cut_is_read_anew(asking, manifest):
    for number in range(5):
        manifest.add(record(number))
    assert asking.status().done == 5
    whole = manifest.path.read_bytes()
    os.truncate(manifest.path, whole.index(b"3.png"))
    assert asking.status().done == 3
    other = manifest.path.with_name("other")
    other.write_bytes(whole)
    other.replace(manifest.path)
    assert asking.status().done == 5
    manifest.path.unlink()
    with pytest.raises(StorageError, match="has no manifest"):
        asking.status()


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["done", "failed", "skipped", "set_aside"])), max_size=20))
def test_followed_step_by_step_it_says_what_a_reader_of_the_whole_says(tmp_path_factory, steps):
    folder = tmp_path_factory.mktemp("out")
    asking = Asking(folder)
    with Manifest.open(folder) as first, Manifest.open(folder, Shard(index=0, count=2)) as second:
        for at, (number, status) in enumerate(steps):
            (first if at % 2 else second).add(record(number, status))
            assert asking.status(look_for_files=True) == status_of(read_ledger(folder))
            assert asking.tasks().total == len(read_ledger(folder).records())


def test_pages_of_what_was_asked_for(asking, manifest):
    for number in range(10):
        manifest.add(record(number, "failed" if number % 3 == 0 else "done"))
    manifest.add(record(4))
    assert asking.tasks(which="failed").total == 4
    assert asking.outputs(which="done", offset=1, limit=2) == ["2.png", "5.png"]
    assert asking.outputs(which="all", limit=2, newest_first=True) == ["4.png", "9.png"]
    assert asking.outputs(offset=100) == []


@pytest.mark.parametrize("asked", [{"offset": -1}, {"limit": MOST_ROWS + 1}, {"limit": -1}])
def test_pages_that_cannot_be(asking, asked):
    with pytest.raises(UsageError, match="a page must start"):
        asking.tasks(**asked)


def test_a_run_that_has_ended_and_what_is_gone(asking):
    folder = asking.folder
    run(folder, 3, stream=[task(0, folder), task(1, folder, "refused"), task(2, folder)])
    (folder / "2/00002.png").unlink()
    status = asking.status(look_for_files=True)
    assert (status.done, status.failed, status.gone, status.total, status.is_ended) == (2, 1, 1, 3, True)
    assert asking.status().gone is None
    row = asking.tasks(which="failed").rows[0]
    assert (row.kind, row.seed, row.output) == ("image_refused", 1, "1/00001.png")


def test_who_is_at_work_is_told_and_not_disturbed(asking, manifest):
    with Owner.take(asking.folder, None):
        before = (asking.folder / ".mezzotint/run.lock").read_bytes()
        (owner,) = asking.status().running
        assert (owner.pid, (asking.folder / ".mezzotint/run.lock").read_bytes()) == (os.getpid(), before)
    assert asking.status().running == ()
    assert (asking.folder / ".mezzotint/run.lock").read_bytes() == before


# ---- whatever lies there


ODD = [
    {"key": "a", "status": "failed", "output": "x.png", "seed": True, "seconds": float("nan"), "attempts": "many"},
    {"key": "b", "status": "done", "output": "../../etc/passwd", "seconds": 1e400, "seed": -1},
    {"key": "c", "status": "done", "output": "/etc/passwd", "kind": 7, "input": ["x"]},
    {"key": "d", "status": "failed", "output": "\udc80.png", "error": "e" * 500_000, "seed": 10**30},
    {"key": "e", "status": "failed", "output": "\0" * 9000, "kind": "k" * 500_000, "seconds": -5},
    {"run": {"title": "t" * 100_000, "pid": "x", "time": 7, "program_version": {}}},
    {"ended": {"total": "all"}},
    {"counted": {"total": -1}},
]


def test_lines_of_anyone_are_shown_short_and_safe(asking):
    path = asking.folder / "mezzotint-manifest.jsonl"
    path.write_text("\n".join([*(json.dumps(line) for line in ODD), "x" * (3 << 20), '{"key": "f", "sta']))
    page, status = asking.tasks(), asking.status(look_for_files=True)
    assert len(to_json(page)) < 100_000 and from_json(BatchTaskPage, to_json(page)) == page
    assert [row.output for row in page.rows] == ["x.png", "", "", "?.png", ""]
    assert all(row.seconds is None and row.seed is None and row.attempts == 0 for row in page.rows)
    assert (status.damaged_lines, status.total, len(status.title)) == (1, None, 200)
    assert len(to_json(status)) < 5000


def test_thousands_of_shards_that_a_name_promises_are_not_waited_for(asking):
    (asking.folder / "mezzotint-manifest-0-of-99999999999.jsonl").write_text("")
    (asking.folder / "mezzotint-manifest-0-of-90000.jsonl").write_text("")
    status = asking.status()
    assert (len(status.shards), len(status.shards_missing), status.total) == (2, 1000, None)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes in folders")
def test_a_pipe_is_no_manifest(asking):
    os.mkfifo(asking.folder / "mezzotint-manifest.jsonl")
    with pytest.raises(StorageError, match="is a pipe"):
        asking.status()


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
def test_links_in_a_circle_are_told(asking):
    (asking.folder / "mezzotint-manifest.jsonl").symlink_to("mezzotint-manifest.jsonl")
    with pytest.raises(StorageError):
        asking.status()
    asking.folder = asking.folder / "loop"
    asking.folder.symlink_to("loop")
    with pytest.raises(StorageError):
        asking.status()


def test_the_folder_is_named_whole():
    with pytest.raises(UsageError, match="not an absolute path"):
        Asking("out").status()


def test_more_than_can_be_shown_is_told(asking, manifest, monkeypatch):
    manifest.add(record(1))
    monkeypatch.setattr("mezzotint.batch.manifest.manifest_cache.MOST_BYTES", 10)
    with pytest.raises(StorageError, match="too much to show"):
        asking.status()


def test_who_is_not_wanted_any_more_does_not_read_on(asking, manifest):
    for number in range(1000):
        manifest.add(record(number))
    asked = BatchFolder(folder=str(asking.folder))
    with pytest.raises(Cancelled):
        asking.followed.status(asked, lambda: True)
    assert asking.status().done == 1000


def test_several_ask_at_once(asking, manifest):
    for number in range(300):
        manifest.add(record(number))
    found = []
    threads = [threading.Thread(target=lambda: found.append(asking.status().done)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [300] * 8


@given(st.lists(st.sampled_from(["..", "a", "b.png", ".", ""]), min_size=1, max_size=5))
def test_names_that_lead_out_are_known(parts):
    name = "/".join(parts)
    inside = os.path.normpath(os.path.join("/out", name)).startswith("/out") and not name.startswith("/")  # noqa: PTH118
    assert not is_inside(name) or inside
