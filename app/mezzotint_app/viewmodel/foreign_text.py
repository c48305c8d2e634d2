"""Text by strangers made fit to be shown: bounded, and without marks that are not seen."""

import html
import re
import unicodedata

_JOINERS = {"\u200c", "\u200d"}  # that words and emoji are spelled with
_ELLIPSIS = "…"
_LONG_WORD = re.compile(r"(\S{24})(?=\S)")
_MAY_BREAK = "\u200b"


def in_one_line(text: str, most: int = 300) -> str:
    """Its beginning on one line, for a cell or a label."""
    start = visible(text[: 4 * most])
    words = " ".join(start.split())
    shortened = len(words) > most or len(text) > 4 * most
    return words[:most] + _ELLIPSIS if shortened else words


def in_lines(text: str, most: int = 600) -> str:
    """Its beginning for a label that wraps: a word without end is broken, and does not widen the window."""
    return _LONG_WORD.sub(rf"\1{_MAY_BREAK}", in_one_line(text, most))


def in_full(text: str, most: int = 20_000) -> tuple[str, int]:
    """Its beginning with its lines, and how many characters are left out: a page of text that is shown at once."""
    return visible(text[:most], keep="\n"), max(len(text) - most, 0)


def visible(text: str, keep: str = "") -> str:
    """Without control characters and marks that turn the direction of reading; half characters are replaced."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return "".join(one if _is_seen(one) or one in keep else " " for one in whole)


def plain_tooltip(text: str) -> str:
    """A tooltip that shows foreign text as it is, wrapped: a tooltip guesses whether text is markup."""
    return f"<qt>{html.escape(text).replace(chr(10), '<br>')}</qt>"


def _is_seen(one: str) -> bool:
    return one in _JOINERS or unicodedata.category(one) not in ("Cc", "Cf", "Co", "Cn", "Zl", "Zp")
