"""Wall-clock seconds per phase."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Literal

from mezzotint.protocol import Timings

Phase = Literal["load", "encode", "decode", "save"]


class Clock:
    """Starts when constructed; code run inside a phase counts towards that phase."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._seconds: dict[Phase | int, float] = {}
        self._steps: dict[int, list[float]] = {}
        self._last_step: float | None = None

    def phase(self, name: Phase) -> AbstractContextManager[None]:
        """Context manager: count the time inside towards phase `name`."""
        return self._count(name)

    def stage(self, index: int) -> AbstractContextManager[None]:
        """Context manager: count the time inside as denoising of stage `index`."""
        return self._count(index)

    def step(self, index: int) -> None:
        """Record that one more step of stage `index` is done."""
        now = time.perf_counter()
        if self._last_step is not None:
            self._steps.setdefault(index, []).append(now - self._last_step)
        self._last_step = now

    @property
    def steps(self) -> Mapping[int, Sequence[float]]:
        """Seconds per step of each stage, without the first step of each image, which loads weights and warms up."""
        return self._steps

    def timings(self, stages: int) -> Timings:
        """The timings of all phases so far."""
        seconds = self._seconds
        return Timings(
            load=seconds.get("load", 0.0),
            encode=seconds.get("encode", 0.0),
            denoise=tuple(seconds.get(stage, 0.0) for stage in range(stages)),
            decode=seconds.get("decode", 0.0),
            save=seconds.get("save", 0.0),
            total=time.perf_counter() - self._started,
        )

    @contextmanager
    def _count(self, key: Phase | int) -> Iterator[None]:
        start, self._last_step = time.perf_counter(), None
        try:
            yield
        finally:
            self._seconds[key] = self._seconds.get(key, 0.0) + time.perf_counter() - start
