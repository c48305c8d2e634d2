"""Texts of untrusted origin, cleaned and cut for display."""

import html
import re
from collections.abc import Iterable

from mezzotint.library_protocol import MOST_CARD_TEXT, MOST_CARD_WORDS

_LONGEST_WORD = 200  # characters of a tag or trigger
_TAG = re.compile(r"<[^<>]{0,500}>")
_BREAK = re.compile(r"<(?:br|/p|/li|/h\d)\b[^<>]{0,100}>", re.IGNORECASE)


def line(text: object, most: int = _LONGEST_WORD) -> str:
    """One line of text; empty for anything that is none."""
    return " ".join(_printable(text[: most * 4]).split())[:most] if isinstance(text, str) else ""


def paragraph(text: object) -> str:
    """Text in lines, without the markup of web pages."""
    if not isinstance(text, str):
        return ""
    plain = html.unescape(_TAG.sub("", _BREAK.sub("\n", text[: MOST_CARD_TEXT * 4])))
    lines = (" ".join(_printable(one).split()) for one in plain.splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()[:MOST_CARD_TEXT]


def words(texts: object) -> tuple[str, ...]:
    """Different lines of a list, or of a text with commas."""
    if isinstance(texts, str):
        texts = texts.split(",")[: MOST_CARD_WORDS * 2]
    listed: Iterable[object] = texts[: MOST_CARD_WORDS * 2] if isinstance(texts, list | tuple) else ()
    found = (line(one).strip(" ,") for one in listed)
    return tuple(dict.fromkeys(one for one in found if one))[:MOST_CARD_WORDS]


def _printable(text: str) -> str:
    return "".join(one if one.isprintable() else " " for one in text)
