"""What the name of a model says: in whole words, however these are joined, and not where they are negated."""

import re

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# Names of families that people write before a word without a space: XLTURBO, fluxkontext.
_JOINED = re.compile(r"(sdxl|xl|zimage|qwenimage|qwen|klein|krea|chroma|flux)(?=[a-z]{4})")
_NEGATED = re.compile(r"\b(no|not|non|without|de|un|anti)( an?| for)? $")


def words_of(name: str) -> str:
    """The name's words in small letters with blanks between them: sdxlTurbo_4step is `sdxl turbo 4 step`."""
    parts = " ".join(_WORD.findall(name)).lower().split(" ")
    return " ".join(_JOINED.sub(r"\1 ", part, count=1) if _JOINED.match(part) else part for part in parts)


def said_in(words: str, pattern: str) -> str | None:
    """The first words that match a pattern; None if there are none, or if any of them is negated."""
    found = list(re.finditer(rf"\b(?:{pattern})\b", words))
    if any(_NEGATED.search(words, 0, each.start()) for each in found):
        return None
    return found[0][0] if found else None
