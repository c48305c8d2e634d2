"""A language that does not exist: every string is 40 % longer and accented, so that what is clipped is seen."""

import re

from PySide6.QtCore import QObject, QTranslator

_ACCENTS = str.maketrans("aeiouyncsAEIOUYNCS", "áéïöüýñçšÁÉÏÖÜÝÑÇŠ")
_KEPT = re.compile(r"(\{[^}]*\}|%L?n|\[[a-z]+\]|https?://\S*)")
_MORE = " ŵïth möré ŵörðš thän ît hàð béföré"


class LongerWords(QTranslator):
    """To be installed before the widgets are made."""

    def translate(self, context: str, source: str, disambiguation: str | None = None, number: int = -1) -> str:  # noqa: ARG002
        """The same with accents, and more of it; fields stay as they are."""
        return longer(source) if source else source

    def isEmpty(self) -> bool:  # noqa: N802  Qt's name
        """It knows everything."""
        return False


def longer(source: str) -> str:
    """40 % more characters, at least one."""
    parts = _KEPT.split(source)
    accented = "".join(part if _KEPT.fullmatch(part) else part.translate(_ACCENTS) for part in parts)
    more = max(1, round(0.4 * len(source)))
    return accented + (_MORE * (more // len(_MORE) + 1))[:more].rstrip().ljust(more, "~")


def install(application: QObject) -> LongerWords:
    """Let the application speak it."""
    words = LongerWords(application)
    application.installTranslator(words)  # type: ignore[attr-defined]
    return words
