"""Pausing a run while the disk is full or no longer writable. The tasks are not at fault."""

import contextlib
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from mezzotint.batch.run.room import TRIAL_BYTES, is_full, is_of_name, why_no_room
from mezzotint.batch.tasks.tasks import BatchTask
from mezzotint.errors import StorageError

_LOOK = 2.0  # seconds between trials
_SMALLEST = 64 << 10  # bytes
_TRIES = 3  # of one task, if there seems to be room, or if the disk fails for another reason


class Pause:
    """Whether the run is paused, and until when."""

    def __init__(
        self, folder: Path, clock: Callable[[], float], trial: Callable[[Path, int], str | None] | None = None
    ) -> None:
        self._folder, self._clock = folder, clock
        self._trial = trial or partial(why_no_room, output=folder)
        self._folders = {folder}  # folders that must be writable before the run resumes
        self._next = 0.0
        self._largest = 0
        self._tries: Counter[str] = Counter()
        self._failures: Counter[str] = Counter()
        self.is_on = False

    def wrote(self, image: Path) -> None:
        """Record the size of a written image; the largest determines how much room the next one needs."""
        with contextlib.suppress(OSError):
            self._largest = max(self._largest, image.stat().st_size)

    def is_for_room(self, task: BatchTask, error: StorageError) -> bool:
        """Whether the disk is to blame for an error, and not the task; if there is room, only for a few tries.

        A folder that cannot exist, because of its name or what is in its way, affects only the tasks that write there.
        """
        folder = (self._folder / task.output).parent
        why = self._trial(folder, self._size())
        if why is not None:
            if is_of_name(why) and self._trial(self._folder, self._size()) is None:
                return False
            self._folders.add(folder)
            return True
        self._tries[task.key] += is_full(error)
        return 0 < self._tries[task.key] <= _TRIES

    def is_transient(self, task: BatchTask, error: StorageError) -> bool:
        """Whether a task is tried again at once, a few times: after an error of the disk, but not of the name."""
        if error.kind != StorageError.kind or is_of_name(str(error)):
            return False
        self._failures[task.key] += 1
        return self._failures[task.key] < _TRIES

    def begin(self) -> None:
        """Start the pause, and schedule the next check."""
        self.is_on = True
        self._next = self._clock() + _LOOK

    def is_over(self) -> bool:
        """Whether there is room again; checked only every few seconds."""
        if self._clock() < self._next:
            return False
        self._next = self._clock() + _LOOK
        return all(self._trial(folder, self._size()) is None for folder in self._folders)

    def end(self) -> None:
        """End the pause."""
        self.is_on = False
        self._folders = {self._folder}

    def _size(self) -> int:
        return max(_SMALLEST, 2 * self._largest) if self._largest else TRIAL_BYTES
