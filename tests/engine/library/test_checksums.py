"""The sums of files, beside those that sha256sum and `git hash-object` print."""

import hashlib

import pytest

from mezzotint.errors import StorageError
from mezzotint.library.checksums import checksums


@pytest.mark.parametrize(
    ("data", "blob"),
    [
        (b"", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
        (b"Hello, World!", "b45ef6fec89518d314f546fd6c3025367b721684"),
    ],
)
def test_both_sums(tmp_path, data, blob):
    path = tmp_path / "file"
    path.write_bytes(data)
    counted: list[int] = []
    assert checksums(path, counted.append, blob=True) == (hashlib.sha256(data).hexdigest(), blob)
    assert sum(counted) == len(data)
    assert checksums(path, blob=False) == (hashlib.sha256(data).hexdigest(), "")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(StorageError, match="does not exist"):
        checksums(tmp_path / "file", blob=True)
