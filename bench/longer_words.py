"""Pseudo-localization: every string is accented and 40 % longer, to reveal clipped text."""

import re

from PySide6.QtCore import QObject, QTranslator

_ACCENTS = str.maketrans("aeiouyncsAEIOUYNCS", "áéïöüýñçšÁÉÏÖÜÝÑÇŠ")
_KEPT = re.compile(r"(\{[^}]*\}|%L?n|\[[a-z]+\]|https?://\S*)")
_MORE = " ŵïth möré ŵörðš thän ît hàð béföré"


class LongerWords(QTranslator):
    """Translator to install before any widgets are created."""

    def translate(self, context: str, source: str, disambiguation: str | None = None, number: int = -1) -> str:  # noqa: ARG002
        """Return the source text accented and lengthened; placeholders stay intact."""
        return longer(source) if source else source

    def isEmpty(self) -> bool:  # noqa: N802  Qt's name
        """Return False: every text has a translation."""
        return False


def longer(source: str) -> str:
    """Return the text with accents and 40 % more characters, at least one."""
    parts = _KEPT.split(source)
    accented = "".join(part if _KEPT.fullmatch(part) else part.translate(_ACCENTS) for part in parts)
    more = max(1, round(0.4 * len(source)))
    return accented + (_MORE * (more // len(_MORE) + 1))[:more].rstrip().ljust(more, "~")


def install(application: QObject) -> LongerWords:
    """Install the translator in the application."""
    words = LongerWords(application)
    application.installTranslator(words)  # type: ignore[attr-defined]
    return words
