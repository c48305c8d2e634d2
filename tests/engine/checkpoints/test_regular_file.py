import os
import socket
import sys
from pathlib import Path

import pytest

from mezzotint.checkpoints import regular_file
from mezzotint.checkpoints.regular_file import is_file, is_folder, open_regular, read_limited
from mezzotint.errors import ModelRefused, StorageError

posix = pytest.mark.skipif(sys.platform == "win32", reason="a matter of POSIX")


def test_a_file_is_opened(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"abc")
    with open_regular(path) as file:
        assert file.read() == b"abc"


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(ModelRefused, match="is a folder, not a file"):
        open_regular(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in the file system")
def test_a_pipe_is_refused_without_waiting_for_its_writer(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelRefused, match="is a pipe, not a file"):
        open_regular(tmp_path / "pipe")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in the file system")
def test_so_is_a_pipe_that_takes_the_place_of_a_file(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    looked = []
    check = regular_file._check_kind
    monkeypatch.setattr(regular_file, "_check_kind", lambda *a: check(*a) if looked else looked.append(a))
    with pytest.raises(ModelRefused, match="is a pipe"):
        open_regular(tmp_path / "pipe")


@posix
def test_devices_and_sockets_are_refused(tmp_path, monkeypatch):
    with pytest.raises(ModelRefused, match="is a device or socket"):
        open_regular(Path("/dev/zero"))
    monkeypatch.chdir(tmp_path)  # a socket's name has to be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        with pytest.raises(ModelRefused, match="is a device or socket"):
            open_regular(Path("s"))


@pytest.mark.parametrize("name", ["none", "a\0b", "x" * 5000, "none/below"])
def test_names_that_lead_nowhere_are_a_matter_of_storage(tmp_path, name):
    with pytest.raises(StorageError) as caught:
        open_regular(tmp_path / name)
    assert str(caught.value).isprintable()
    assert not is_file(tmp_path / name)
    assert not is_folder(tmp_path / name)


@posix
def test_a_link_to_itself_is_a_matter_of_storage(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(StorageError, match="cannot be opened"):
        open_regular(tmp_path / "loop")


def test_a_system_that_forbids_is_told(tmp_path, monkeypatch):
    def forbid(*_):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "x").write_bytes(b"")
    monkeypatch.setattr(os, "open", forbid)
    with pytest.raises(StorageError, match="cannot be opened: Permission denied"):
        open_regular(tmp_path / "x")
    monkeypatch.setattr(Path, "is_file", forbid)
    monkeypatch.setattr(Path, "is_dir", forbid)
    assert not is_file(tmp_path / "x")
    assert not is_folder(tmp_path)


def test_small_files_only(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"abc")
    assert read_limited(path, 3) == b"abc"
    with pytest.raises(ModelRefused, match="larger than the 2 bytes"):
        read_limited(path, 2)


def test_a_disk_that_fails_is_told(tmp_path, failing_disk):
    (tmp_path / "x").write_bytes(b"abc")
    with pytest.raises(StorageError, match="x cannot be read: Input/output error"):
        read_limited(tmp_path / "x", 3)


@pytest.mark.parametrize(
    ("fraction", "age", "settled"), [(0, 1.9, False), (0, 2.1, True), (0.5, 0.04, False), (0.5, 0.06, True)]
)
def test_a_file_is_settled_once_any_clock_has_ticked(tmp_path, monkeypatch, fraction, age, settled):
    file = tmp_path / "file"
    file.touch()
    changed = int((1000 + fraction) * 10**9)
    os.utime(file, ns=(changed, changed))
    monkeypatch.setattr(regular_file.time, "time_ns", lambda: changed + int(age * 10**9))
    assert regular_file.is_settled(file.stat()) == settled
