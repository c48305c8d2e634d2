"""Weights on their way to the device: at once on a processor, on a stream of their own on a card.

The host never waits for a card here. What copying has to wait for is a mark that computing left behind; what computing
has to wait for is a ticket. Reading files is what takes the host's time, and a thread can do that beside.
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

STAGING = 32 * 2**20  # bytes of a page-locked buffer, of which there are two
PATIENCE = 120.0  # seconds for the disk to give one block

Mark: TypeAlias = object  # a place in what computing was asked to do
Event: TypeAlias = Any


class Ticket(Protocol):
    """Copies that were asked for."""

    def wait(self) -> None:
        """Have computing go on only when they are done; raises what went wrong with them."""

    def settle(self) -> None:
        """Make sure that nothing is written any more once computing goes on, however it went."""


class Copier(Protocol):
    """How copies are made."""

    def mark(self) -> Mark:
        """All that computing was asked for up to now."""

    def start(self, load: Load, after: Mark) -> Ticket:
        """Ask for a load's copies into memory that is free once computing has come to the mark."""


class DirectCopier:
    """Without streams, as on a processor. With a reader, what lies on disk is read while other blocks compute."""

    def __init__(
        self, reader: Executor | None = None, patience: float = PATIENCE, *, threads: Executor | None = None
    ) -> None:
        """`threads` read parts of what the reader reads."""
        self._reader, self._patience, self._threads = reader, patience, threads

    def mark(self) -> Mark:
        """Nothing: a processor has computed what it was asked for."""
        return None

    def start(self, load: Load, after: Mark) -> Ticket:  # noqa: ARG002  as Copier has it
        """Copy, or have it read."""
        if self._reader is None or not load.on_disk:
            self._copy(load)
            return Done()
        return Awaited(self._reader.submit(self._copy, load), self._patience)

    def _copy(self, load: Load) -> None:
        with uncounted(), torch.no_grad():
            Gathering(load.placed, self._threads).fill(load.memory, 0)


class Streams(Protocol):
    """What is used of torch.cuda."""

    Stream: Callable[[torch.device], Any]
    Event: Callable[[], Any]
    current_stream: Callable[[torch.device], Any]
    stream: Callable[[Any], Any]


class StreamCopier:
    """On a card: copies go on their own stream. What is not page-locked is brought by the reader, piece by piece."""

    def __init__(
        self,
        device: torch.device,
        streams: Streams,
        *,
        reader: Executor | None = None,
        threads: Executor | None = None,
        staging: Callable[[], Tensor] | None = None,
        patience: float = PATIENCE,
    ) -> None:
        """`threads` read parts of what the reader reads."""
        self._device, self._streams = device, streams
        self._stream = streams.Stream(device)
        self._reader, self._patience = reader, patience
        self._staging = Staging(streams, staging or page_locked, threads)

    def mark(self) -> Mark:
        """An event at the end of what the computing stream was given."""
        event = self._streams.Event()
        event.record(self._streams.current_stream(self._device))
        return event

    def start(self, load: Load, after: Mark) -> Ticket:
        """Queue copies; those that take the host's time are queued by the reader."""
        if self._reader is None or load.at_once:
            return Queued(self._queue(load.copies, after), self._compute)
        return Awaited(self._reader.submit(self._queue, load.copies, after), self._patience, self._compute)

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
                event.synchronize()  # some have begun, and nobody gets a ticket for them
                raise
            event.record(self._stream)
        return event

    def _compute(self, event: Event) -> None:
        self._streams.current_stream(self._device).wait_event(event)


class Staging:
    """Two page-locked buffers by way of which the rest of the host's memory, and files, reach a card."""

    def __init__(self, streams: Streams, make: Callable[[], Tensor], threads: Executor | None = None) -> None:
        self._streams, self._make, self._threads = streams, make, threads
        self._buffers: list[Tensor] = []
        self._used: list[Event | None] = [None, None]
        self._turn = 0

    def bring(self, copy: Copy, stream: Any) -> None:  # noqa: ANN401  torch.cuda's, or a test's
        """Queue weights, as many as a buffer holds in one copy."""
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
        """The buffer that was used longest ago, free again; that is waited for where files are read."""
        while len(self._buffers) < len(self._used):
            self._buffers.append(self._make())
        self._turn = 1 - self._turn
        event = self._used[self._turn]
        if event is not None:
            event.synchronize()
        return self._turn


@dataclass(frozen=True, slots=True)
class Done:
    """Copies that are made."""

    def wait(self) -> None:
        """There is nothing to wait for."""

    def settle(self) -> None:
        """There is nothing to wait for."""


@dataclass(frozen=True, slots=True)
class Queued:
    """Copies that a stream makes."""

    event: Event
    compute: Callable[[Event], None]  # has computing wait

    def wait(self) -> None:
        """Have the computing stream wait."""
        self.compute(self.event)

    def settle(self) -> None:
        """Have the computing stream wait."""
        self.compute(self.event)


@dataclass(frozen=True, slots=True)
class Awaited:
    """Copies that a thread makes, or queues."""

    future: "Future[Any]"
    patience: float
    compute: Callable[[Event], None] | None = None

    def wait(self) -> None:
        """Wait for the thread, then have the computing stream wait."""
        try:
            event = self.future.result(self.patience)
        except Late:
            raise StorageError(
                f"the disk has given nothing for {self.patience:g} seconds: look whether the drive is connected, "
                "then try again"
            ) from None
        if self.compute is not None:
            self.compute(event)

    def settle(self) -> None:
        """Stop it if it has not begun, or wait."""
        if not self.future.cancel():
            with suppress(Exception):
                self.wait()


def page_locked() -> Tensor:
    """A buffer that a card can fetch from; pageable where the system refuses, which is slower and no more."""
    with torch.inference_mode(False):
        try:
            return torch.empty(STAGING, dtype=torch.uint8, pin_memory=True)
        except RuntimeError:
            return torch.empty(STAGING, dtype=torch.uint8)
