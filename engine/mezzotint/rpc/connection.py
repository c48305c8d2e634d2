"""Line-delimited JSON over a process's streams."""

import logging
import threading
from collections.abc import Iterator
from typing import BinaryIO

from mezzotint.codec import to_json

MAX_LINE = 8 << 20  # bytes

_log = logging.getLogger("mezzotint.rpc")


class Connection:
    """Reads and writes lines; `send` is thread-safe."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._reader = reader
        self._writer = writer
        self._lock = threading.Lock()
        self.lost = threading.Event()

    def lines(self) -> Iterator[bytes | None]:
        """Each non-blank line; None for one that is too long."""
        while line := self._reader.readline(MAX_LINE + 1):
            if len(line) > MAX_LINE:
                while line and not line.endswith(b"\n"):
                    line = self._reader.readline(MAX_LINE)
                yield None
            elif line.strip():
                yield line

    def send(self, message: dict[str, object]) -> None:
        """Send one message; a closed reader sets `lost`, which cancels its jobs."""
        line = to_json({"jsonrpc": "2.0", **message}).encode("ascii") + b"\n"
        with self._lock:
            try:
                self._writer.write(line)
                self._writer.flush()
            except (OSError, ValueError) as error:  # ValueError: closed on this side
                if not self.lost.is_set():
                    _log.warning("the reader has closed the connection: %s", error)
                self.lost.set()
