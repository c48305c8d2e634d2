"""One process at a time makes images on a device."""

import errno
import json
import os
import subprocess
import sys
from typing import Any

import pytest

from mezzotint.errors import StorageError
from mezzotint.jobs.lease import Held, Lease, owner_is_alive
from mezzotint.jobs.locked_file import LockedFile, _lock_windows

HOLD = """
import sys
from pathlib import Path
from mezzotint.jobs.lease import Lease
lease = Lease.acquire("cpu", Path(sys.argv[1]), what="the window")
print(lease.owner, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that has the lease of the processor; its owner's name is its first line."""
    process: Any = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    process.owner = process.stdout.readline().strip()
    yield process
    process.kill()
    process.wait()
    process.stdin.close(), process.stdout.close()


def test_it_lies_where_all_programs_look(monkeypatch, tmp_path):
    monkeypatch.setenv("MEZZOTINT_STATE", str(tmp_path))
    with Lease.acquire("cuda:1") as lease:
        assert (tmp_path / "leases" / "cuda-1.lock").is_file()
        assert owner_is_alive(lease.owner)


def test_another_process_is_told_who_has_it_and_gets_it_when_that_ends(holder, tmp_path):
    held = Lease.acquire("cpu", tmp_path)
    assert isinstance(held, Held)
    assert (held.pid, held.what, held.owner) == (holder.pid, "the window", holder.owner)
    assert "the window (process" in str(held) and held.host in str(held)
    assert owner_is_alive(holder.owner, tmp_path)
    holder.stdin.close()
    holder.wait()
    assert not owner_is_alive(holder.owner, tmp_path)
    assert isinstance(Lease.acquire("cpu", tmp_path), Lease)


def test_a_process_that_is_killed_has_it_no_more(holder, tmp_path):
    holder.kill()
    holder.wait()
    assert not owner_is_alive(holder.owner, tmp_path)
    with Lease.acquire("cpu", tmp_path) as lease:
        assert lease.owner != holder.owner
        assert not owner_is_alive(holder.owner, tmp_path)
        assert owner_is_alive(lease.owner, tmp_path)


def test_in_one_process_too_it_is_had_once(tmp_path):
    lease = Lease.acquire("cpu", tmp_path)
    assert isinstance(Lease.acquire("cpu", tmp_path), Held)
    other = Lease.acquire("cuda", tmp_path)
    assert isinstance(other, Lease)
    lease.release()
    lease.release()
    assert isinstance(Lease.acquire("cpu", tmp_path), Lease)


def test_asking_who_lives_takes_nothing_away(tmp_path):
    lease = Lease.acquire("cpu", tmp_path)
    assert owner_is_alive(lease.owner, tmp_path)
    assert isinstance(Lease.acquire("cpu", tmp_path), Held)
    lease.release()
    assert not owner_is_alive(lease.owner, tmp_path)
    assert not owner_is_alive("cpu/nobody", tmp_path)
    assert not owner_is_alive("", tmp_path)


def test_a_look_at_the_wrong_moment_is_waited_out(tmp_path):
    """Who asks whether an owner lives holds the file for that moment."""
    path = tmp_path / "cpu.lock"
    looking = [LockedFile.take(path)]

    def sleep(_):
        if looking:
            looking.pop().release()

    assert isinstance(Lease.acquire("cpu", tmp_path, sleep=sleep), Lease)


@pytest.mark.parametrize(
    "written", [b"", b"{", b"[1]", b'{"pid": "x", "since": "y"}', b"\xff\xfe", b'{"what": "' + b"x" * 9000 + b'"}']
)
def test_a_holder_that_wrote_nonsense_is_still_one(tmp_path, written):
    file = LockedFile.take(tmp_path / "cpu.lock")
    file.write(written)
    held = Lease.acquire("cpu", tmp_path, sleep=lambda _: None)
    assert (held.pid, held.since) == (0, 0.0)
    assert len(str(held)) < 1000
    file.release()


def test_any_name_of_a_device_is_a_file_name(tmp_path):
    for device in ("../../etc", "a/b", "", "x" * 500, "con"):
        with Lease.acquire(device, tmp_path):
            assert all(path.parent == tmp_path for path in tmp_path.rglob("*.lock"))


def test_a_folder_that_cannot_be_used(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StorageError):
        Lease.acquire("cpu", tmp_path / "file")


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (errno.ENOLCK, "does not support file locks.*output folder on another disk.*MEZZOTINT_STATE"),
        (errno.EOPNOTSUPP, "does not support file locks"),
        (errno.EIO, "the disk reports an error"),
    ],
)
def test_a_disk_without_locks_is_told(tmp_path, number, told):
    def refuses(_):
        raise OSError(number, "No locks available")

    with pytest.raises(StorageError, match=f"cannot lock .*{told}"):
        Lease.acquire("cpu", tmp_path, lock=refuses)


def test_a_lease_that_cannot_be_written_is_let_go_of(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(StorageError, match="the disk is full"):
            Lease.acquire("cpu", tmp_path)
    assert isinstance(Lease.acquire("cpu", tmp_path), Lease)


def test_what_is_written_is_read_while_it_is_held(tmp_path):
    with Lease.acquire("cpu", tmp_path, what="a test", now=lambda: 5.0):
        said = json.loads((tmp_path / "cpu.lock").read_text())
    assert (said["pid"], said["since"], said["what"]) == (os.getpid(), 5.0, "a test")


@pytest.mark.parametrize("platform", ["win32", "linux"])
def test_windows_locks_a_byte_that_nobody_reads(monkeypatch, tmp_path, platform):
    import types

    asked = []

    def locking(handle, mode, count):
        asked.append((os.lseek(handle, 0, os.SEEK_CUR), mode, count))
        if len(asked) > 1:
            raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setitem(sys.modules, "msvcrt", types.SimpleNamespace(LK_NBLCK=2, locking=locking))
    first = LockedFile.take(tmp_path / "file", _lock_windows)
    if platform == "linux":
        assert asked == []
        return
    assert asked == [(1 << 30, 2, 1)]
    first.write(b"hello")
    assert (tmp_path / "file").read_bytes() == b"hello"
    assert LockedFile.take(tmp_path / "file", _lock_windows) is None
