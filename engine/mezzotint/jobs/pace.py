"""How fast a run takes its steps, so that something is learned from it even where it is stopped."""

from mezzotint.protocol import Event, Saved, Step

_ENOUGH = 3  # steps from which on a pace is believed


class StepPace:
    """Counts the steps of one run; what is done between two images counts for none."""

    def __init__(self) -> None:
        self.seconds: float | None = None  # a step; None: too early to say
        self._image: int | None = None
        self._since = 0.0
        self._steps = 0

    def hear(self, event: Event, now: float) -> None:
        """An event came, at that time."""
        if isinstance(event, Saved):
            self._image = None
        elif isinstance(event, Step):
            self._step(event, now)

    def _step(self, event: Step, now: float) -> None:
        if event.stages > 1:
            return  # steps of different models do not take the same time
        if event.image != self._image:
            self._image, self._since, self._steps = event.image, now, 0
            return
        self._steps += 1
        if self._steps >= _ENOUGH:
            self.seconds = (now - self._since) / self._steps
