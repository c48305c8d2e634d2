"""The Create page's prompts: text, token counts and history."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from mezzotint.values.style_text import with_styles
from mezzotint_app.background import Executor
from mezzotint_app.processes.service import Service
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.create.prompting.alternatives import PromptAlternatives
from mezzotint_app.viewmodel.create.prompting.completion import PromptCompletion
from mezzotint_app.viewmodel.create.prompting.draws import PromptDraws
from mezzotint_app.viewmodel.create.prompting.history import PromptHistory
from mezzotint_app.viewmodel.create.prompting.tokens import LONGEST, PromptTokens
from mezzotint_app.viewmodel.create.prompting.wildcard_editor import WildcardEditor
from mezzotint_app.viewmodel.create.state import CreateState


class Prompts(QObject):
    """Prompt and negative prompt."""

    refused = Signal(str)  # why a text was rejected

    def __init__(
        self,
        librarian: Service,
        settings: Stored[Settings],
        state: Stored[CreateState],
        pool: Executor,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings, self._state = settings, state
        self._model = ""
        self.tokens = PromptTokens(librarian, self)
        self.negative_tokens = PromptTokens(librarian, self)
        self.completion = PromptCompletion(librarian, settings, self)
        self.negative_completion = PromptCompletion(librarian, settings, self)
        self.draws = PromptDraws(librarian, settings, self)
        self.wildcards = WildcardEditor(librarian, settings, self)
        self.alternatives = PromptAlternatives(pool, self)
        self.alternatives.changed.connect(self._count)
        self._cut()
        self._history = PromptHistory(state.value().history)
        state.changed.connect(self._update)
        settings.changed.connect(self._forget_if_asked)
        self._update()

    def prompt(self) -> str:
        """Return the prompt."""
        return self._state.value().prompt

    def negative_prompt(self) -> str:
        """Return the negative prompt."""
        return self._state.value().negative_prompt

    def styled_prompt(self) -> str:
        """Return the prompt with the texts of the styles in use."""
        state = self._state.value()
        return with_styles(state.prompt, (one.prompt for one in state.styles if one.prompt))

    def styled_negative_prompt(self) -> str:
        """Return the negative prompt with the texts of the styles in use."""
        state = self._state.value()
        return with_styles(state.negative_prompt, (one.negative for one in state.styles if one.negative))

    def set_prompt(self, text: str) -> bool:
        """Set the prompt; returns False if it is too long."""
        return self._takes(text) and self._change(prompt=whole_characters(text))

    def set_negative_prompt(self, text: str) -> bool:
        """Set the negative prompt; returns False if it is too long."""
        return self._takes(text) and self._change(negative_prompt=whole_characters(text))

    def set_model(self, model: str) -> None:
        """Set the model whose text encoders count the tokens."""
        self._model = model
        self._count()

    def count_again(self) -> None:
        """Retry failed counts, because the library service is available again."""
        for tokens in (self.tokens, self.negative_tokens):
            tokens.ask_again()

    def older(self) -> str | None:
        """Go back in the history; returns the prompt now shown, or None at its end."""
        return self._walked(self._history.older(self.prompt()))

    def newer(self) -> str | None:
        """Go forward in the history, finally to the draft; returns the prompt now shown, or None."""
        return self._walked(self._history.newer(self.prompt()))

    def remember(self) -> None:
        """Add the prompt to the history, if enabled in the settings."""
        if self._settings.value().remember_prompts and self._history.remember(self.prompt()):
            self._state.change(history=self._history.prompts())

    def earlier(self, search: str = "") -> tuple[str, ...]:
        """Return the prompts of the history that contain all words of a search, the newest first."""
        words = search.lower().split()
        return tuple(one for one in self._history.prompts() if all(word in one.lower() for word in words))

    def forget(self) -> None:
        """Clear the history."""
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
        message = self.tr("The text has {count} characters; the limit is {most}. It was not used.")
        self.refused.emit(message.format(count=len(text), most=LONGEST))
        return False

    def _cut(self) -> None:
        """Truncate stored texts that are too long to process or show."""
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
        self.alternatives.set(self.styled_prompt())
        self.draws.set(self.styled_prompt())
        self._count()

    def _count(self) -> None:
        found = self.alternatives.found()
        prompt = self.styled_prompt() if self.prompt() else ""
        self.tokens.set(self._model, found.longest if found.prompt == prompt else prompt)
        self.negative_tokens.set(self._model, self.styled_negative_prompt())


def whole_characters(text: str) -> str:
    """Replace lone surrogates, left by a broken copy, with a visible replacement character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def with_words(prompt: str, words: Sequence[str]) -> str:
    """A prompt with the trigger words that it lacks at its end; a sentence that ends in a space goes on with them."""
    missing = ", ".join(one for one in words if one.lower() not in prompt.lower())
    if not missing:
        return prompt
    if prompt.endswith(" ") and not prompt.rstrip().endswith(","):
        return prompt + missing
    return ", ".join(filter(None, (prompt.rstrip(" ,"), missing)))
