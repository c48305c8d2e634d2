"""Checksums that files are published with: sha256, and the git blob sha1 that the hub lists for small files."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import open_regular
from mezzotint.errors import StorageError

_CHUNK = 4 * 2**20


def checksums(path: Path, on_bytes: Callable[[int], None] = lambda _: None, *, blob: bool) -> tuple[str, str]:
    """Return the file's sha256 and, if `blob`, its git blob sha1 (else ""), read in chunks. Raises StorageError."""
    sha256, sha1 = hashlib.sha256(), hashlib.sha1(usedforsecurity=False)
    with open_regular(path) as file:
        try:
            sha1.update(b"blob %d\0" % path.stat().st_size)
            while data := file.read(_CHUNK):
                sha256.update(data)
                if blob:
                    sha1.update(data)
                on_bytes(len(data))
        except OSError as error:
            raise StorageError(f"{plain(path, 300)} cannot be read: {error.strerror}") from None
    return sha256.hexdigest(), sha1.hexdigest() if blob else ""
