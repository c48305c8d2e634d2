"""The prompts of the Create page: their text, their length, and those of before."""

from PySide6.QtCore import QObject, Signal

from mezzotint_app.background import Runs
from mezzotint_app.processes.service import Service
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.create.prompt_alternatives import PromptAlternatives
from mezzotint_app.viewmodel.create.prompt_history import PromptHistory
from mezzotint_app.viewmodel.create.prompt_tokens import LONGEST, PromptTokens
from mezzotint_app.viewmodel.create.state import CreateState


class CreateWords(QObject):
    """Prompt and negative prompt."""

    refused = Signal(str)  # a text that was not taken, in words

    def __init__(
        self,
        librarian: Service,
        settings: Stored[Settings],
        state: Stored[CreateState],
        pool: Runs,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings, self._state = settings, state
        self._model = ""
        self.tokens = PromptTokens(librarian, self)
        self.negative_tokens = PromptTokens(librarian, self)
        self.alternatives = PromptAlternatives(pool, self)
        self.alternatives.changed.connect(self._count)
        self._cut()
        self._history = PromptHistory(state.value().history)
        state.changed.connect(self._update)
        settings.changed.connect(self._forget_if_asked)
        self._update()

    def prompt(self) -> str:
        """What the image is to show."""
        return self._state.value().prompt

    def negative_prompt(self) -> str:
        """What it is not to show."""
        return self._state.value().negative_prompt

    def set_prompt(self, text: str) -> bool:
        """Take a text, unless it is longer than anything can read."""
        return self._takes(text) and self._change(prompt=whole_characters(text))

    def set_negative_prompt(self, text: str) -> bool:
        """The same for the negative prompt."""
        return self._takes(text) and self._change(negative_prompt=whole_characters(text))

    def set_model(self, model: str) -> None:
        """Count tokens with the text encoders of this model."""
        self._model = model
        self._count()

    def count_again(self) -> None:
        """Count again: the librarian is back."""
        for tokens in (self.tokens, self.negative_tokens):
            tokens.ask_again()

    def older(self) -> str | None:
        """Go back in the history; the prompt that is now shown, or None at its end."""
        return self._walked(self._history.older(self.prompt()))

    def newer(self) -> str | None:
        """Go forward again, at last to the draft."""
        return self._walked(self._history.newer(self.prompt()))

    def remember(self) -> None:
        """Put the prompt into the history, if the person wants that."""
        if self._settings.value().remember_prompts and self._history.remember(self.prompt()):
            self._state.change(history=self._history.prompts())

    def forget(self) -> None:
        """Empty the history."""
        self._history.forget()
        self._state.change(history=())

    def _forget_if_asked(self) -> None:
        if not self._settings.value().remember_prompts and self._history.prompts():
            self.forget()

    def _walked(self, prompt: str | None) -> str | None:
        if prompt is not None:
            self._change(prompt=prompt)
        return prompt

    def _takes(self, text: str) -> bool:
        if len(text) <= LONGEST:
            return True
        told = self.tr("The text has {count} characters; the limit is {most}. It was not used.")
        self.refused.emit(told.format(count=len(text), most=LONGEST))
        return False

    def _cut(self) -> None:
        """A file may hold more than can be read, or shown in time."""
        kept = self._state.value()
        texts = {"prompt": kept.prompt, "negative_prompt": kept.negative_prompt}
        longer = {name: whole_characters(text[:LONGEST]) for name, text in texts.items() if len(text) > LONGEST}
        if longer:
            self._state.change(**longer)
        if any(len(one) > LONGEST for one in kept.history):
            self._state.change(history=tuple(one for one in kept.history if len(one) <= LONGEST))

    def _change(self, **fields: str) -> bool:
        self._state.change(**fields)
        return True

    def _update(self) -> None:
        self.alternatives.set(self.prompt())
        self._count()

    def _count(self) -> None:
        found = self.alternatives.found()
        prompt = self.prompt()
        self.tokens.set(self._model, found.longest if found.prompt == prompt else prompt)
        self.negative_tokens.set(self._model, self.negative_prompt())


def whole_characters(text: str) -> str:
    """The text, with a mark in place of each half of a character that a broken copy has left: it can be seen there."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
