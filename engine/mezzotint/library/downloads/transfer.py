"""Download one file: resumes after interruptions, verifies, and retries once if the content is wrong."""

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

CHUNK = 2**16  # bytes per read: bounds what a stop can lose, and sets the progress interval
PATIENCE = (1.0, 2.0, 4.0, 8.0)  # seconds to wait after attempts without progress
CHECKS = 2  # attempts at a file of the right content
DENIED = (401, 403)
_GONE = (404, 410)
_TEMPORARY = (408, 425, 429, 500, 502, 503, 504)


def download_file(
    file: WantedFile,
    url: str,
    partial: Partial,
    headers: dict[str, str],
    on_bytes: Callable[[int], None],
    on_check: Callable[[], None],
) -> str:
    """Download and verify a file, store it under its key, and return its sha256; existing data is reused."""
    # Uses http_get, since hf_hub_download does not resume interrupted downloads and checks sizes, not checksums.
    whole = partial.whole(file.key)
    if whole.is_file():
        sum_there = _sum_if_right(whole, file)
        if sum_there is not None:
            on_bytes(file.bytes)
            return sum_there
        whole.unlink()
    for _ in range(CHECKS):
        part = partial.resume_part(file.key)
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
        f"{plain(file.name)} differed {CHECKS} times from the announced content, and was removed: try later, or "
        "from another source"
    )


def _receive(file: WantedFile, url: str, part: Path, headers: dict[str, str], on_bytes: Callable[[int], None]) -> None:
    with Sink(part, file.bytes, on_bytes) as sink:
        if sink.size and not (file.sha256 or file.blob or file.validator):
            sink.restart()  # no way to tell whether the rest belongs to the same content
        _transfer(file, url, sink, headers)
        os.fsync(sink.fileno())


def _sum_if_right(path: Path, file: WantedFile) -> str | None:
    """Return the file's sha256, or None if size or checksum differ from what was announced."""
    if path.stat().st_size != file.bytes:
        return None
    sha256, blob = checksums(path, blob=file.blob is not None)
    wanted, found = (file.sha256, sha256) if file.sha256 is not None else (file.blob, blob)
    return sha256 if wanted is None or wanted.lower() == found else None


def _transfer(file: WantedFile, url: str, sink: Sink, headers: dict[str, str]) -> None:
    """Receive all bytes; reconnects as long as attempts make progress, and a few times (PATIENCE) if they do not.

    huggingface_hub retries by itself, but not after a reset connection or a server error.
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
    """Send one request; return the error if a retry can help. Raises if it cannot."""
    from httpx2 import HTTPError
    from huggingface_hub import constants
    from huggingface_hub.file_download import http_get

    constants.DOWNLOAD_CHUNK_SIZE = CHUNK
    # Always sent, since http_get may retry with a range by itself; servers ignore it without one.
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
        return download_error(error, file.name, sink)
    except TooLarge:
        sink.restart()
        return _short(file, "more")
    except OSError as error:
        if error.errno is not None:
            raise  # an error of the local disk
        return _short(file, size(sink.size))
    return None


def _short(file: WantedFile, came: str) -> DownloadFailed:
    return DownloadFailed(f"{plain(file.name)}: expected {size(file.bytes)}, received {came}: try again later")


def download_error(error: "HTTPError", name: str, sink: Sink | None = None) -> MezzotintError:
    """Convert a temporary failure to an error to return; raises permanent ones."""
    status = status_of(error)
    if status in DENIED:
        raise AccessRefused(denied(name)) from None
    if status in _GONE:
        raise DownloadFailed(f"{plain(name)} no longer exists (the server answers {status})") from None
    if status == 416 and sink is not None:  # our part is not a prefix of the server's file
        sink.restart()
        return DownloadFailed(f"{plain(name)}: the server cannot resume the download")
    if status is not None:
        failure = DownloadFailed(f"{plain(name)}: the server answers {status}: try again later")
        if status not in _TEMPORARY:
            raise failure from None
        return failure
    kept = "; what was downloaded is kept and resumed next time" if sink is not None and sink.size else ""
    if _is_unreachable(error):
        return DownloadFailed(f"{plain(name)}: no connection to {_host(error)}: check the internet connection{kept}")
    return DownloadFailed(f"{plain(name)}: the connection failed ({type(error).__name__}){kept or ': try again later'}")


def denied(name: str) -> str:
    """Return the message for a file that requires a token."""
    return (
        f"{plain(name)} is gated: accept its licence on its hub page, then provide a token with access to it "
        "(HF_TOKEN, or `hf auth login`)"
    )


def status_of(error: Exception) -> int | None:
    """Return the HTTP status of an error's response, if any."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status if isinstance(status, int) else None


def _is_unreachable(error: "HTTPError") -> bool:
    """Whether no connection was made: no network, unknown host, or no answer."""
    from httpx2 import ConnectError, ConnectTimeout

    return isinstance(error, (ConnectError, ConnectTimeout))


def _host(error: "HTTPError") -> str:
    """Return the host of the failed request; the full URL may contain signatures."""
    try:
        return plain(error.request.url.host)
    except RuntimeError:  # the error has no request
        return "the server"
