"""Measure how long the GUI thread's event loop stalls, and how late input is handled, from within that thread."""

import math
import statistics
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TextIO

from PySide6.QtCore import QEventLoop, QObject, Qt, QTimer

SLOW = 50.0  # milliseconds; noticeable
_EXPLAINED = 0.035  # seconds
_BEAT = 4  # milliseconds between timer ticks of an idle thread


@dataclass(slots=True)
class Watched:
    """Measurements during one action, in milliseconds."""

    name: str
    gaps: list[tuple[float, float, float]] = field(default_factory=list)  # stall beyond a tick; CPU time; wait for CPU
    inputs: list[float] = field(default_factory=list)  # from when each was due until it was handled

    def told(self) -> dict[str, str | float]:
        """Return the worst values."""
        gap, work, kept = max(self.gaps, default=(0.0, 0.0, 0.0))
        return {
            "name": self.name,
            "gap": gap,  # longest stall of the thread
            "work": work,  # its own CPU time in that stall
            "kept": kept,  # time that others had the CPU; the rest was waiting for a lock or a disk
            "slow": sum(one > SLOW for one, _, _ in self.gaps),
            "own": max((one - kept for one, _, kept in self.gaps), default=0.0),  # longest stall without others' share
            "input": max(self.inputs, default=0.0),
            "usual_input": statistics.median(self.inputs) if self.inputs else 0.0,
            "inputs": len(self.inputs),
        }


class StallMonitor(QObject):
    """A timer that ticks in the thread in which it is created."""

    def __init__(
        self,
        parent: QObject | None = None,
        *,
        now: Callable[[], float] = time.perf_counter,
        worked: Callable[[], float] = time.thread_time,
        kept: Callable[[], float] | None = None,
    ) -> None:
        super().__init__(parent)
        self._clocks = now, worked, kept or kept_from_processor
        self._now = now
        self._last = self._read()
        self._watched: Watched | None = None
        self.all: list[Watched] = []
        self._loop = QEventLoop()
        self._resting = QTimer(self)
        self._resting.setSingleShot(True)
        self._resting.setTimerType(Qt.TimerType.PreciseTimer)
        self._resting.timeout.connect(self._loop.quit)
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(_BEAT)
        self._timer.timeout.connect(self.beat)
        self._timer.start()

    def beat(self) -> None:
        """Record how long the thread was busy since the last tick."""
        read = self._read()
        if self._watched is not None:
            away, worked, kept = (1000 * (now - before) for now, before in zip(read, self._last, strict=True))
            self._watched.gaps.append((max(0.0, away - _BEAT), worked, kept))
        self._last = read

    def _read(self) -> tuple[float, ...]:
        return tuple(clock() for clock in self._clocks)

    def explain(self, file: TextIO) -> None:
        """Write to a file where the threads are during each long stall, as far as Python can see."""
        threading.Thread(target=self._look, args=(file, threading.get_ident()), daemon=True).start()

    def _look(self, file: TextIO, thread: int) -> None:
        explained: object = None
        while True:
            time.sleep(_EXPLAINED / 4)
            away = self._now() - self._last[0]
            if away > _EXPLAINED and explained is not self._last and self._watched is not None:
                explained = self._last
                file.write(f"\n==== {self._watched.name}: {1000 * away:.0f} ms\n")
                for number, frame in sys._current_frames().items():
                    if number != threading.get_ident():
                        file.write("window:\n" if number == thread else "another:\n")
                        file.writelines(traceback.format_stack(frame)[-7:])

    @contextmanager
    def watch(self, name: str) -> Iterator[Watched]:
        """Record measurements under this name while the context is active."""
        self.rest()
        self._last = self._read()
        self._watched = Watched(name)
        self.all.append(self._watched)
        try:
            yield self._watched
        finally:
            self.rest(2 * _BEAT)
            self._watched = None

    def act(self, actions: Iterable[Callable[[], object]], every: float) -> None:
        """Perform actions, each due `every` milliseconds after the previous one even if that is still running."""
        begun = self._now()
        for number, act in enumerate(actions, 1):
            due = begun + number * every / 1000
            self.rest(math.ceil(max(0.0, 1000 * (due - self._now()))))
            act()
            if self._watched is not None:
                self._watched.inputs.append(1000 * (self._now() - due))

    def stop(self) -> None:
        """Stop ticking."""
        self._timer.stop()

    def rest(self, milliseconds: float = 0) -> None:
        """Run the event loop for this long."""
        self._resting.start(math.ceil(milliseconds))
        self._loop.exec()

    def wait(self, what: str, condition: Callable[[], object], seconds: float = 300.0) -> None:
        """Run the event loop until the condition holds. Raises TimeoutError."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(f"waited {seconds:.0f} seconds in vain for {what}")
            self.rest(20)


def kept_from_processor() -> float:
    """Return the seconds this thread was runnable while others had the CPU; 0 if the system does not report it."""
    try:
        with open("/proc/thread-self/schedstat", "rb", buffering=0) as file:
            return int(file.read(200).split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0
