"""Runs the garbage collector on the window's thread only, as no other thread may delete a Qt object."""

import gc

from mezzotint_app.clock import Clock, RepeatingTimer

_PAUSE = 0.5  # seconds between checks


class Collector:
    """Replaces automatic garbage collection until stopped; must be created and used on the window's thread."""

    def __init__(self, clock: Clock) -> None:
        self._every = RepeatingTimer(clock, _PAUSE, self.look)

    def start(self) -> None:
        """Disable automatic collection and start collecting here."""
        gc.disable()
        gc.freeze()  # objects created at startup stay alive and need not be scanned again
        self._every.start()

    def stop(self) -> None:
        """Return to automatic collection."""
        self._every.stop()
        gc.unfreeze()
        gc.enable()

    def look(self) -> None:
        """Collect every generation that Python would have collected."""
        counts, limits = gc.get_count(), gc.get_threshold()
        due = [generation for generation in range(3) if counts[generation] > limits[generation]]
        if due:
            gc.collect(max(due))
