"""A value with further keys: `FIRST,key=value,...`; a comma before a word and = is written twice."""

import re

from mezzotint.values.basic import plain_number, shown

_NEXT_KEY = re.compile(r",(?=\s*\w+\s*=)")
_COMMA = "\0"  # stands for a comma that is written twice


def split_keyed(word: str, first: str) -> dict[str, object]:
    """The texts by key, the one in front under the name `first`. Raises ValueError for a key given twice."""
    value, *others = _NEXT_KEY.split(word.replace(",,", _COMMA))
    found: dict[str, object] = {first: value.replace(_COMMA, ",")}
    for one in others:
        name, _, value = one.partition("=")
        if name.strip() in found:
            raise ValueError(f"{shown(name.strip())} is given twice")
        found[name.strip()] = value.replace(_COMMA, ",")
    return found


def divided_values(text: str) -> tuple[str, ...]:
    """The values of an axis: divided by bars if there is one, else by commas."""
    return tuple(value.strip() for value in text.split("|" if "|" in text else ","))


def written_keyed(value: object) -> str:
    """A value as `split_keyed` reads it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return plain_number(value) if isinstance(value, float) else str(value).replace(",", ",,")
