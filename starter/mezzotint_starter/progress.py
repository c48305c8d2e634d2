"""Log the progress of a phase every few seconds: step, loss and time remaining."""

import logging
import time

LOG = logging.getLogger("mezzotint_starter")


class Progress:
    """Tracks the steps of one phase and logs periodically."""

    def __init__(self, phase: str, steps: int, *, first: int = 0, seconds: float = 20.0) -> None:
        self.phase, self.steps, self.first, self.seconds = phase, steps, first, seconds
        self.loss = 0.0
        self.started = self.logged_at = time.monotonic()

    def advance(self, step: int, loss: float) -> None:
        """Record that step `step` (from 0) is done, with its loss."""
        keep = min(0.98, (step - self.first) / (step - self.first + 1))
        self.loss = keep * self.loss + (1 - keep) * loss
        now = time.monotonic()
        if now - self.logged_at >= self.seconds or step + 1 == self.steps:
            self.logged_at = now
            self._log(step + 1, now - self.started)

    def _log(self, done: int, elapsed: float) -> None:
        each = elapsed / max(1, done - self.first)
        left = (self.steps - done) * each / 60
        LOG.info(
            "%s %d/%d  loss %.4f  %.3f s a step  %.1f min left", self.phase, done, self.steps, self.loss, each, left
        )
