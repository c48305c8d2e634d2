"""Parts of files, read at their places; files that change meanwhile are told with numbers."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from mezzotint.checkpoints import positioned
from mezzotint.checkpoints.positioned import PositionedFile, choose_read_at
from mezzotint.errors import ModelRefused, StorageError

DATA = bytes(range(256)) * 40
SYSTEMS = {"seeking": SimpleNamespace()}
if hasattr(os, "pread"):
    SYSTEMS["copying"] = SimpleNamespace(pread=os.pread)
if hasattr(os, "preadv"):
    SYSTEMS["straight"] = SimpleNamespace(preadv=os.preadv)


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "weights.safetensors"
    made.write_bytes(DATA)
    return made


def read(file, position, size):
    target = bytearray(size)
    file.read_into(memoryview(target), position)
    return bytes(target)


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)
def test_parts_in_any_order_from_any_thread(path, system):
    file = PositionedFile(path, choose_read_at(system))
    places = [(position, size) for position in (0, 5000, 17, 10_239) for size in (0, 1)] + [(3, 10_000), (0, 10_240)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda place: read(file, *place), places * 20))
    assert found == [DATA[position : position + size] for position, size in places] * 20
    file.close()


def test_few_bytes_at_a_time(path, monkeypatch):
    monkeypatch.setattr(positioned, "_MOST", 7)
    file = PositionedFile(path, lambda descriptor, target, at: _some(target, at))
    assert read(file, 100, 1000) == DATA[100:1100]


def _some(target, at):
    count = min(3, len(target))
    target[:count] = DATA[at : at + count]
    return count


def test_beyond_the_end_is_refused(path):
    with pytest.raises(StorageError, match="10240 to 10241 were requested, and it has 10240"):
        read(PositionedFile(path), 10_240, 1)


@pytest.mark.skipif(sys.platform == "win32", reason="a file that is open cannot be cut there")
@pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)
def test_a_file_that_becomes_shorter_is_told(path, system):
    file = PositionedFile(path, choose_read_at(system))
    os.truncate(path, 6000)
    with pytest.raises(StorageError, match="became shorter .* 1000 of 2000 bytes at 5000 .* had 10240"):
        read(file, 5000, 2000)
    with pytest.raises(StorageError, match="changed while it was in use: 10240 bytes, now 6000"):
        read(file, 0, 10)


def test_a_file_that_is_written_to_is_told(path):
    file = PositionedFile(path)
    with path.open("r+b") as other:
        other.write(b"x")
    os.utime(path, ns=(1, 1))
    with pytest.raises(StorageError, match="changed while it was in use: 10240 bytes, now 10240"):
        read(file, 0, 10)


@pytest.mark.skipif(sys.platform == "win32", reason="a file that is open cannot be removed there")
def test_a_name_that_vanishes_is_no_matter(path):
    file = PositionedFile(path)
    path.unlink()
    assert read(file, 5, 10) == DATA[5:15]
    with pytest.raises(StorageError, match="does not exist"):
        PositionedFile(path)


def test_a_disk_that_fails_is_told(path):
    def fail(*_):
        raise OSError(5, "Input/output error")

    with pytest.raises(StorageError, match="cannot be read: Input/output error"):
        read(PositionedFile(path, fail), 0, 1)


def test_a_closed_file_and_a_folder_are_told(path, tmp_path):
    file = PositionedFile(path)
    file.close()
    with pytest.raises(StorageError, match="cannot be read"):
        read(file, 0, 1)
    with pytest.raises(ModelRefused, match="a folder"):
        PositionedFile(tmp_path)


def test_a_file_that_is_closed_while_it_is_read_is_told(path):
    def read_and_close(descriptor, target, position):
        file.close()
        return len(target)

    file = PositionedFile(path, read_and_close)
    with pytest.raises(StorageError, match="cannot be read: I/O operation on closed file"):
        read(file, 0, 1)
