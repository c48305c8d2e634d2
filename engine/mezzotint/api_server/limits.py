"""What one client, and all of them together, may take."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from mezzotint.api_server.refusal import busy


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on memory and time."""

    body_bytes: int = 64 << 20  # of one request
    bodies_bytes: int = 256 << 20  # of all requests that are being read or wait for their job
    head_bytes: int = 64 << 10  # of the first line and the headers of one request
    headers: int = 100  # of one request
    values: int = 100_000  # in the JSON of one request
    connections: int = 128  # a further one takes the place of the one that has been idle for longest
    waiting_jobs: int = 16  # beside the running one
    head_seconds: float = 10.0  # for the head of a request, also of the next one on the same connection
    body_seconds: float = 60.0
    write_seconds: float = 30.0  # for an answer, and a second more for each MiB
    linger_seconds: float = 5.0  # for reading what is not wanted, so that the client sees the answer


class ByteBudget:
    """Bytes that requests may hold together."""

    def __init__(self, total: int) -> None:
        self._free, self._lock = total, threading.Lock()

    @contextmanager
    def taken(self, count: int) -> Iterator[None]:
        """Hold that many bytes; raises Refusal (503) if so many are not free."""
        with self._lock:
            if count > self._free:
                raise busy(f"the requests that are being answered leave no room for {count} bytes; try again later")
            self._free -= count
        try:
            yield
        finally:
            with self._lock:
                self._free += count
