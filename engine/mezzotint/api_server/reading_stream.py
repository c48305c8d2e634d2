"""A connection's input with a deadline and a number of bytes, so that slow or endless senders cannot hold it."""

import io
import time
from collections.abc import Callable
from typing import Protocol


class Receives(Protocol):
    """The part of a socket that is needed."""

    def settimeout(self, value: float | None) -> None:
        """Set the seconds that a call may take."""

    def recv_into(self, buffer: memoryview) -> int:
        """Receive bytes; 0 at the end."""


class BoundedInput(io.RawIOBase):
    """The bytes of a socket, up to a moment and a number that `allow` sets."""

    def __init__(self, connection: Receives, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._connection, self._clock = connection, clock
        self._end, self._left = clock(), 0

    def allow(self, count: int, seconds: float) -> None:
        """Let that many bytes be received within that time; further reads raise TimeoutError."""
        self._left, self._end = count, self._clock() + seconds

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: object) -> int:
        """Receive bytes into a buffer."""
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        seconds = self._end - self._clock()
        if seconds <= 0 or self._left <= 0:
            raise TimeoutError("the request is too slow, or longer than it said")
        self._connection.settimeout(seconds)
        count = self._connection.recv_into(view[: self._left])
        self._left -= count
        return count
