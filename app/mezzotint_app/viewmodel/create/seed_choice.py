"""The seed: random for each image, or fixed; a fixed one with unchanged settings repeats the image."""

import random
from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject

from mezzotint.jobs.store import Task
from mezzotint.protocol import GeneratedImage, GenerateRequest, Output
from mezzotint.request_protocol import MAX_SEED
from mezzotint_app.processes.service import Failure
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.create.state import CreateState
from mezzotint_app.viewmodel.queue.running import Runner

DRAWN_BELOW = 2**32  # range that other programs can read
MAX_REQUESTS = 1000  # requests remembered


class SeedChoice(QObject):
    """The seed setting, stored in the page's state."""

    def __init__(
        self,
        state: Stored[CreateState],
        last: Callable[[], int | None],
        parent: QObject | None = None,
        *,
        draw: Callable[[int], int] = random.randrange,
    ) -> None:
        super().__init__(parent)
        self._state, self._last, self._draw = state, last, draw

    def fixed(self) -> bool:
        """Whether a fixed seed is used."""
        return self._state.value().seed_fixed and self._state.value().seed is not None

    def value(self) -> int | None:
        """Return the fixed seed, or None if seeds are random."""
        return self._state.value().seed if self.fixed() else None

    def shown(self) -> int | None:
        """Return the last fixed seed, whether in use or not."""
        return self._state.value().seed

    def set(self, seed: int) -> None:
        """Fix this seed."""
        self._state.change(seed=min(max(seed, 0), MAX_SEED), seed_fixed=True)

    def fix(self, fixed: bool) -> None:
        """Fix the displayed seed (drawing one if there is none), or use random seeds."""
        if fixed and self.shown() is None:
            self.roll()
        else:
            self._state.change(seed_fixed=fixed)

    def roll(self) -> None:
        """Draw a seed and fix it."""
        self.set(self._draw(DRAWN_BELOW))

    def can_reuse(self) -> bool:
        """Whether the seed of the last image is known."""
        return self._last() is not None

    def reuse(self) -> None:
        """Fix the last image's seed."""
        last = self._last()
        if last is not None:
            self.set(last)


class RequestHistory(QObject):
    """The requests since start-up, except failed ones, for detecting repetitions."""

    def __init__(self, runner: Runner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._requests: dict[GenerateRequest, None] = {}
        runner.saved.connect(self._saved)
        runner.ended.connect(self._ended)

    def remember(self, request: GenerateRequest) -> None:
        """Remember a queued request."""
        while len(self._requests) >= MAX_REQUESTS:
            del self._requests[next(iter(self._requests))]
        identity = _identity(request)
        self._requests.pop(identity, None)
        self._requests[identity] = None

    def contains(self, request: GenerateRequest) -> bool:
        """Whether the request's first image was already requested; never true without a seed."""
        return request.seed is not None and _identity(request) in self._requests

    def last(self) -> GenerateRequest | None:
        """Return the last request queued or completed."""
        return next(reversed(self._requests), None)

    def _saved(self, task: Task, image: GeneratedImage) -> None:
        """Remember the request with the seed that was drawn, which the user may fix afterwards."""
        self.remember(replace(task.request, seed=image.seed))

    def _ended(self, task: Task, _result: object, failure: Failure | None) -> None:
        if failure is not None:
            self._requests.pop(_identity(task.request), None)


def _identity(request: GenerateRequest) -> GenerateRequest:
    """Return the request without what changes no pixel, and without count: its first image is the same."""
    return replace(request, count=1, previews=False, output=Output())
