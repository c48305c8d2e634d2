"""One file from the net: received, resumed after a break, checked, and asked for once more when it is wrong."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.errors import AccessRefused, DownloadFailed, MezzotintError
from mezzotint.library.checksums import checksums
from mezzotint.library.downloads.messages import WantedFile
from mezzotint.library.downloads.partial import Partial
from mezzotint.library.downloads.sink import Sink, TooLarge
from mezzotint.trouble import storage_error

if TYPE_CHECKING:
    from httpx2 import HTTPError

CHUNK = 2**16  # bytes that are taken at a time: what a stop can lose, and how often progress is told
PATIENCE = (1.0, 2.0, 4.0, 8.0)  # seconds to wait after tries that brought nothing
CHECKS = 2  # how often a whole file may be wrong
DENIED = (401, 403)
_GONE = (404, 410)
_PASSING = (408, 425, 429, 500, 502, 503, 504)


def bring(
    file: WantedFile,
    url: str,
    partial: Partial,
    headers: dict[str, str],
    on_bytes: Callable[[int], None],
    on_check: Callable[[], None],
) -> str:
    """The file, whole and right under its key; its sha256. What was there already is not asked for again."""
    # By http_get, not hf_hub_download: that resumes nothing that was interrupted, and compares sizes, not sums.
    whole = partial.whole(file.key)
    if whole.is_file():
        sum_there = _sum_if_right(whole, file)
        if sum_there is not None:
            on_bytes(file.bytes)
            return sum_there
        whole.unlink()
    for _ in range(CHECKS):
        part = partial.take_up(file.key)
        try:
            _receive(file, url, part, headers, on_bytes)
        except OSError as error:
            raise storage_error("write", part.parent, error) from None
        on_check()
        found = _sum_if_right(part, file)
        if found is not None:
            partial.finish(part, file.key)
            return found
        on_bytes(-part.stat().st_size)
        part.unlink()
    raise DownloadFailed(
        f"{plain(file.name)} arrived {CHECKS} times with another content than was announced, and was removed: "
        "try later, or from another place"
    )


def _receive(file: WantedFile, url: str, part: Path, headers: dict[str, str], on_bytes: Callable[[int], None]) -> None:
    with Sink(part, file.bytes, on_bytes) as sink:
        if sink.size and not (file.sha256 or file.blob or file.validator):
            sink.begin_anew()  # nothing would tell whether the rest belongs to it
        _transfer(file, url, sink, headers)
        os.fsync(sink.fileno())


def _sum_if_right(path: Path, file: WantedFile) -> str | None:
    """The file's sha256; None when it is not what was announced."""
    if path.stat().st_size != file.bytes:
        return None
    sha256, blob = checksums(path, blob=file.blob is not None)
    wanted, found = (file.sha256, sha256) if file.sha256 is not None else (file.blob, blob)
    return sha256 if wanted is None or wanted.lower() == found else None


def _transfer(file: WantedFile, url: str, sink: Sink, headers: dict[str, str]) -> None:
    """All bytes; a connection that breaks is taken up as long as each try brings something.

    Huggingface_hub tries again by itself, but not after a reset connection or a fault of the server.
    """
    waits = iter(PATIENCE)
    while sink.size < file.bytes:
        before = sink.size
        trouble = _try(file, url, sink, headers)
        if trouble is None:
            return
        if sink.size > before:
            waits = iter(PATIENCE)
            continue
        seconds = next(waits, None)
        if seconds is None:
            raise trouble
        time.sleep(seconds)


def _try(file: WantedFile, url: str, sink: Sink, headers: dict[str, str]) -> MezzotintError | None:
    """One request; what went wrong, if trying again can help. Raises where it cannot."""
    from httpx2 import HTTPError
    from huggingface_hub import constants
    from huggingface_hub.file_download import http_get

    constants.DOWNLOAD_CHUNK_SIZE = CHUNK
    # Always, since what fetches tries again by itself: without a range, servers pass over it.
    resuming = {"If-Range": file.validator} if file.validator else {}
    try:
        http_get(
            url,
            sink,
            resume_size=sink.size,
            headers={**headers, **resuming},
            expected_size=file.bytes,
            displayed_filename="file",
        )
    except HTTPError as error:
        return told(error, file.name, sink)
    except TooLarge:
        sink.begin_anew()
        return _short(file, "more")
    except OSError as error:
        if error.errno is not None:
            raise  # of our own disk
        return _short(file, size(sink.size))
    return None


def _short(file: WantedFile, came: str) -> DownloadFailed:
    return DownloadFailed(f"{plain(file.name)}: {size(file.bytes)} were announced, {came} came: try again later")


def told(error: "HTTPError", name: str, sink: Sink | None = None) -> MezzotintError:
    """A failure that may pass; raises what will not."""
    status = status_of(error)
    if status in DENIED:
        raise AccessRefused(denied(name)) from None
    if status in _GONE:
        raise DownloadFailed(f"{plain(name)} is not there any more (the server says {status})") from None
    if status == 416 and sink is not None:  # what we have is not a beginning of what is there
        sink.begin_anew()
        return DownloadFailed(f"{plain(name)}: the server cannot go on where it stopped")
    if status is not None:
        failure = DownloadFailed(f"{plain(name)}: the server answers {status}: try again later")
        if status not in _PASSING:
            raise failure from None
        return failure
    kept = "; what was downloaded is kept and resumed next time" if sink is not None and sink.size else ""
    if _is_unreachable(error):
        return DownloadFailed(f"{plain(name)}: no connection to {_host(error)}: check the internet connection{kept}")
    return DownloadFailed(f"{plain(name)}: the connection failed ({type(error).__name__}){kept or ': try again later'}")


def denied(name: str) -> str:
    """What to do where a token is asked for."""
    return (
        f"{plain(name)} is not given to everybody: agree to its licence on its page of the hub, then give a token that "
        "may read it (HF_TOKEN, or `hf auth login`)"
    )


def status_of(error: Exception) -> int | None:
    """The number that a server answered with."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status if isinstance(status, int) else None


def _is_unreachable(error: "HTTPError") -> bool:
    """Whether nobody was reached at all: no network, no such name, nobody there."""
    from httpx2 import ConnectError, ConnectTimeout

    return isinstance(error, (ConnectError, ConnectTimeout))


def _host(error: "HTTPError") -> str:
    """Where it was to go, without the address: that can hold signatures."""
    try:
        return plain(error.request.url.host)
    except RuntimeError:  # the library did not say
        return "the server"
