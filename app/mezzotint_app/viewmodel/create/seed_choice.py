"""The seed: drawn anew for each image, or kept."""

import random
from collections.abc import Callable

from PySide6.QtCore import QObject

from mezzotint.request_protocol import MAX_SEED
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.create.state import CreateState

DRAWN_BELOW = 2**32  # what other programs can read back


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
        """Keep this one."""
        self._state.change(seed=min(max(seed, 0), MAX_SEED), seed_fixed=True)

    def fix(self, fixed: bool) -> None:
        """Keep the one that is shown (one is drawn where there is none), or draw anew each time."""
        if fixed and self.shown() is None:
            self.roll()
        else:
            self._state.change(seed_fixed=fixed)

    def roll(self) -> None:
        """Draw one now, and keep it."""
        self.set(self._draw(DRAWN_BELOW))

    def can_reuse(self) -> bool:
        """Whether an image was made whose seed is known."""
        return self._last() is not None

    def reuse(self) -> None:
        """Keep that of the last image."""
        last = self._last()
        if last is not None:
            self.set(last)
