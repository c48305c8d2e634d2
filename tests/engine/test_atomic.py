import errno
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from mezzotint import atomic
from mezzotint.atomic import atomic_write, publish_new, retry_sharing
from mezzotint.batch.run.leftovers import _OURS
from mezzotint.errors import StorageError


def refuse(number: int):
    def call(*args: object, **kwargs: object) -> None:
        raise OSError(number, os.strerror(number))

    return call


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_new_file_is_written_whole_and_alone(tmp_path: Path, overwrite: bool) -> None:
    atomic_write(tmp_path / "a.bin", b"new", overwrite=overwrite)
    assert (tmp_path / "a.bin").read_bytes() == b"new"
    assert names(tmp_path) == ["a.bin"]


def test_overwriting_replaces(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"old")
    atomic_write(tmp_path / "a.bin", b"new", overwrite=True)
    assert (tmp_path / "a.bin").read_bytes() == b"new"
    assert names(tmp_path) == ["a.bin"]


def test_without_overwrite_an_existing_file_stays(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"old")
    with pytest.raises(FileExistsError):
        atomic_write(tmp_path / "a.bin", b"new", overwrite=False)
    assert (tmp_path / "a.bin").read_bytes() == b"old"
    assert names(tmp_path) == ["a.bin"]


def test_without_overwrite_a_dangling_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a.bin").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileExistsError):
        atomic_write(tmp_path / "a.bin", b"new", overwrite=False)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("lacks", [(), ("link",), ("link", "rename_exclusively")])
def test_of_many_writers_exactly_one_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacks: tuple[str, ...]
) -> None:
    for call in lacks:
        monkeypatch.setitem(publish_new.__kwdefaults__, call, refuse(errno.EPERM))
    gate = Barrier(8)

    def write(number: int) -> int | None:
        gate.wait()
        try:
            atomic_write(tmp_path / "a.bin", bytes([number]) * 1000, overwrite=False)
        except FileExistsError:
            return None
        return number

    with ThreadPoolExecutor(8) as pool:
        winners = [one for one in pool.map(write, range(8)) if one is not None]
    assert len(winners) == 1
    assert (tmp_path / "a.bin").read_bytes() == bytes(winners) * 1000
    assert names(tmp_path) == ["a.bin"]


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("call", ["fsync", "open", "replace", "link"])
def test_any_failure_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, overwrite: bool
) -> None:
    if call == ("link" if overwrite else "replace"):
        return  # not on this way
    target = tmp_path / ("old.bin" if overwrite else "new.bin")
    (tmp_path / "old.bin").write_bytes(b"old")
    if call == "link":
        monkeypatch.setitem(publish_new.__kwdefaults__, "link", refuse(errno.EIO))
    else:
        monkeypatch.setattr(atomic.os, call, refuse(errno.ENOSPC))
    with pytest.raises(StorageError, match="disk"):
        atomic_write(target, b"new", overwrite=overwrite)
    monkeypatch.undo()
    assert names(tmp_path) == ["old.bin"]
    assert (tmp_path / "old.bin").read_bytes() == b"old"


def test_ctrl_c_leaves_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(handle: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(atomic.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        atomic_write(tmp_path / "a.bin", b"new", overwrite=True)
    assert names(tmp_path) == []


FULL_DISK = """
import resource, sys
from pathlib import Path
from mezzotint.batch.run.leftovers import _OURS
from mezzotint.errors import StorageError
from mezzotint.atomic import atomic_write

resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
for name, overwrite in (("old.bin", True), ("new.bin", False)):
    try:
        atomic_write(Path(sys.argv[1]) / name, bytes(500_000), overwrite=overwrite)
    except StorageError as error:
        print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no file size limit to meet")
def test_a_file_cut_short_by_the_system_never_shows(tmp_path: Path) -> None:
    (tmp_path / "old.bin").write_bytes(b"old")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path)], capture_output=True, text=True, env=environment, timeout=120
    )
    assert ran.stderr == ""
    assert ran.stdout.count("larger than this disk or account allows") == 2
    assert names(tmp_path) == ["old.bin"]
    assert (tmp_path / "old.bin").read_bytes() == b"old"


def test_a_missing_folder_and_a_long_name_are_told(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="no such file or folder"):
        atomic_write(tmp_path / "none" / "a.bin", b"", overwrite=False)
    with pytest.raises(StorageError, match="too long"):
        atomic_write(tmp_path / ("a" * 300), b"", overwrite=False)
    with pytest.raises(StorageError, match="folder"):
        atomic_write(tmp_path, b"", overwrite=True)
    assert names(tmp_path) == []


NO_LINKS = {"windows": False, "link": refuse(errno.EPERM)}
NEITHER = NO_LINKS | {"rename_exclusively": refuse(errno.EINVAL)}


@pytest.mark.parametrize("calls", [NO_LINKS, NEITHER])
def test_disks_without_links_never_replace_a_file(tmp_path: Path, calls: dict[str, Any]) -> None:
    (tmp_path / "t.part").write_bytes(b"new")
    publish_new(tmp_path / "t.part", tmp_path / "a.bin", **calls)
    assert names(tmp_path) == ["a.bin"]
    (tmp_path / "t.part").write_bytes(b"newer")
    with pytest.raises(FileExistsError):
        publish_new(tmp_path / "t.part", tmp_path / "a.bin", **calls)
    assert (tmp_path / "a.bin").read_bytes() == b"new"
    assert names(tmp_path) == ["a.bin", "t.part"]


KILLED = """
import errno, os, signal, sys
from pathlib import Path
from mezzotint import atomic

def refuse(*_):
    raise OSError(errno.EPERM, "")

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

folder = Path(sys.argv[1])
(folder / "t.part").write_bytes(b"new")
Path.rename = Path.replace = die
atomic.publish_new(folder / "t.part", folder / "a.bin", link=refuse, rename_exclusively=refuse)
"""


@pytest.mark.skipif(os.name == "nt", reason="POSIX")
def test_a_kill_leaves_nothing_under_the_final_name(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)])
    assert done.returncode == -signal.SIGKILL
    assert "a.bin" not in names(tmp_path)
    (left,) = [name for name in names(tmp_path) if name != "t.part"]
    assert _OURS.fullmatch(left), "a batch removes it as a temporary file"


@pytest.mark.parametrize("calls", [NO_LINKS, NEITHER])
def test_a_file_that_cannot_be_published_leaves_nothing(tmp_path: Path, calls: dict[str, Any]) -> None:
    with pytest.raises(FileNotFoundError):
        publish_new(tmp_path / "gone.part", tmp_path / "a.bin", **calls)
    assert names(tmp_path) == []


def test_a_system_without_exclusive_renames_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic.ctypes, "CDLL", lambda *_, **__: object())
    with pytest.raises(OSError, match="implemented") as found:
        atomic._rename_exclusively(tmp_path / "a", tmp_path / "b")
    assert found.value.errno == errno.ENOSYS


def test_macos_renames_exclusively_by_its_own_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[object, ...]] = []

    class Library:
        def renamex_np(self, *arguments: object) -> int:
            calls.append(arguments)
            return 0

    monkeypatch.setattr(atomic.ctypes, "CDLL", lambda *_, **__: Library())
    atomic._rename_exclusively(tmp_path / "a", tmp_path / "b", "darwin")
    assert calls == [(os.fsencode(tmp_path / "a"), os.fsencode(tmp_path / "b"), 4)]


def test_windows_renames_and_never_replaces(tmp_path: Path) -> None:
    def windows_rename(source: Path, target: Path) -> None:
        if target.exists():
            raise FileExistsError(errno.EEXIST, "exists", str(target))
        source.rename(target)

    (tmp_path / "t.part").write_bytes(b"new")
    publish_new(tmp_path / "t.part", tmp_path / "a.bin", windows=True, rename=windows_rename)
    (tmp_path / "t.part").write_bytes(b"newer")
    with pytest.raises(FileExistsError):
        publish_new(tmp_path / "t.part", tmp_path / "a.bin", windows=True, rename=windows_rename)
    assert (tmp_path / "a.bin").read_bytes() == b"new"


class Held(PermissionError):
    """What Windows raises while another program holds the file."""

    winerror = 32


def test_a_file_that_another_program_holds_is_waited_for(tmp_path: Path) -> None:
    waits: list[float] = []

    def move(source: Path, target: Path) -> None:
        if len(waits) < 3:
            raise Held
        source.replace(target)

    (tmp_path / "t.part").write_bytes(b"new")
    retry_sharing(move, tmp_path / "t.part", tmp_path / "a.bin", sleep=waits.append)
    assert len(waits) == 3 and waits == sorted(waits)
    assert names(tmp_path) == ["a.bin"]


def test_waiting_for_another_program_ends(tmp_path: Path) -> None:
    waits: list[float] = []

    def move(source: Path, target: Path) -> None:
        raise Held

    with pytest.raises(Held):
        retry_sharing(move, tmp_path / "a", tmp_path / "b", sleep=waits.append)
    assert 1 < sum(waits) < 5


def test_other_errors_are_not_waited_for(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=os.strerror(errno.EROFS)):
        retry_sharing(refuse(errno.EROFS), tmp_path / "a", tmp_path / "b", sleep=lambda _: pytest.fail("waited"))


def test_a_disk_that_cannot_sync_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic.os, "fsync", refuse(errno.EINVAL))
    atomic_write(tmp_path / "a.bin", b"new", overwrite=False)
    assert (tmp_path / "a.bin").read_bytes() == b"new"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no permission bits")
def test_the_file_is_as_readable_as_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    atomic_write(tmp_path / "a.bin", b"new", overwrite=False)
    assert (tmp_path / "a.bin").stat().st_mode == (tmp_path / "plain").stat().st_mode
