"""Makes untrusted text safe to display: bounded in length and without invisible characters."""

import html
import re
import unicodedata

_JOINERS = {"\u200c", "\u200d"}  # needed to spell words in some scripts, and emoji
_ELLIPSIS = "…"
_LONG_WORD = re.compile(r"(\S{24})(?=\S)")
_MAY_BREAK = "\u200b"


def in_one_line(text: str, most: int = 300) -> str:
    """Return the beginning of `text` on one line, for a cell or a label."""
    start = visible(text[: 4 * most])
    words = " ".join(start.split())
    shortened = len(words) > most or len(text) > 4 * most
    return words[:most] + _ELLIPSIS if shortened else words


def in_lines(text: str, most: int = 600) -> str:
    """Return the beginning of `text` for a wrapping label; long words become breakable, to not widen the window."""
    return _LONG_WORD.sub(rf"\1{_MAY_BREAK}", in_one_line(text, most))


def in_full(text: str, most: int = 20_000) -> tuple[str, int]:
    """Return the first `most` characters with line breaks kept, and the number of characters left out."""
    return visible(text[:most], keep="\n"), max(len(text) - most, 0)


def visible(text: str, keep: str = "") -> str:
    """Return `text` without control and bidirectional marks; lone surrogates are replaced."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return "".join(one if _is_seen(one) or one in keep else " " for one in whole)


def plain_tooltip(text: str) -> str:
    """Return a wrapped tooltip showing `text` literally; Qt would otherwise guess whether it is markup."""
    return f"<qt>{html.escape(text).replace(chr(10), '<br>')}</qt>"


def _is_seen(one: str) -> bool:
    return one in _JOINERS or unicodedata.category(one) not in ("Cc", "Cf", "Co", "Cn", "Zl", "Zp")
