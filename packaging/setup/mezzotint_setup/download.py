"""Downloads wheels: resumed after a cut and after a restart, compared with their hash and length, from mirrors too."""

import contextlib
import http.client
import re
import urllib.error
import urllib.parse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from http.client import HTTPResponse
from io import FileIO
from pathlib import Path
from typing import TypeVar

from mezzotint_setup.errors import SetupFailed, disk_trouble
from mezzotint_setup.events import Stop
from mezzotint_setup.network import Network
from mezzotint_setup.payload import Wheel, hash_of

_T = TypeVar("_T")
_CHUNK = 1 << 18
_WAITS = (1.0, 2.0, 4.0, 8.0, 15.0)  # seconds between attempts that bring nothing
_TEMPORARY = {408, 425, 429, 500, 502, 503, 504}
_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_OFFLINE = (
    "check the connection and try again, it goes on where it was cut; "
    "behind a proxy set HTTPS_PROXY; or install from a folder of wheels (--wheels)"
)


class WrongContent(Exception):
    """A server has another file than the lock says."""


class Downloads:
    """A folder of wheels with their own names, which can be copied to other machines."""

    def __init__(self, folder: Path, *, network: Network, mirrors: Sequence[str], stop: Stop) -> None:
        self._folder, self._network, self._mirrors, self._stop = folder, network, mirrors, stop

    def missing(self, wheels: Sequence[Wheel]) -> int:
        """Bytes that are not there yet, by the sizes of files."""
        return sum(wheel.size - self._there(wheel) for wheel in wheels)

    def fetch(self, wheels: Sequence[Wheel], progress: Callable[[int, int], None]) -> None:
        """Get every wheel; those that are there are compared with their hash."""
        total = sum(wheel.size for wheel in wheels)
        done = total - self.missing(wheels)
        progress(done, total)
        for wheel in wheels:
            before = done - self._there(wheel)
            self._fetch(wheel, lambda here, before=before: progress(before + here, total))  # type: ignore[misc]
            done = before + wheel.size
            progress(done, total)

    def keep(self, wheels: Sequence[Wheel]) -> None:
        """Remove what these wheels do not need."""
        names = {wheel.filename for wheel in wheels}
        for path in self._folder.iterdir():
            if path.is_file() and path.name not in names:
                path.unlink(missing_ok=True)

    def path(self, wheel: Wheel) -> Path:
        """Where a finished wheel lies."""
        return self._folder / wheel.filename

    def part(self, wheel: Wheel) -> Path:
        """Where an unfinished one grows."""
        return self._folder / f"{wheel.filename}.{wheel.sha256[:12]}.part"

    def _there(self, wheel: Wheel) -> int:
        for path in (self.path(wheel), self.part(wheel)):
            with contextlib.suppress(OSError):
                size = path.stat().st_size
                return min(size, wheel.size) if path == self.part(wheel) or size == wheel.size else 0
        return 0

    def _fetch(self, wheel: Wheel, progress: Callable[[int], None]) -> None:
        path, part = self.path(wheel), self.part(wheel)
        if path.is_file() and path.stat().st_size == wheel.size and hash_of(path) == wheel.sha256:
            return
        trouble: list[Exception] = []
        for url in self._addresses(wheel):
            for _ in range(2):  # again from the first byte, if an earlier part was wrong
                try:
                    fresh = not part.exists()
                    self._fetch_from(url, wheel, progress)
                    self._finish(wheel)
                    return
                except WrongContent as error:
                    trouble.append(error)
                    part.unlink(missing_ok=True)
                    if fresh:
                        break
                except (OSError, http.client.HTTPException) as error:
                    trouble.append(error)
                    break
        raise _failure(wheel, trouble)

    def _finish(self, wheel: Wheel) -> None:
        part = self.part(wheel)
        if part.stat().st_size != wheel.size or hash_of(part) != wheel.sha256:
            raise WrongContent(f"its SHA-256 is not {wheel.sha256}")
        self._to_disk(wheel, lambda: part.replace(self.path(wheel)))

    def _addresses(self, wheel: Wheel) -> Iterator[str]:
        parts = urllib.parse.urlsplit(wheel.url)
        if parts.scheme in ("https", "http"):
            yield wheel.url
        for mirror in self._mirrors:
            yield f"{mirror.rstrip('/')}/{parts.path.lstrip('/')}"

    def _fetch_from(self, url: str, wheel: Wheel, progress: Callable[[int], None]) -> None:
        """Go on until the file is complete; attempts that bring bytes do not count as failed."""
        failed = 0
        while (before := self._size(wheel)) < wheel.size:
            self._stop.check()
            try:
                self._receive(url, wheel, before, progress)
                if self._size(wheel) < wheel.size:
                    raise OSError("the connection was cut")
            except urllib.error.HTTPError as error:
                if error.code == 416:
                    raise WrongContent("the server's file is shorter") from error
                if error.code not in _TEMPORARY:
                    raise
                failed = self._failed(error, failed, gained=False)
            except (OSError, http.client.HTTPException) as error:
                failed = self._failed(error, failed, gained=self._size(wheel) > before)

    def _failed(self, error: Exception, failed: int, *, gained: bool) -> int:
        failed = 1 if gained else failed + 1
        if failed > len(_WAITS):
            raise error
        self._stop.wait(_WAITS[failed - 1])
        return failed

    def _receive(self, url: str, wheel: Wheel, first: int, progress: Callable[[int], None]) -> None:
        with self._network.open(url, first) as response, self._opened(wheel) as file:
            there = _first_byte(response, first, wheel.size)
            self._to_disk(wheel, lambda: (file.seek(there), file.truncate()))
            while there < wheel.size and (chunk := response.read1(min(_CHUNK, wheel.size - there))):
                self._to_disk(wheel, partial(_write, file, chunk))
                there += len(chunk)
                progress(there)
                self._stop.check()

    def _opened(self, wheel: Wheel) -> FileIO:
        return self._to_disk(wheel, lambda: FileIO(self.part(wheel), "r+" if self.part(wheel).exists() else "w"))

    def _to_disk(self, wheel: Wheel, work: Callable[[], _T]) -> _T:
        """Do something with the disk, whose errors are not those of the network."""
        try:
            return work()
        except OSError as error:
            raise disk_trouble(error, self.part(wheel)) from error

    def _size(self, wheel: Wheel) -> int:
        try:
            return self.part(wheel).stat().st_size
        except OSError:
            return 0


def found_in(folder: Path, wheels: Sequence[Wheel], progress: Callable[[int, int], None]) -> None:
    """Compare the wheels of a folder with their hashes, instead of downloading them."""
    total, done, lacking = sum(wheel.size for wheel in wheels), 0, []
    for wheel in wheels:
        path = folder / wheel.filename
        try:
            right = path.stat().st_size == wheel.size and hash_of(path) == wheel.sha256
        except OSError:
            lacking.append(wheel.filename)
            continue
        if not right:
            raise _hash_failure(wheel, f"{path} is damaged or another build")
        done += wheel.size
        progress(done, total)
    if lacking:
        more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
        raise SetupFailed(
            "missing_wheels",
            f"{folder} lacks {', '.join(lacking[:3])}{more}",
            "copy the folder 'downloads' of a machine that has the same version and build",
        )


def _write(file: FileIO, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


def _first_byte(response: HTTPResponse, wanted: int, size: int) -> int:
    """The position of the first byte that a server sends; raises WrongContent if its file has another length."""
    if response.status == 206:
        found = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if found is None or int(found[1]) != wanted or found[2] not in ("*", str(size)):
            raise WrongContent(f"the server sends {response.headers.get('Content-Range')} of {size} bytes")
        return wanted
    length = response.headers.get("Content-Length")
    if length is not None and length != str(size):
        raise WrongContent(f"the server's file has {length} bytes instead of {size}")
    return 0


def _failure(wheel: Wheel, trouble: Sequence[Exception]) -> SetupFailed:
    wrong = next((one for one in trouble if isinstance(one, WrongContent)), None)
    if wrong is not None:
        return _hash_failure(wheel, f"{wheel.filename} was not downloaded as released: {wrong}")
    refused = next((one for one in trouble if isinstance(one, urllib.error.HTTPError)), None)
    if refused is not None:
        return SetupFailed(
            "not_found" if refused.code in (404, 410) else "refused",
            f"the server answers {refused.code} for {wheel.filename}",
            "try again later; if it stays so, this release is no longer offered: get the newest installer",
        )
    reason = trouble[-1] if trouble else "no address is known"
    if "CERTIFICATE_VERIFY_FAILED" in str(reason):
        return SetupFailed(
            "certificate",
            f"the server's certificate is not trusted here ({reason})",
            "check the clock; if a company's proxy reads the traffic, set SSL_CERT_FILE to its certificate",
        )
    return SetupFailed("no_network", f"{wheel.filename} could not be downloaded ({reason})", _OFFLINE)


def _hash_failure(wheel: Wheel, what: str) -> SetupFailed:
    wanted = f"{what} (SHA-256 {wheel.sha256[:12]}... is wanted)"
    return SetupFailed("hash", wanted, "try again, or on another network; nothing of it was used")
