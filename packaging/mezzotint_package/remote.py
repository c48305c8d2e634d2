"""Sizes of wheels on an index, without downloading them: only the table of contents at a wheel's end is read."""

import io
import json
import threading
import urllib.error
import urllib.request
import zipfile
from http.client import HTTPResponse
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit
from urllib.request import url2pathname

from mezzotint_package.errors import PackagingError

_BUFFER = 1 << 18  # bytes read at a time; most tables of contents are smaller


class RemoteWheels:
    """Asks for sizes, and remembers what it was told in a file."""

    def __init__(self, memory: Path | None = None) -> None:
        self._memory = memory
        self._lock = threading.Lock()
        known = memory is not None and memory.is_file()
        self._installed: dict[str, int] = json.loads(memory.read_text("utf-8")) if memory and known else {}

    def size(self, url: str) -> int:
        """Return the bytes of a file."""
        if url.startswith("file:"):
            return Path(url2pathname(urlsplit(url).path)).stat().st_size
        with _opened(urllib.request.Request(url, method="HEAD")) as answer:
            length = answer.headers.get("Content-Length")
        if length is None:
            raise PackagingError(f"{url}: the index does not say how large the file is")
        return int(length)

    def installed(self, url: str, sha256: str, size: int) -> int:
        """Return the bytes that a wheel's files take once they are unpacked."""
        if sha256 not in self._installed:
            source = io.BufferedReader(_Ranges(url, size), _BUFFER)
            with zipfile.ZipFile(source) as archive:
                found = sum(entry.file_size for entry in archive.infolist())
            with self._lock:
                self._installed[sha256] = found
        return self._installed[sha256]

    def save(self) -> None:
        """Keep what is known for the next time."""
        if self._memory is not None:
            self._memory.parent.mkdir(parents=True, exist_ok=True)
            self._memory.write_text(json.dumps(self._installed, indent=0, sort_keys=True), "utf-8")


class _Ranges(io.RawIOBase):
    """A file of known size behind a URL, read in parts."""

    def __init__(self, url: str, size: int) -> None:
        self._url = url
        self._size = size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        wanted = min(len(buffer), self._size - self._at)
        if wanted <= 0:
            return 0
        data = self._read(wanted)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def _read(self, count: int) -> bytes:
        if self._url.startswith("file:"):
            with Path(url2pathname(urlsplit(self._url).path)).open("rb") as file:
                file.seek(self._at)
                return file.read(count)
        asked = {"Range": f"bytes={self._at}-{self._at + count - 1}"}
        with _opened(urllib.request.Request(self._url, headers=asked)) as answer:
            if answer.status != 206:
                raise PackagingError(f"{self._url}: the server does not send parts of files")
            return bytes(answer.read(count))


def _opened(request: urllib.request.Request) -> HTTPResponse:
    try:
        return cast(HTTPResponse, urllib.request.urlopen(request, timeout=60))
    except (urllib.error.URLError, OSError) as error:
        raise PackagingError(f"{request.full_url} cannot be read: {error}") from error
