"""Python's collection of unused objects on the window's thread alone: no other may delete an object of Qt."""

import gc

from mezzotint_app.clock import Clock, Every

_PAUSE = 0.5  # seconds between looks


class Collector:
    """Takes over from Python until it is stopped; to be made and used on the window's thread."""

    def __init__(self, clock: Clock) -> None:
        self._every = Every(clock, _PAUSE, self.look)

    def start(self) -> None:
        """From now on nothing is collected elsewhere."""
        gc.disable()
        gc.freeze()  # what the start has made stays, and need not be looked at again
        self._every.start()

    def stop(self) -> None:
        """Leave it to Python again."""
        self._every.stop()
        gc.unfreeze()
        gc.enable()

    def look(self) -> None:
        """Collect what Python would have, the youngest first."""
        counts, limits = gc.get_count(), gc.get_threshold()
        due = [generation for generation in range(3) if counts[generation] > limits[generation]]
        if due:
            gc.collect(max(due))
