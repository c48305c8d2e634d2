"""How long the window's thread is away, and how late what a person does is handled: measured in that thread itself."""

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

SLOW = 50.0  # milliseconds that somebody notices
_EXPLAINED = 0.035  # seconds
_BEAT = 4  # milliseconds between two beats of a thread that is free


@dataclass(slots=True)
class Watched:
    """What was seen while something went on; all in milliseconds."""

    name: str
    gaps: list[tuple[float, float, float]] = field(default_factory=list)  # beyond a beat; worked; kept from it
    inputs: list[float] = field(default_factory=list)  # from when each was due until it was handled

    def told(self) -> dict[str, str | float]:
        """The worst of it."""
        gap, work, kept = max(self.gaps, default=(0.0, 0.0, 0.0))
        return {
            "name": self.name,
            "gap": gap,  # the longest that the thread was away
            "work": work,  # what of that it worked itself
            "kept": kept,  # and what others had the processor; the rest it waited for a lock, or for a disk
            "slow": sum(one > SLOW for one, _, _ in self.gaps),
            "own": max((one - kept for one, _, kept in self.gaps), default=0.0),  # the longest without others' part
            "input": max(self.inputs, default=0.0),
            "usual_input": statistics.median(self.inputs) if self.inputs else 0.0,
            "inputs": len(self.inputs),
        }


class StallMonitor(QObject):
    """Beats in the thread that it is made in."""

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
        """The thread is free: how long was it not?"""
        read = self._read()
        if self._watched is not None:
            away, worked, kept = (1000 * (now - before) for now, before in zip(read, self._last, strict=True))
            self._watched.gaps.append((max(0.0, away - _BEAT), worked, kept))
        self._last = read

    def _read(self) -> tuple[float, ...]:
        return tuple(clock() for clock in self._clocks)

    def explain(self, file: TextIO) -> None:
        """Write to a file, for each long gap, where the threads are in it, as far as Python lets that be seen."""
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
        """Note what happens meanwhile under this name."""
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
        """One after the other, each due so many milliseconds after the one before, whether that is done or not."""
        begun = self._now()
        for number, act in enumerate(actions, 1):
            due = begun + number * every / 1000
            self.rest(math.ceil(max(0.0, 1000 * (due - self._now()))))
            act()
            if self._watched is not None:
                self._watched.inputs.append(1000 * (self._now() - due))

    def stop(self) -> None:
        """Beat no more."""
        self._timer.stop()

    def rest(self, milliseconds: float = 0) -> None:
        """Let the thread do what is to be done, for so long."""
        self._resting.start(math.ceil(milliseconds))
        self._loop.exec()

    def wait(self, what: str, condition: Callable[[], object], seconds: float = 300.0) -> None:
        """Until it is so."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(f"waited {seconds:.0f} seconds in vain for {what}")
            self.rest(20)


def kept_from_processor() -> float:
    """Seconds that this thread could have worked and others had the processor; 0 where the system does not tell."""
    try:
        with open("/proc/thread-self/schedstat", "rb", buffering=0) as file:
            return int(file.read(200).split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0
