"""Wildcards such as `__animal__`: what would be drawn for them, and the prompts of a job's images."""

import re
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from mezzotint.batch_protocol import DrawRequest
from mezzotint_app.processes.service import Service
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored

DELAY = 250  # milliseconds
_SHOWN = (1, 2, 3)  # seeds of the examples
_WILDCARD = re.compile(r"__[\w*][\w.*/-]{0,200}?__")


class PromptDraws(QObject):
    """Examples of what is drawn for the latest prompt; stale answers are dropped."""

    changed = Signal()

    def __init__(self, librarian: Service, settings: Stored[Settings], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._librarian, self._settings = librarian, settings
        self._wanted = ("", "")  # prompt and folder
        self._examples: tuple[str, ...] = ()
        self._problem = ""
        self._waiting = QTimer(self)
        self._waiting.setSingleShot(True)
        self._waiting.setInterval(DELAY)
        self._waiting.timeout.connect(self._ask)
        settings.changed.connect(lambda: self.set(self._wanted[0]))

    def set(self, prompt: str) -> None:
        """Draw for this prompt after a short delay, if it has wildcards and there is a folder of them."""
        folder = self._settings.value().wildcard_folder
        if (prompt, folder) == self._wanted:
            return
        self._wanted = (prompt, folder)
        if self.draws(prompt):
            self._waiting.start()
        else:
            self._waiting.stop()
            self._take(())

    def draws(self, prompt: str) -> bool:
        """Whether something is drawn for each image."""
        return bool(self._settings.value().wildcard_folder) and _WILDCARD.search(prompt) is not None

    def examples(self) -> tuple[str, ...]:
        """Return what could be drawn."""
        return self._examples

    def problem(self) -> str:
        """Return why nothing can be drawn; empty if it can."""
        return self._problem

    def draw(
        self,
        prompt: str,
        seeds: tuple[int, ...],
        then: Callable[[tuple[str, ...]], None],
        failed: Callable[[str], None],
    ) -> None:
        """Pass the prompt of each seed to `then`, or the reason why there is none to `failed`."""
        self._librarian.ask(
            "draw",
            DrawRequest(prompt=prompt, wildcards=self._settings.value().wildcard_folder, seeds=seeds),
            answer=tuple[str, ...],
            then=lambda prompts: then(tuple(prompts)),
            failed=lambda failure: failed(failure.message),
        )

    def _ask(self) -> None:
        wanted = self._wanted

        def drawn(prompts: tuple[str, ...]) -> None:
            if wanted == self._wanted:
                self._take(tuple(dict.fromkeys(prompts)))

        def refused(reason: str) -> None:
            if wanted == self._wanted:
                self._take((), reason)

        self.draw(wanted[0], _SHOWN, drawn, refused)

    def _take(self, examples: tuple[str, ...], problem: str = "") -> None:
        if (examples, problem) != (self._examples, self._problem):
            self._examples, self._problem = examples, problem
            self.changed.emit()
