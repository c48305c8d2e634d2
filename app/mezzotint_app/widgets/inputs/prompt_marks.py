"""Highlights the syntax of prompts."""

from PySide6.QtGui import QFont, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from mezzotint_app import theme
from mezzotint_app.viewmodel.create.prompting.syntax import Meaning, marks
from mezzotint_app.widgets.inputs.text_places import TextPlaces

_MARKED = 8_000  # characters of a line above which nothing is highlighted


class PromptMarks(QSyntaxHighlighter):
    """Weights above 1 in bold, below 1 in italics; wildcards and bars in colour; brackets without a partner wavy."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)

    def highlightBlock(self, text: str) -> None:  # noqa: N802
        """Highlight one line."""
        if len(text) > _MARKED:
            return
        places = TextPlaces(text)
        for mark in marks(text):
            begin = places.position(mark.start)
            length = places.position(mark.end) - begin
            if mark.meaning in ("stronger", "weaker") or length == 0:
                self.setFormat(begin, length, _form(mark.meaning))
                continue
            for at in range(begin, begin + length):
                form = QTextCharFormat(self.format(at))
                form.merge(_form(mark.meaning))
                self.setFormat(at, 1, form)


def _form(meaning: Meaning) -> QTextCharFormat:
    form = QTextCharFormat()
    if meaning == "stronger":
        form.setFontWeight(QFont.Weight.Bold)
    elif meaning == "weaker":
        form.setFontItalic(True)
    elif meaning == "error":
        form.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
        form.setUnderlineColor(theme.colour("danger"))
        form.setForeground(theme.colour("danger"))
    elif meaning == "tag":
        form.setForeground(theme.colour("muted"))
        form.setFontStrikeOut(True)  # read by other programs alone
    else:
        form.setForeground(theme.colour("muted" if meaning == "quiet" else "accent"))
    return form
