"""Texts beyond Latin-1, seeds of other programs, and files that are cut off."""

import io

import pytest

from mezzotint.checkpoints.pickle_opcodes import StorageRef, _tensor
from mezzotint.images.embedded import _retried
from mezzotint.images.png import _BoundedStream


def test_a_text_is_read_as_utf_8_where_it_can_be():
    assert _retried("Ã¼ber") == "über"
    assert _retried("über €") == "über €"


def test_a_chunk_that_is_cut_off_is_told():
    with pytest.raises(OSError, match="cut off"):
        _BoundedStream(io.BytesIO(b"ab"), {})._read(3)


def test_numbers_repeated_by_a_stride_of_zero_are_refused():
    with pytest.raises(ValueError, match="larger than its storage"):
        _tensor(StorageRef(dtype="F32", key="0", count=1), 0, (1000,), (0,))
