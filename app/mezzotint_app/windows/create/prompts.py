"""The prompt and negative prompt on the Create page."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from mezzotint_app.viewmodel.create.create import CreateModel
from mezzotint_app.viewmodel.create.prompting.tokens import LONGEST, PromptTokens
from mezzotint_app.widgets.icon_button import icon_button
from mezzotint_app.widgets.inputs.field import Field
from mezzotint_app.widgets.inputs.prompt_edit import PromptEdit
from mezzotint_app.widgets.labels import plain_label
from mezzotint_app.windows.create.history_dialog import HistoryDialog
from mezzotint_app.windows.create.style_bar import StyleBar
from mezzotint_app.windows.create.wildcards_dialog import WildcardsDialog

_EXAMPLE = 300  # characters of an example


class TokenLine(QWidget):
    """The length of a prompt in tokens, and what the model ignores of it."""

    def __init__(self, tokens: PromptTokens) -> None:
        super().__init__()
        self._tokens = tokens
        self._count = plain_label(role="muted", wrap=True)
        self._over = plain_label(role="warning", wrap=True)
        self._hint = plain_label(role="warning", wrap=True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        for label in (self._count, self._over, self._hint):
            layout.addWidget(label)
        tokens.changed.connect(self._show)
        self._show()

    def words(self) -> str:
        """The shown text."""
        shown = [one.text() for one in (self._count, self._over, self._hint) if not one.isHidden()]
        return "\n".join(shown)

    def show_hint(self, text: str) -> None:
        """Show a hint about weights."""
        self._hint.setText(text)
        self._hint.setVisible(bool(text))

    def _show(self) -> None:
        over = self._tokens.is_over()
        self._count.setText(self._tokens.line())
        self._over.setText(self._tokens.line())
        self._count.setVisible(not over and bool(self._tokens.line()) and not self._tokens.is_empty())
        self._over.setVisible(over)
        self.show_hint(self._tokens.hint())


class CreatePrompts(QWidget):
    """Both prompts, with undo; the texts themselves are stored in the view model."""

    generate_wanted = Signal(bool)
    message = Signal(str)

    def __init__(self, model: CreateModel) -> None:
        super().__init__()
        self._words = model.prompts
        self._model = model
        self.prompt = PromptEdit(
            self.tr("Prompt"),
            self.tr(
                "What the image is to show. Ctrl+Up and Ctrl+Down: change the weight of the word; Alt+Up and Alt+Down:"
                " earlier prompts; {red|blue}: one image for each; Ctrl+Enter: Generate"
            ),
            lines=5,
            completion=self._words.completion,
        )
        self.negative = PromptEdit(
            self.tr("Negative prompt"),
            self.tr("What the image should not show; optional"),
            lines=2,
            completion=self._words.negative_completion,
        )
        self.history = icon_button("search", self.tr("Earlier prompts"))
        self.history.clicked.connect(self.open_history)
        self.wildcards = icon_button("log", self.tr("Wildcards…"))
        self.wildcards.clicked.connect(self.open_wildcards)
        self._lines = TokenLine(self._words.tokens), TokenLine(self._words.negative_tokens)
        self._field = Field(self.tr("Prompt"), self.prompt)
        self._negative_field = Field(self.tr("Negative prompt"), self.negative)
        self._alternatives = plain_label(role="muted", wrap=True)
        self.styles = StyleBar(model)
        self._draws = plain_label(role="muted", wrap=True)
        self._undrawn = plain_label(role="warning", wrap=True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        counted = QHBoxLayout()
        counted.setSpacing(8)
        counted.addWidget(self._lines[0], 1)
        for button in (self.wildcards, self.history):
            counted.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self._field)
        layout.addLayout(counted)
        for label in (self._alternatives, self._draws, self._undrawn):
            layout.addWidget(label)
        layout.addSpacing(8)
        for widget in (self._negative_field, self._lines[1]):
            layout.addWidget(widget)
        layout.addWidget(self.styles)
        self._connect()
        self.show_model()

    def show_model(self) -> None:
        """Show the prompts and what is known about them."""
        words = self._words
        self.styles.show_model()
        self.prompt.show_text(words.prompt())
        self.negative.show_text(words.negative_prompt())
        self._show_draws()
        draws = words.draws.draws(words.prompt())
        count = 1 if draws else words.alternatives.found().count
        message = self.tr("{count} different prompts, one after another").format(count=count)
        self._alternatives.setText(message if count > 1 else "")
        self._alternatives.setVisible(count > 1)
        for edit, tokens in ((self.prompt, words.tokens), (self.negative, words.negative_tokens)):
            edit.set_weighs(tokens.honours_weights() is not False)
        self._show_negative(words.negative_prompt())

    def open_history(self) -> HistoryDialog:
        """Open the search in earlier prompts."""
        dialog = HistoryDialog(self._words, self)
        dialog.chosen.connect(self._words.set_prompt)
        dialog.open()
        return dialog

    def open_wildcards(self) -> WildcardsDialog:
        """Open the editor of wildcards."""
        dialog = WildcardsDialog(self._words.wildcards, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.insert_asked.connect(
            lambda word: self._words.set_prompt(" ".join(filter(None, (self._words.prompt().rstrip(), word))))
        )
        dialog.open()
        return dialog

    def fields(self) -> dict[str, Field]:
        """The fields by the names used in problems."""
        return {"prompt": self._field, "negative_prompt": self._negative_field}

    def token_lines(self) -> tuple[TokenLine, TokenLine]:
        """The token lines of prompt and negative prompt."""
        return self._lines

    def _connect(self) -> None:
        self.prompt.edited.connect(self._prompt_edited)
        self.negative.edited.connect(self._negative_edited)
        for edit, line in ((self.prompt, self._lines[0]), (self.negative, self._lines[1])):
            edit.generate_wanted.connect(self.generate_wanted)
            edit.refused.connect(self._refused)
            edit.weights_unread.connect(lambda line=line: line.show_hint(self._unread()))
        self.prompt.lora_dropped.connect(self._model.add_lora)
        self._words.draws.changed.connect(self.show_model)
        self.prompt.older_wanted.connect(self._words.older)
        self.prompt.newer_wanted.connect(self._words.newer)
        self._words.tokens.changed.connect(self.show_model)
        self._words.negative_tokens.changed.connect(self.show_model)

    def _show_draws(self) -> None:
        """Show what the wildcards could stand for."""
        draws = self._words.draws
        examples = "\n".join(f"{number}. {one[:_EXAMPLE]}" for number, one in enumerate(draws.examples(), 1))
        self._draws.setText(self.tr("Drawn for each image, for example:") + f"\n{examples}" if examples else "")
        self._draws.setVisible(bool(examples))
        self._undrawn.setText(draws.problem())
        self._undrawn.setVisible(bool(draws.problem()))

    def _prompt_edited(self, text: str) -> None:
        if not self._words.set_prompt(text):
            self.prompt.show_text(self._words.prompt())

    def _negative_edited(self, text: str) -> None:
        if not self._words.set_negative_prompt(text):
            self.negative.show_text(self._words.negative_prompt())

    def _refused(self, count: int) -> None:
        message = self.tr("The text would have {count} characters; the limit is {most}. Nothing was pasted.")
        self.message.emit(message.format(count=count, most=LONGEST))

    def _unread(self) -> str:
        return self.tr("This model ignores prompt weights; nothing was changed.")

    def _show_negative(self, text: str) -> None:
        """Distilled models ignore the negative prompt: its field is shown for them only while it has text."""
        own, info = self._model.chosen.own(), self._model.chosen.info()
        settings = self._model.chosen.settings()
        scale = settings.guidance_scale
        distilled = own is not None and own.guidance_scale <= 1 and (scale is None or scale <= 1)
        embedded = info is not None and info.guidance == "embedded" and (settings.true_cfg_scale or 1) <= 1
        hint = ""
        if embedded:
            hint = self.tr("This model ignores the negative prompt.")
        elif distilled or (scale is not None and scale <= 1):
            hint = self.tr("The negative prompt is ignored at a CFG scale of 1 or less.")
        shown = bool(text) or not (embedded or distilled)
        self._negative_field.set_hint(hint)
        self._negative_field.setVisible(shown)
        self._lines[1].setVisible(shown)
