"""How far a run is: what has ended, how fast, and how long it will take."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from mezzotint.batch.manifest.record import Status

_RECENT = 64  # images whose times the rate is taken from


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The figures at one moment."""

    done: int  # by this run, safely on the disk
    failed: int
    set_aside: int
    skipped: int  # files that were no task, or whose image is there
    already: int  # done before this run
    left_failed: int  # failed before this run, and not tried again
    total: int | None  # of all these and what is still to be made; None: not known yet
    per_second: float | None  # images, lately
    seconds_left: float | None
    vram_bytes: int | None  # the most that an image took of a card

    @property
    def looked_at(self) -> int:
        """Tasks of which it is known what became of them."""
        return self.done + self.failed + self.set_aside + self.skipped + self.already + self.left_failed


class Tally:
    """Counts what becomes of tasks."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._counts = {"done": 0, "failed": 0, "set_aside": 0, "skipped": 0}
        self._times: deque[float] = deque([clock()], maxlen=_RECENT)
        self._vram: int | None = None
        self.already = self.left_failed = 0
        self.total: int | None = None

    def settled(self, status: Status, *, was_tried: bool = True) -> None:
        """One has ended, and that is on the disk; what was not tried took no time."""
        self._counts[status] += 1
        if status in ("done", "failed") and was_tried:
            self._times.append(self._clock())

    def took(self, vram_bytes: int | None) -> None:
        """What one image took of a card."""
        if vram_bytes is not None:
            self._vram = max(self._vram or 0, vram_bytes)

    def progress(self) -> Progress:
        """The figures now."""
        seconds = self._clock() - self._times[0]
        per_second = (len(self._times) - 1) / seconds if len(self._times) > 1 and seconds > 0 else None
        looked_at = sum(self._counts.values()) + self.already + self.left_failed
        left = None if self.total is None else max(0, self.total - looked_at)
        return Progress(
            **self._counts,
            already=self.already,
            left_failed=self.left_failed,
            total=self.total,
            per_second=per_second,
            seconds_left=left / per_second if left is not None and per_second else None,
            vram_bytes=self._vram,
        )
