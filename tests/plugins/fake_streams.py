"""Simulated streams and events of torch.cuda: queued work is kept and executed only by `run`.

Streams run as far ahead of each other as events allow, in a random order that the test seeds; copies and computation
that events do not order then eventually run in the wrong order.
"""

import random
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils import _python_dispatch


class FakeStream:
    """A queue of work."""

    def __init__(self, device: torch.device | None = None) -> None:
        self.device_of_copies = device  # None: a compute stream
        self.queue: deque[Callable[[], bool]] = deque()  # each returns whether it could run

    def wait_event(self, event: "FakeEvent") -> None:
        number = event.recorded
        self.queue.append(lambda: event.reached >= number)


class FakeEvent:
    """A position in a stream; recording it again moves it."""

    def __init__(self) -> None:
        self.recorded = self.reached = 0
        self.streams: FakeStreams | None = None

    def record(self, stream: FakeStream) -> None:
        self.recorded += 1
        number = self.recorded

        def reach() -> bool:
            self.reached = number
            return True

        stream.queue.append(reach)

    def synchronize(self) -> None:
        assert self.streams is not None
        self.streams.synchronized += 1
        self.streams.run(until=lambda: self.reached >= self.recorded)


class FakeStreams:
    """The parts of torch.cuda in use, with one compute stream."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)
        self._compute = FakeStream()
        self._current = self._compute
        self.streams = [self._compute]
        self.synchronized = 0  # number of host waits
        self.events = 0

    def Stream(self, device: torch.device) -> FakeStream:
        made = FakeStream(device)
        self.streams.append(made)
        return made

    def Event(self) -> FakeEvent:
        self.events += 1
        event = FakeEvent()
        event.streams = self
        return event

    def current_stream(self, device: torch.device) -> FakeStream:
        return self._current

    @contextmanager
    def stream(self, stream: FakeStream) -> Iterator[None]:
        before, self._current = self._current, stream
        try:
            with QueuedCopies(self):
                yield
        finally:
            self._current = before

    def queue(self, work: Callable[[], Any]) -> None:
        """Queue work on the current stream."""

        def do() -> bool:
            work()
            return True

        self._current.queue.append(do)

    def run(self, until: Callable[[], bool] = lambda: False) -> None:
        """Run all streams in random order. Raises RuntimeError if all wait for each other."""
        while not until():
            waiting = [stream for stream in self.streams if stream.queue]
            self._random.shuffle(waiting)
            done = next((stream for stream in waiting if stream.queue[0]()), None)
            if done is None:
                if waiting:
                    raise RuntimeError("the streams wait for each other")
                return
            done.queue.popleft()


class QueuedCopies(_python_dispatch.TorchDispatchMode):
    """Queues non-blocking copies."""

    def __init__(self, streams: FakeStreams) -> None:
        super().__init__()
        self._streams = streams

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.aten.copy_.default and len(args) > 2 and args[2]:
            self._streams.queue(lambda: func(args[0], args[1]))
            return args[0]
        return func(*args, **(kwargs or {}))
