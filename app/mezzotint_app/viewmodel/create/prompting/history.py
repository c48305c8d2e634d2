"""Prompt history, navigable without losing the current draft."""

from collections.abc import Sequence

MAX_PROMPTS = 100  # prompts
MAX_CHARACTERS = 1 << 18  # of all prompts together


class PromptHistory:
    """A position in the list of prompts; the draft is the text before navigation began."""

    def __init__(self, prompts: Sequence[str] = ()) -> None:
        self._prompts = bounded(prompts)
        self._draft = ""
        self._place = -1  # the draft

    def prompts(self) -> tuple[str, ...]:
        """Return the prompts, the newest first."""
        return self._prompts

    def older(self, written: str) -> str | None:
        """Return the next older prompt, or None at the end of the list."""
        self._note(written)
        place = self._place + 1
        while place < len(self._prompts) and self._prompts[place] == written:
            place += 1
        return self._go(place)

    def newer(self, written: str) -> str | None:
        """Return the next newer prompt, finally the draft; None if that is already shown."""
        self._note(written)
        return self._go(self._place - 1)

    def remember(self, prompt: str) -> bool:
        """Add a prompt to the front; returns whether the list has changed."""
        self._place = -1
        if not prompt.strip():
            return False
        before = self._prompts
        self._prompts = bounded((prompt, *(one for one in before if one != prompt)))
        return self._prompts != before

    def forget(self) -> None:
        """Clear the history."""
        self._prompts, self._place = (), -1

    def _note(self, written: str) -> None:
        """Make edited text the draft, wherever navigation had stopped."""
        shown = self._prompts[self._place] if 0 <= self._place < len(self._prompts) else None
        if shown != written:
            if self._place >= 0 or written != self._draft:
                self._draft = written
            self._place = -1

    def _go(self, place: int) -> str | None:
        if not -1 <= place < len(self._prompts) or place == self._place:
            return None
        self._place = place
        return self._draft if place < 0 else self._prompts[place]


def bounded(prompts: Sequence[str]) -> tuple[str, ...]:
    """Return as many of the newest prompts as the limits allow, skipping any that does not fit."""
    kept: list[str] = []
    room = MAX_CHARACTERS
    for prompt in prompts:
        if len(kept) < MAX_PROMPTS and len(prompt) <= room:
            kept.append(prompt)
            room -= len(prompt)
    return tuple(kept)
