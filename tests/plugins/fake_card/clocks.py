"""Streams and events with vector clocks, and the copies that streams have yet to make.

A clock says, for each stream, up to which of its times another stream (or the host) has waited for it. An operation
that touches bytes which another stream touched at a time not yet waited for is in no order with it: a hazard, in
whichever order the two happened to run. Copies of streams other than the default one are made as late as events
allow, so that what reads them too early also computes something else.
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from fake_card.state import card

Clock = dict[int, int]  # stream number: time


def merge(into: Clock, other: Clock) -> None:
    """Have seen also what another has."""
    for number, time in other.items():
        if into.get(number, 0) < time:
            into[number] = time


class Stream(torch.Stream):
    """torch.cuda.Stream: its clock and what it has not done yet."""

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
        """All is done in __new__, as torch has it."""

    @property
    def cuda_stream(self) -> int:
        """The number that launches take."""
        return self.number

    def tick(self) -> int:
        """The time of something that is queued now: after all that the host has waited for."""
        if self._host_seen != card.host_version:
            merge(self.clock, card.host_clock)
            self._host_seen = card.host_version
        self.clock[self.number] += 1
        return self.clock[self.number]

    def queue(self, work: Callable[[], None]) -> None:
        """Do it as late as can be."""
        with card.lock:
            self.waiting.append((self.clock[self.number], work))

    def run(self, until: float = float("inf")) -> None:
        """Do what was queued up to a time."""
        with card.lock:
            while self.waiting and self.waiting[0][0] <= until:
                self.waiting.popleft()[1]()

    def wait_event(self, event: "Event") -> None:
        """What comes next waits for the event; one never recorded is waited for in no time."""
        card.check()
        if event.stream is not None:
            if event.capture is not card.capture:
                card.refuse_in_capture("an event from outside")
            event.stream.run(event.time)
            merge(self.clock, event.clock)

    def wait_stream(self, other: "Stream") -> None:
        """What comes next waits for all that the other has been given."""
        self.wait_event(other.record_event())

    def record_event(self, event: "Event | None" = None) -> "Event":
        """A new event, or this one again, at the end of what it has been given."""
        event = event or Event()
        event.record(self)
        return event

    def synchronize(self) -> None:
        """The host waits for it."""
        card.check()
        self.run()
        card.host_waits(self.clock, "Stream.synchronize")

    def query(self) -> bool:
        """Whether all is done: it is as soon as somebody asks."""
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
        self.capture: Any = None  # in which it was recorded

    def record(self, stream: Stream | None = None) -> None:
        """A place at the end of what the stream was given."""
        card.check()
        self.stream, self.capture = stream or card.current_stream(), card.capture
        self.time = self.stream.tick()
        self.clock = dict(self.stream.clock)

    def wait(self, stream: Stream | None = None) -> None:
        """The stream waits for it."""
        (stream or card.current_stream()).wait_event(self)

    def synchronize(self) -> None:
        """The host waits for it."""
        card.check()
        if self.stream is not None:
            self.stream.run(self.time)
            card.host_waits(self.clock, "Event.synchronize")

    def query(self) -> bool:
        """Whether it was reached; asking lets its stream do one thing more."""
        if self.stream is None or not any(time <= self.time for time, _ in self.stream.waiting):
            return True
        self.stream.run(self.stream.waiting[0][0])
        return False

    def elapsed_time(self, other: "Event") -> float:
        """Milliseconds; there is no clock on the wall here, so a step of each stream takes one."""
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
