"""A byte range of a file."""

import pytest

from mezzotint.checkpoints.stored_bytes import StoredBytes
from mezzotint.errors import StorageError


def test_the_bytes_and_the_stamp_of_their_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    stored = StoredBytes(path=path, start=3, size=4)
    assert stored.read() == b"3456"
    before = stored.stamp
    path.write_bytes(b"012345678")
    assert stored.stamp != before


def test_a_file_that_has_become_shorter_is_refused(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"01234")
    with pytest.raises(StorageError, match="bytes 3 to 7 were requested, and it has 5"):
        StoredBytes(path=path, start=3, size=4).read()
