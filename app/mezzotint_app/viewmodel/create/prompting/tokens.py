"""Token counts of the prompt per text encoder, computed by the library service shortly after typing stops."""

from PySide6.QtCore import QObject, QTimer, Signal

from mezzotint.library_protocol import TokenCount, TokenRequest
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.viewmodel.create.prompting.weights import has_weights

LONGEST = 65_536  # characters accepted by the engine
DELAY = 150  # milliseconds


class PromptTokens(QObject):
    """Counts the latest prompt, with at most one query in flight; stale replies are dropped."""

    changed = Signal()

    def __init__(self, librarian: Service, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._librarian = librarian
        self._wanted = TokenRequest(model="", prompt="")
        self._counts: tuple[TokenCount, ...] = ()
        self._weighted = False
        self._failed = False
        self._open: int | None = None
        self._waiting = QTimer(self)
        self._waiting.setSingleShot(True)
        self._waiting.setInterval(DELAY)
        self._waiting.timeout.connect(self._ask)

    def set(self, model: str, prompt: str) -> None:
        """Count this prompt after a short delay."""
        wanted = TokenRequest(model=model, prompt=prompt)
        if wanted == self._wanted:
            return
        if model != self._wanted.model and self._counts:
            self._counts = ()
            self.changed.emit()
        self._wanted = wanted
        self._waiting.start()

    def ask_again(self) -> None:
        """Retry a failed count."""
        if self._failed:
            self._waiting.start()

    def counts(self) -> tuple[TokenCount, ...]:
        """Return the last counts, one per text encoder."""
        return self._counts

    def honours_weights(self) -> bool | None:
        """Whether the model supports prompt weights such as `(words:1.2)`; None if unknown."""
        return any(one.honours_weights for one in self._counts) if self._counts else None

    def is_empty(self) -> bool:
        """Whether the prompt is empty."""
        return not self._wanted.prompt

    def is_over(self) -> bool:
        """Whether the prompt is truncated or too long to be processed."""
        return len(self._wanted.prompt) > LONGEST or any(one.cut for one in self._counts)

    def line(self) -> str:
        """Return the counts as text."""
        if len(self._wanted.prompt) > LONGEST:
            return self.tr("{count} characters: the limit is {most}").format(
                count=len(self._wanted.prompt), most=LONGEST
            )
        if self._failed:
            return self.tr("Tokens could not be counted")
        texts = {self._words(one): one.encoder for one in self._counts}
        if len(texts) == 1:
            return next(iter(texts))
        return "; ".join(f"{encoder}: {words}" for words, encoder in texts.items())

    def hint(self) -> str:
        """Return a warning if the prompt has weights that the model ignores, otherwise ""."""
        if self._weighted and self.honours_weights() is False:
            return self.tr("This model ignores prompt weights such as (word:1.2).")
        return ""

    def _words(self, count: TokenCount) -> str:
        counted = self.tr("{tokens} of {limit} tokens").format(tokens=count.tokens, limit=count.limit)
        if count.cut:
            return self.tr("{counted}: truncated after {limit}").format(counted=counted, limit=count.limit)
        if len(count.parts) > 1:
            parts = " + ".join(map(str, count.parts))
            return self.tr("{parts} of {limit} tokens each").format(parts=parts, limit=count.limit)
        if count.chunks > 1:
            return self.tr("{counted}: read in {parts} parts").format(counted=counted, parts=count.chunks)
        return counted

    def _ask(self) -> None:
        if self._open is not None:
            return  # the reply triggers the next query
        wanted = self._wanted
        if not wanted.model or len(wanted.prompt) > LONGEST:
            self._take(wanted, ())
            return
        self._open = self._librarian.ask(
            "tokens",
            wanted,
            answer=tuple[TokenCount, ...],
            then=lambda counts: self._answered(wanted, tuple(counts)),
            failed=lambda failure: self._refused(wanted, failure),
        )

    def _answered(self, asked: TokenRequest, counts: tuple[TokenCount, ...]) -> None:
        self._open = None
        if asked == self._wanted:
            self._take(asked, counts)
        elif not self._waiting.isActive():
            self._ask()

    def _refused(self, asked: TokenRequest, failure: Failure) -> None:
        self._open = None
        if asked == self._wanted:
            self._take(asked, (), failed=failure.kind != "cancelled")
        elif not self._waiting.isActive():
            self._ask()

    def _take(self, counted: TokenRequest, counts: tuple[TokenCount, ...], *, failed: bool = False) -> None:
        self._counts, self._failed = counts, failed
        self._weighted = len(counted.prompt) <= LONGEST and has_weights(counted.prompt)
        self.changed.emit()
