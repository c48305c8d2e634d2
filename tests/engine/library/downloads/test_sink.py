"""A file that grows: however it comes, its sums are those of what is there."""

import hashlib
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.library.downloads.sink import Sink, TooLarge


@given(st.binary(max_size=200), st.integers(0, 200), st.lists(st.integers(1, 50), max_size=20), st.booleans())
def test_sums_whatever_was_there_and_however_it_comes(data, before, cuts, anew):
    before = min(before, len(data))
    file = io.BytesIO(data[:before])
    counted = []
    sink = Sink(file, len(data), counted.append)
    assert sink.size == sink.tell() == before
    if anew:
        sink.seek(0)
        sink.truncate()
    for cut in [*cuts, len(data)]:
        sink.write(data[sink.size : sink.size + cut])
    assert file.getvalue() == data
    assert sink.sha256 == hashlib.sha256(data).hexdigest()
    assert sink.blob == hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
    assert sum(counted) == len(data)


@given(st.binary(min_size=1, max_size=50), st.integers(0, 49))
def test_never_more_than_was_announced(data, limit):
    limit = min(limit, len(data) - 1)
    file = io.BytesIO()
    with pytest.raises(TooLarge):
        Sink(file, limit).write(data)
    assert len(file.getvalue()) <= limit


def test_a_part_that_is_too_large_is_begun_anew():
    file = io.BytesIO(b"much too much")
    sink = Sink(file, 4)
    assert (sink.size, file.getvalue()) == (0, b"")


def test_files_that_take_less_than_they_are_given():
    class Slow(io.BytesIO):
        def write(self, data):
            return super().write(bytes(data)[:3])

    file = Slow()
    Sink(file, 10).write(b"0123456789")
    assert file.getvalue() == b"0123456789"


def test_it_goes_nowhere_but_to_its_beginning():
    with pytest.raises(ValueError, match="byte 3"):
        Sink(io.BytesIO(), 4).seek(3)
