"""The seed: drawn anew for each image, or kept; kept with nothing else changed, it makes the same image again."""

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

DRAWN_BELOW = 2**32  # what other programs can read back
MOST = 1000  # requests that are remembered


class SeedChoice(QObject):
    """What is kept of it is in the state."""

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
        """Whether the same one is used each time."""
        return self._state.value().seed_fixed and self._state.value().seed is not None

    def value(self) -> int | None:
        """The one that is kept; None: another is drawn each time."""
        return self._state.value().seed if self.fixed() else None

    def shown(self) -> int | None:
        """The one that was kept last, whether it is in use or not."""
        return self._state.value().seed

    def set(self, seed: int) -> None:
        """Lock this seed."""
        self._state.change(seed=min(max(seed, 0), MAX_SEED), seed_fixed=True)

    def fix(self, fixed: bool) -> None:
        """Keep the one that is shown (one is drawn where there is none), or draw anew each time."""
        if fixed and self.shown() is None:
            self.roll()
        else:
            self._state.change(seed_fixed=fixed)

    def roll(self) -> None:
        """Draw a seed and lock it."""
        self.set(self._draw(DRAWN_BELOW))

    def can_reuse(self) -> bool:
        """Whether an image was made whose seed is known."""
        return self._last() is not None

    def reuse(self) -> None:
        """Lock the last image's seed."""
        last = self._last()
        if last is not None:
            self.set(last)


class Repeats(QObject):
    """What was asked for since the start, less what came to nothing; asked for again, it is made twice."""

    def __init__(self, runner: Runner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._asked: dict[GenerateRequest, None] = {}
        runner.saved.connect(self._saved)
        runner.ended.connect(self._ended)

    def remember(self, request: GenerateRequest) -> None:
        """Remember that it was queued."""
        while len(self._asked) >= MOST:
            del self._asked[next(iter(self._asked))]
        decides = _what_decides(request)
        self._asked.pop(decides, None)
        self._asked[decides] = None

    def holds(self, request: GenerateRequest) -> bool:
        """Whether its first image was asked for already; one without a seed never was."""
        return request.seed is not None and _what_decides(request) in self._asked

    def last(self) -> GenerateRequest | None:
        """What was asked for, or made, last."""
        return next(reversed(self._asked), None)

    def _saved(self, task: Task, image: GeneratedImage) -> None:
        """With the seed that was drawn for it, which can be locked afterwards."""
        self.remember(replace(task.request, seed=image.seed))

    def _ended(self, task: Task, _result: object, failure: Failure | None) -> None:
        if failure is not None:
            self._asked.pop(_what_decides(task.request), None)


def _what_decides(request: GenerateRequest) -> GenerateRequest:
    """Without what changes no pixel, and without the count: the first image is the same."""
    return replace(request, count=1, previews=False, output=Output())
