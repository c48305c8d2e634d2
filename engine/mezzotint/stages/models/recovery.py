"""Recovery from memory shortage: free memory, then retry."""

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from mezzotint.checkpoints.plain_text import size
from mezzotint.errors import OutOfMemory
from mezzotint.memory.shortage import is_ram_shortage, is_shortage

T = TypeVar("T")

_MOST_TRIES = 200  # per piece of work: no ladder has so many rungs


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One way to free memory, repeated until `take` returns None."""

    take: Callable[[], str | None]  # description of what was done; None: nothing more to free this way
    changes_image: bool = False
    silent: bool = False  # not reported


class Recovery:
    """Runs the work of one job, and retries it with more memory after a shortage."""

    def __init__(self, *, strict: bool, notify: Callable[[str, str], None]) -> None:
        self._strict, self.notify = strict, notify
        self._taken: list[str] = []

    @property
    def taken(self) -> tuple[str, ...]:
        """The measures taken, in order, each once."""
        return tuple(dict.fromkeys(self._taken))

    def run(self, make: Callable[[], T], reset: Callable[[], None], rungs: Sequence[Rung], what: str) -> T:
        """Return the result of `make`, retried as often as needed; `reset` undoes the failed attempt before each retry.

        Raises OutOfMemory, with the numbers, if no rung is left; other errors propagate.
        """
        for _ in range(_MOST_TRIES):
            try:
                return make()
            except Exception as error:
                if not is_shortage(error):
                    raise
                reason = reason_of(error)
                traceback.clear_frames(error.__traceback__)  # frames hold the tensors computed so far
            reset()
            self._make_room(rungs, what, reason)
        raise OutOfMemory(f"{what} ran out of memory {_MOST_TRIES} times: {reason}")

    def _make_room(self, rungs: Sequence[Rung], what: str, reason: str) -> None:
        held_back = False
        for rung in rungs:
            if rung.changes_image and self._strict:
                held_back = True
                continue
            done = rung.take()
            if done is not None:
                if not rung.silent:
                    self._tell(done, what)
                return
        advice = "allow measures that change the image (leave out --strict)" if held_back else "make a smaller image"
        raise OutOfMemory(f"{what} ran out of memory, and nothing more can be freed: {reason}; {advice}")

    def take(self, done: str, what: str) -> None:
        """Take a measure that changes the image, outside of `run`; raises OutOfMemory if none may be taken."""
        if self._strict:
            raise OutOfMemory(
                f"{what} ran out of memory; allow measures that change the image (leave out --strict): {done}"
            )
        self._tell(done, what)

    def _tell(self, done: str, what: str) -> None:
        self._taken.append(done)
        self.notify("memory_short", f"{what} ran out of memory and was retried: {done}")


def reason_of(error: Exception) -> str:
    """A shortage's message; for a RAM shortage, with the RAM available."""
    words = str(error).partition("\n")[0][:300]
    if not is_ram_shortage(error):
        return words
    import psutil

    now = psutil.virtual_memory()
    return f"{words or 'no RAM is left'} ({size(now.available)} of {size(now.total)} are free)"
