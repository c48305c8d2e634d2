"""Copying weights to the device: synchronously on a CPU, on a separate stream on a GPU.

The host never waits for a GPU here. Copies wait for a mark, an event on the compute stream; computation waits for a
ticket. Reading files takes the host's time, which a thread can do in the background.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from concurrent.futures import TimeoutError as Late
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import torch
from torch import Tensor

from mezzotint.errors import StorageError
from mezzotint.memory.accounting import uncounted
from mezzotint.memory.loads import Copy as Copy
from mezzotint.memory.loads import Gathering, Load

STAGING = 32 * 2**20  # bytes of each of the two page-locked buffers
READ_TIMEOUT = 120.0  # timeout in seconds for reading one block from disk

Mark: TypeAlias = object  # a position in the queue of computation
Event: TypeAlias = Any


class Ticket(Protocol):
    """Handle of requested copies."""

    def wait(self) -> None:
        """Make computation wait for the copies; raises their error."""

    def drain(self) -> None:
        """Make sure that no copy is still writing when computation continues; ignores their errors."""


class Copier(Protocol):
    """A way of copying to the device."""

    def mark(self) -> Mark:
        """Return a mark after everything that is queued for computation."""

    def start(self, load: Load, after: Mark) -> Ticket:
        """Start a load's copies into memory that is free once computation has reached the mark."""


class DirectCopier:
    """Copies without streams, as on a CPU. With a reader, files are read while other blocks compute."""

    def __init__(
        self, reader: Executor | None = None, timeout: float = READ_TIMEOUT, *, threads: Executor | None = None
    ) -> None:
        """`threads` read parts of files for the reader."""
        self._reader, self._timeout, self._threads = reader, timeout, threads

    def mark(self) -> Mark:
        """None, because a CPU computes synchronously."""
        return None

    def start(self, load: Load, after: Mark) -> Ticket:  # noqa: ARG002  required by Copier
        """Copy now, or let the reader do it."""
        if self._reader is None or not load.on_disk:
            self._copy(load)
            return FinishedTicket()
        return ThreadTicket(self._reader.submit(self._copy, load), self._timeout)

    def _copy(self, load: Load) -> None:
        with uncounted(), torch.no_grad():
            Gathering(load.placed, self._threads).fill(load.memory, 0)


class Streams(Protocol):
    """The part of torch.cuda that is used."""

    Stream: Callable[[torch.device], Any]
    Event: Callable[[], Any]
    current_stream: Callable[[torch.device], Any]
    stream: Callable[[Any], Any]


class StreamCopier:
    """Copies on a separate stream of a GPU. Memory that is not page-locked is staged by the reader, piece by piece."""

    def __init__(
        self,
        device: torch.device,
        streams: Streams,
        *,
        reader: Executor | None = None,
        threads: Executor | None = None,
        staging: Callable[[], Tensor] | None = None,
        timeout: float = READ_TIMEOUT,
    ) -> None:
        """`threads` read parts of files for the reader."""
        self._device, self._streams = device, streams
        self._stream = streams.Stream(device)
        self._reader, self._timeout = reader, timeout
        self._staging = Staging(streams, staging or page_locked, threads)

    def mark(self) -> Mark:
        """Record an event on the compute stream."""
        event = self._streams.Event()
        event.record(self._streams.current_stream(self._device))
        return event

    def start(self, load: Load, after: Mark) -> Ticket:
        """Queue copies; the reader queues those that take the host's time."""
        if self._reader is None or load.supports_async_copy:
            return StreamTicket(self._queue(load.copies, after), self._compute)
        return ThreadTicket(self._reader.submit(self._queue, load.copies, after), self._timeout, self._compute)

    def _queue(self, copies: Sequence[Copy], after: Mark) -> Event:
        event = self._streams.Event()
        with uncounted(), torch.no_grad(), self._streams.stream(self._stream):
            self._stream.wait_event(after)
            try:
                for copy in copies:
                    if copy.locked is None:
                        self._staging.bring(copy, self._stream)
                    else:
                        copy.target.copy_(copy.locked, non_blocking=True)
            except BaseException:
                event.record(self._stream)
                event.synchronize()  # some copies have begun, and no ticket will wait for them
                raise
            event.record(self._stream)
        return event

    def _compute(self, event: Event) -> None:
        self._streams.current_stream(self._device).wait_event(event)


class Staging:
    """Two page-locked staging buffers for pageable memory and files."""

    def __init__(self, streams: Streams, make: Callable[[], Tensor], threads: Executor | None = None) -> None:
        self._streams, self._make, self._threads = streams, make, threads
        self._buffers: list[Tensor] = []
        self._used: list[Event | None] = [None, None]
        self._turn = 0

    def bring(self, copy: Copy, stream: Any) -> None:  # noqa: ANN401  torch.cuda's or a fake in tests
        """Queue weights in pieces of at most a buffer's size."""
        gathering, first = Gathering(copy.placed, self._threads), copy.placed[0].offset
        start = 0
        while start < len(copy.target):
            turn = self._next()
            piece = self._buffers[turn][: len(copy.target) - start]
            gathering.fill(piece, first + start)
            copy.target[start : start + len(piece)].copy_(piece, non_blocking=True)
            event = self._used[turn] = self._streams.Event()
            event.record(stream)
            start += len(piece)

    def _next(self) -> int:
        """Return the index of the least recently used buffer, waiting in the reader thread until it is free."""
        while len(self._buffers) < len(self._used):
            self._buffers.append(self._make())
        self._turn = 1 - self._turn
        event = self._used[self._turn]
        if event is not None:
            event.synchronize()
        return self._turn


@dataclass(frozen=True, slots=True)
class FinishedTicket:
    """Ticket of finished copies."""

    def wait(self) -> None:
        """Nothing to wait for."""

    def drain(self) -> None:
        """Nothing to wait for."""


@dataclass(frozen=True, slots=True)
class StreamTicket:
    """Ticket of copies queued on a stream."""

    event: Event
    compute: Callable[[Event], None]  # makes computation wait for the event

    def wait(self) -> None:
        """Make the compute stream wait."""
        self.compute(self.event)

    def drain(self) -> None:
        """Make the compute stream wait."""
        self.compute(self.event)


@dataclass(frozen=True, slots=True)
class ThreadTicket:
    """Ticket of copies that a thread makes or queues."""

    future: "Future[Any]"
    timeout: float
    compute: Callable[[Event], None] | None = None

    def wait(self) -> None:
        """Wait for the thread, then make the compute stream wait; raises StorageError on timeout."""
        try:
            event = self.future.result(self.timeout)
        except Late:
            raise StorageError(
                f"no data from the disk for {self.timeout:g} seconds: check that the drive is connected, then try again"
            ) from None
        if self.compute is not None:
            self.compute(event)

    def drain(self) -> None:
        """Cancel the copies if they have not begun, otherwise wait."""
        if not self.future.cancel():
            with suppress(Exception):
                self.wait()


def page_locked() -> Tensor:
    """Allocate a page-locked buffer, or a pageable one, which is only slower, if the system refuses."""
    with torch.inference_mode(False):
        try:
            return torch.empty(STAGING, dtype=torch.uint8, pin_memory=True)
        except RuntimeError:
            return torch.empty(STAGING, dtype=torch.uint8)
