"""Fingerprints: always true, remembered while the file stays, never harmed by what became of the cache."""

import hashlib
import json
import os
import time
from pathlib import Path

import pytest
from model_files import small

from mezzotint.checkpoints import fingerprint as module
from mezzotint.checkpoints.fingerprint import fingerprint, tensors_sha256
from mezzotint.checkpoints.header import read_header
from mezzotint.errors import Cancelled, ModelRefused, StorageError
from mezzotint.protocol import FileUsed

OLD = 1_600_000_000


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"abc" * 1000)
    os.utime(path, (OLD, OLD))
    return path


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache" / "fingerprints.json"


@pytest.fixture
def hashed(monkeypatch):
    """The files that were truly read."""
    read = []
    original = module._sha256

    def counted(path, *rest):
        read.append(path)
        return original(path, *rest)

    monkeypatch.setattr(module, "_sha256", counted)
    return read


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_it_is_the_sha256(file):
    assert fingerprint(file, None) == FileUsed(path=str(file), sha256=sha256(file), bytes=3000)


def test_it_is_remembered(file, cache, hashed):
    assert fingerprint(file, cache) == fingerprint(file, cache)
    assert hashed == [file]
    assert [path.name for path in cache.parent.iterdir()] == ["fingerprints.json"]


@pytest.mark.parametrize("change", ["content", "size", "time"])
def test_a_changed_file_is_read_again(file, cache, hashed, change):
    fingerprint(file, cache)
    file.write_bytes(b"xyz" * 1000 + (b"." if change == "size" else b""))
    os.utime(file, (OLD, OLD) if change == "size" else (OLD + 1, OLD + 1))
    assert fingerprint(file, cache).sha256 == sha256(file)
    assert hashed == [file, file]


def test_a_file_changed_a_moment_ago_is_not_remembered(file, cache, hashed):
    os.utime(file, None)
    fingerprint(file, cache)
    fingerprint(file, cache)
    assert hashed == [file, file]
    assert not cache.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xff",
        b"[]",
        b"null",
        b'{"files": []}',
        b'{"files": {"PATH": 5}}',
        b'{"files": {"PATH": [3000, "x", "y"]}}',
        b'{"files": {"PATH": [3000, 1600000000000000000, "short"]}}',
        b'{"a":' + b"[" * 10_000,
        b" " * (8 * 2**20 + 1),
    ],
)
def test_a_damaged_cache_is_made_anew(file, cache, hashed, content):
    cache.parent.mkdir()
    cache.write_bytes(content.replace(b"PATH", str(file).encode()))
    assert fingerprint(file, cache).sha256 == sha256(file)
    assert fingerprint(file, cache).sha256 == sha256(file)
    assert hashed == [file]
    assert json.loads(cache.read_bytes())["files"]


def test_other_entries_are_kept(tmp_path, file, cache, hashed):
    other = tmp_path / "other"
    other.write_bytes(b"1")
    os.utime(other, (OLD, OLD))
    fingerprint(file, cache)
    fingerprint(other, cache)
    fingerprint(file, cache)
    assert hashed == [file, other]


def test_the_oldest_entries_are_forgotten(tmp_path, cache, hashed, monkeypatch):
    monkeypatch.setattr(module, "MAX_REMEMBERED", 2)
    files = [tmp_path / name for name in "abc"]
    for path in files:
        path.write_bytes(b"1")
        os.utime(path, (OLD, OLD))
        fingerprint(path, cache)
    hashed.clear()
    fingerprint(files[1], cache)
    fingerprint(files[2], cache)
    assert hashed == []
    fingerprint(files[0], cache)
    assert hashed == [files[0]]


def test_a_link_shares_the_entry_of_its_file(tmp_path, file, cache, hashed):
    link = tmp_path / "link"
    try:
        link.symlink_to(file)
    except OSError:
        link = tmp_path / "." / "model.safetensors"
    fingerprint(file, cache)
    assert fingerprint(link, cache).path == str(link)
    assert hashed == [file]


@pytest.mark.parametrize("function", ["fsync", "mkdir", "mkstemp"])
def test_a_cache_that_cannot_be_written_does_no_harm(file, cache, monkeypatch, function):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    owner = {"fsync": module.os, "mkdir": Path, "mkstemp": module.tempfile}[function]
    monkeypatch.setattr(owner, function, full)
    assert fingerprint(file, cache).sha256 == sha256(file)
    assert not cache.parent.exists() or list(cache.parent.iterdir()) == []


def test_a_failed_write_leaves_the_old_cache(tmp_path, file, cache, monkeypatch):
    fingerprint(file, cache)
    before = cache.read_bytes()
    other = tmp_path / "other"
    other.write_bytes(b"1")
    os.utime(other, (OLD, OLD))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "fsync", full)
    fingerprint(other, cache)
    assert cache.read_bytes() == before
    assert len(list(cache.parent.iterdir())) == 1


def test_it_stops_when_asked(file):
    with pytest.raises(Cancelled):
        fingerprint(file, None, cancelled=lambda: True)


def test_a_file_that_changes_meanwhile_has_no_fingerprint(file, cache, monkeypatch):
    original = module._sha256

    def slow(path, *rest):
        digest = original(path, *rest)
        with path.open("ab") as out:
            out.write(b"more")
        return digest

    monkeypatch.setattr(module, "_sha256", slow)
    with pytest.raises(StorageError, match="changed while it was read"):
        fingerprint(file, cache)
    assert not cache.exists()


def test_what_is_no_file_is_told(tmp_path):
    with pytest.raises(StorageError, match="does not exist"):
        fingerprint(tmp_path / "none", None)
    with pytest.raises(ModelRefused, match="is a folder"):
        fingerprint(tmp_path, None)


def test_a_clock_that_runs_behind_only_costs_time(file, cache, hashed, monkeypatch):
    monkeypatch.setattr(time, "time_ns", lambda: 0)
    fingerprint(file, cache)
    assert fingerprint(file, cache).sha256 == sha256(file)
    assert hashed == [file, file]


def test_tensors_alone_have_a_hash_whatever_the_header_says(tmp_path):
    hashes = set()
    for number, metadata in enumerate(({}, {"title": "x"}, {"title": "longer"})):
        path = tmp_path / f"{number}.safetensors"
        path.write_bytes(small({"a": [2, 3], "b": [4]}, metadata))
        hashes.add(tensors_sha256(read_header(path)))
    assert hashes == {hashlib.sha256(bytes(40)).hexdigest()}
    with pytest.raises(Cancelled):
        tensors_sha256(read_header(path), cancelled=lambda: True)


def test_a_disk_that_fails_is_told(file, cache, failing_disk):
    with pytest.raises(StorageError, match=r"model\.safetensors cannot be read: Input/output error"):
        fingerprint(file, cache=cache)
