"""Counts the prompts that alternatives such as `{red|blue}` expand to, in a worker thread."""

from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal

from mezzotint.errors import MezzotintError
from mezzotint.jobs.store import alternatives
from mezzotint_app.background import Executor

DELAY = 150  # milliseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternatives:
    """The result of a count."""

    prompt: str  # not expanded
    count: int = 1
    longest: str = ""
    problem: str | None = None


class PromptAlternatives(QObject):
    """Counts alternatives of the latest prompt, one count at a time."""

    changed = Signal()

    def __init__(self, pool: Executor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = pool
        self._prompt = ""
        self._found = Alternatives(prompt="")
        self._counting = False
        self._waiting = QTimer(self)
        self._waiting.setSingleShot(True)
        self._waiting.setInterval(DELAY)
        self._waiting.timeout.connect(self._count)

    def set(self, prompt: str) -> None:
        """Count a prompt after a short delay; without braces or backslashes, at once."""
        if prompt == self._prompt:
            return
        self._prompt = prompt
        if "{" in prompt or "\\" in prompt:
            self._waiting.start()
        else:
            self._waiting.stop()
            self._take(Alternatives(prompt=prompt, longest=prompt))

    def found(self) -> Alternatives:
        """Return the last result."""
        return self._found

    def _count(self) -> None:
        if self._counting:
            return
        self._counting = True
        prompt = self._prompt
        self._pool.run(lambda: counted(prompt), self._counted)

    def _counted(self, found: Alternatives) -> None:
        self._counting = False
        if found.prompt == self._prompt:
            self._take(found)
        elif not self._waiting.isActive():
            self._count()

    def _take(self, found: Alternatives) -> None:
        if found != self._found:
            self._found = found
            self.changed.emit()


def counted(prompt: str) -> Alternatives:
    """Count the alternatives of a prompt, or return the problem with it."""
    try:
        found = alternatives(prompt)
    except MezzotintError as error:
        return Alternatives(prompt=prompt, longest=prompt, problem=str(error))
    return Alternatives(prompt=prompt, count=len(found), longest=max(found, key=len))
