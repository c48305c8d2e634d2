"""A file that grows: what is there is gone on with, and it never gets larger than was announced."""

from io import FileIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.library.downloads.sink import Sink, TooLarge


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("parts") / "part"


@given(st.binary(max_size=200), st.integers(0, 200), st.lists(st.integers(1, 50), max_size=20), st.booleans())
def test_whatever_was_there_and_however_it_comes(path, data, before, cuts, anew):
    before = min(before, len(data))
    path.write_bytes(data[:before])
    counted: list[int] = []
    with Sink(path, len(data), counted.append) as sink:
        assert sink.size == sink.tell() == before
        if anew:
            sink.seek(0)
            sink.truncate()
        for cut in [*cuts, len(data)]:
            sink.write(data[sink.size : sink.size + cut])
        assert sink.size == sum(counted) == len(data)
    assert path.read_bytes() == data


@given(st.binary(min_size=1, max_size=50), st.integers(0, 49))
def test_never_more_than_was_announced(path, data, limit):
    limit = min(limit, len(data) - 1)
    path.write_bytes(b"")
    with Sink(path, limit) as sink, pytest.raises(TooLarge):
        sink.write(data)
    assert path.stat().st_size <= limit


def test_a_part_that_is_too_large_is_begun_anew(path):
    path.write_bytes(b"much too much")
    counted: list[int] = []
    with Sink(path, 4, counted.append) as sink:
        assert sink.size == sum(counted) == 0
    assert path.read_bytes() == b""


class Slow(FileIO):
    """A disk that takes three bytes at a time."""

    def write(self, data, /):
        return super().write(bytes(data)[:3])


class SlowSink(Sink, Slow):
    pass


def test_disks_that_take_less_than_they_are_given(path):
    path.write_bytes(b"")
    with SlowSink(path, 10) as sink:
        assert sink.write(b"0123456789") == 10
    assert path.read_bytes() == b"0123456789"
