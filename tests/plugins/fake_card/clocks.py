"""Streams and events with vector clocks, and the deferred copies of streams.

A clock maps each stream to the latest of its times that another stream (or the host) has waited for. An operation that
touches bytes which another stream touched at a time not yet waited for is unordered: a hazard, in whichever order the
two happened to run. Copies on non-default streams are executed as late as events allow, so that reading too early also
yields wrong values.
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from fake_card.state import card

Clock = dict[int, int]  # stream number: time


def merge(into: Clock, other: Clock) -> None:
    """Merge another clock into `into`."""
    for number, time in other.items():
        if into.get(number, 0) < time:
            into[number] = time


class Stream(torch.Stream):
    """torch.cuda.Stream, with its clock and pending work."""

    number: int
    clock: Clock
    waiting: deque[tuple[int, Callable[[], None]]]
    _host_seen: int

    def __new__(cls, device: Any = None, priority: int = 0, **_: Any) -> "Stream":
        index = card.index_of(device)
        number = len(card.streams)
        made = torch.Stream.__new__(cls, stream_id=number, device_index=index, device_type=card.kind.number)
        made.number, made.clock, made.waiting, made._host_seen = number, {number: 0}, deque(), -1
        card.streams.append(made)
        return made

    def __init__(self, *_: Any, **__: Any) -> None:
        """Do nothing: __new__ does all initialization, as in torch."""

    @property
    def cuda_stream(self) -> int:
        """The stream handle for launches."""
        return self.number

    def tick(self) -> int:
        """Return the time of an operation queued now, ordered after everything the host has waited for."""
        if self._host_seen != card.host_version:
            merge(self.clock, card.host_clock)
            self._host_seen = card.host_version
        self.clock[self.number] += 1
        return self.clock[self.number]

    def queue(self, work: Callable[[], None]) -> None:
        """Queue work to run as late as possible."""
        with card.lock:
            self.waiting.append((self.clock[self.number], work))

    def run(self, until: float = float("inf")) -> None:
        """Run pending work up to a time."""
        with card.lock:
            while self.waiting and self.waiting[0][0] <= until:
                self.waiting.popleft()[1]()

    def wait_event(self, event: "Event") -> None:
        """Order subsequent work after the event; no effect if it was never recorded."""
        card.check()
        if event.stream is not None:
            if event.capture is not card.capture:
                card.refuse_in_capture("an event from outside")
            event.stream.run(event.time)
            merge(self.clock, event.clock)

    def wait_stream(self, other: "Stream") -> None:
        """Order subsequent work after everything queued on the other stream."""
        self.wait_event(other.record_event())

    def record_event(self, event: "Event | None" = None) -> "Event":
        """Record a new or given event at the end of the queued work."""
        event = event or Event()
        event.record(self)
        return event

    def synchronize(self) -> None:
        """Make the host wait for the stream."""
        card.check()
        self.run()
        card.host_waits(self.clock, "Stream.synchronize")

    def query(self) -> bool:
        """Return True, after running all pending work."""
        self.run()
        return True

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return hash(self.number)


class Event:
    """torch.cuda.Event."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        self.timed = enable_timing
        self.stream: Stream | None = None
        self.clock: Clock = {}
        self.time = 0
        self.capture: Any = None  # the capture in which it was recorded

    def record(self, stream: Stream | None = None) -> None:
        """Record the event at the end of the stream's queued work."""
        card.check()
        self.stream, self.capture = stream or card.current_stream(), card.capture
        self.time = self.stream.tick()
        self.clock = dict(self.stream.clock)

    def wait(self, stream: Stream | None = None) -> None:
        """Make the stream wait for the event."""
        (stream or card.current_stream()).wait_event(self)

    def synchronize(self) -> None:
        """Make the host wait for the event."""
        card.check()
        if self.stream is not None:
            self.stream.run(self.time)
            card.host_waits(self.clock, "Event.synchronize")

    def query(self) -> bool:
        """Whether it was reached; each call lets its stream execute one more item."""
        if self.stream is None or not any(time <= self.time for time, _ in self.stream.waiting):
            return True
        self.stream.run(self.stream.waiting[0][0])
        return False

    def elapsed_time(self, other: "Event") -> float:
        """Return milliseconds, counting one per step of the stream, as there is no real clock."""
        if not (self.timed and other.timed):
            raise RuntimeError("Both events must be created with argument 'enable_timing=True'.")
        return float(max(1, other.time - self.time))


@contextmanager
def streaming(stream: Stream | None) -> Iterator[None]:
    """torch.cuda.stream: inside, this thread queues on that stream."""
    before = card.current_stream()
    card.set_stream(stream or before)
    try:
        yield
    finally:
        card.set_stream(before)
