"""How far a job is, from its events, as A1111's `progress` says it."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from mezzotint import protocol
from mezzotint.protocol import Event, Saved, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The state of a job at a moment."""

    share: float = 0.0  # done, 0..1
    seconds: float = 0.0  # since it began
    image: int = 0
    images: int = 0  # 0: nothing runs
    step: int = 0
    steps: int = 0
    preview: str | None = None  # a JPEG in base64


class Progress:
    """Follows one job; events and questions may come from different threads."""

    def __init__(self, images: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._began: float | None = None
        self._step: Step | None = None
        self._saved, self._images = 0, images
        self._tiles = 0.0  # done, of the image at hand
        self._preview: str | None = None

    def begin(self) -> None:
        """Start the clock."""
        with self._lock:
            self._began = self._clock()

    def on_event(self, event: Event) -> None:
        """Take an event of the engine."""
        with self._lock:
            if isinstance(event, Step):
                self._step, self._preview = event, event.preview or self._preview
            elif isinstance(event, protocol.Progress):  # tiles of an image that is enlarged
                self._tiles = event.done / max(1, event.total or 0) % 1
                self._saved += event.done == event.total
            elif isinstance(event, Saved):
                self._saved, self._step = self._saved + 1, None

    def snapshot(self) -> Snapshot:
        """The state now."""
        with self._lock:
            step = self._step
            part = self._tiles if step is None else (step.stage + step.step / max(1, step.steps)) / max(1, step.stages)
            return Snapshot(
                share=min(1.0, (self._saved + part) / self._images),
                seconds=0.0 if self._began is None else self._clock() - self._began,
                image=self._saved,
                images=self._images,
                step=0 if step is None else step.step,
                steps=0 if step is None else step.steps,
                preview=self._preview,
            )
