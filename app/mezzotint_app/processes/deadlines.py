"""How long a job may be silent in each phase before its process is considered hung."""

import statistics
from collections import deque

from PySide6.QtCore import QCoreApplication

from mezzotint.protocol import Decoding, Encoding, Event, Loading, Saved, Step
from mezzotint.queue_protocol import JobEvent, TaskBegun, TaskEnded

translate = QCoreApplication.translate

PREPARING = 600.0  # seconds: libraries are imported, files are hashed, and the disk may be slow
LOADING = 120.0
LOADING_BYTES_PER_SECOND = 10 << 20  # the slowest disk throughput that is tolerated
FIRST_STEP = 1800.0  # no step time is known yet, and blocks may be compiled
STEP = 60.0
STEP_MEDIANS = 20
DECODING = 1800.0
ANSWERING = 120.0  # after the last image was saved
STOPPING = 60.0  # after a stop was requested
STOPPING_STEPS = 3

_REMEMBERED = 50  # steps


class SilenceLimit:
    """Follows a job's events to determine how long the next one may take."""

    def __init__(self) -> None:
        self._steps: deque[float] = deque(maxlen=_REMEMBERED)
        self._last: Event | None = None
        self._stopping = False

    def record(self, event: JobEvent, silence: float) -> None:
        """Record an event that arrived after `silence` seconds."""
        if isinstance(event, TaskBegun | TaskEnded):
            self._steps.clear()
            self._last = None
        if not isinstance(event, Loading | Encoding | Step | Decoding | Saved):
            return
        if isinstance(event, Step) and isinstance(self._last, Step) and self._last.stage == event.stage:
            self._steps.append(silence)
        self._last = event

    def stop(self) -> None:
        """Record that the job was asked to stop, which takes at most about one step."""
        self._stopping = True

    def limit(self) -> float:
        """Seconds that the job may now be silent."""
        limit = self._usual()
        if self._stopping:
            return min(limit, max(STOPPING, STOPPING_STEPS * self._median()))
        return limit

    def activity_text(self) -> str:
        """What the job was last doing, as text."""
        match self._last:
            case Loading():
                return translate("Deadlines", "it was loading a model")
            case Encoding():
                return translate("Deadlines", "it was encoding the prompt")
            case Step():
                return translate("Deadlines", "it was denoising an image")
            case Decoding():
                return translate("Deadlines", "it was decoding an image")
            case Saved():
                return translate("Deadlines", "it had just saved an image")
        return translate("Deadlines", "it was preparing a job")

    def _usual(self) -> float:
        match self._last:
            case Loading(bytes_total=total):
                return LOADING + max(0, total) / LOADING_BYTES_PER_SECOND
            case Encoding():
                return FIRST_STEP
            case Step(step=step, steps=steps):
                return self._after_step(last=step >= steps)
            case Decoding():
                return DECODING
            case Saved(image=image, images=images):
                return ANSWERING if image.index + 1 >= images else FIRST_STEP
        return PREPARING

    def _after_step(self, *, last: bool) -> float:
        """After a stage's last step, the next stage's model may have to be loaded."""
        if last or not self._steps:
            return FIRST_STEP
        return max(STEP, STEP_MEDIANS * self._median())

    def _median(self) -> float:
        return statistics.median(self._steps) if self._steps else 0.0
