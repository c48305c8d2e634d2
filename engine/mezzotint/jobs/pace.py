"""The time per step of a run, so that even a stopped run yields timings."""

from mezzotint.protocol import Event, Saved, Step

_ENOUGH = 3  # steps before a pace is trusted


class StepPace:
    """Measures the steps of one run; the time between two images does not count."""

    def __init__(self) -> None:
        self.seconds: float | None = None  # per step; None: not known yet
        self._image: int | None = None
        self._since = 0.0
        self._steps = 0

    def on_event(self, event: Event, now: float) -> None:
        """Process an event that arrived at time `now`."""
        if isinstance(event, Saved):
            self._image = None
        elif isinstance(event, Step):
            self._step(event, now)

    def _step(self, event: Step, now: float) -> None:
        if event.stages > 1:
            return  # steps of different models take different times
        if event.image != self._image:
            self._image, self._since, self._steps = event.image, now, 0
            return
        self._steps += 1
        if self._steps >= _ENOUGH:
            self.seconds = (now - self._since) / self._steps
