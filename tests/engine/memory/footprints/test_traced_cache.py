"""The cache of what was traced: whole, or as if it were not there."""

import pytest

from mezzotint.memory.footprints.shipped import shipped
from mezzotint.memory.footprints.traced_cache import TracedCache

KEY = "0123abcd"


@pytest.fixture
def footprint():
    return shipped("starter-xl").denoiser


def test_what_is_kept_comes_back(tmp_path, footprint):
    cache = TracedCache(tmp_path / "made" / "when needed")
    assert cache.get(KEY) is None
    cache.put(KEY, footprint)
    assert cache.get(KEY) == footprint
    assert [path.name for path in (tmp_path / "made" / "when needed").iterdir()] == [f"{KEY}.json"]


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\xff\xfe", b'{"name": 1}', b"[" * 100_000])
def test_what_is_damaged_is_made_again(tmp_path, footprint, damage):
    cache = TracedCache(tmp_path)
    (tmp_path / f"{KEY}.json").write_bytes(damage)
    assert cache.get(KEY) is None
    cache.put(KEY, footprint)
    assert cache.get(KEY) == footprint


def test_half_of_an_entry_is_none(tmp_path, footprint):
    cache = TracedCache(tmp_path)
    cache.put(KEY, footprint)
    path = tmp_path / f"{KEY}.json"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert cache.get(KEY) is None


def test_an_entry_of_absurd_size_is_not_read(tmp_path):
    (tmp_path / f"{KEY}.json").write_bytes(b" " * (2**20 + 1))
    assert TracedCache(tmp_path).get(KEY) is None


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path, footprint):
    (tmp_path / "file").write_text("in the way")
    cache = TracedCache(tmp_path / "file")
    cache.put(KEY, footprint)
    assert cache.get(KEY) is None


def test_a_disk_that_fills_up_leaves_no_half_entry(tmp_path, footprint, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mezzotint.atomic.os.fsync", full)
    TracedCache(tmp_path).put(KEY, footprint)
    assert list(tmp_path.iterdir()) == []


def test_bytes_are_traced_once(tmp_path):
    traces = []

    def trace():
        traces.append(1)
        return 123

    assert [TracedCache(tmp_path).bytes("step", trace) for _ in range(2)] == [123, 123] and len(traces) == 1
    for damage in (b"", b"-1", b"1.5", b"true", b'"123"', b"[1]"):
        (tmp_path / "step.json").write_bytes(damage)
        assert TracedCache(tmp_path).bytes("step", trace) == 123
    assert len(traces) == 7
