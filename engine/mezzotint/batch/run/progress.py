"""Progress of a run: what has ended, how fast, and how long the rest takes."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from mezzotint.batch.manifest.record import Status

_RECENT = 64  # images from which the rate is computed


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A snapshot of the progress."""

    done: int  # by this run, synced to disk
    failed: int
    set_aside: int
    skipped: int  # files that are no task, or whose image exists
    already: int  # done before this run
    left_failed: int  # failed before this run, and not retried
    total: int | None  # all of these and what is still to be made; None: not known yet
    per_second: float | None  # images, recently
    seconds_left: float | None
    vram_bytes: int | None  # the peak of any image

    @property
    def looked_at(self) -> int:
        """Tasks whose outcome is known."""
        return self.done + self.failed + self.set_aside + self.skipped + self.already + self.left_failed


class Tally:
    """Counts the outcomes of tasks."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._counts = {"done": 0, "failed": 0, "set_aside": 0, "skipped": 0}
        self._times: deque[float] = deque([clock()], maxlen=_RECENT)
        self._vram: int | None = None
        self.already = self.left_failed = 0
        self.total: int | None = None

    def settled(self, status: Status, *, was_tried: bool = True) -> None:
        """Count a task whose record is on disk; without a try it does not affect the rate."""
        self._counts[status] += 1
        if status in ("done", "failed") and was_tried:
            self._times.append(self._clock())

    def took(self, vram_bytes: int | None) -> None:
        """Record the peak VRAM of one image."""
        if vram_bytes is not None:
            self._vram = max(self._vram or 0, vram_bytes)

    def progress(self) -> Progress:
        """Return the current progress."""
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
