"""Variables in prompts: `${x=words}` sets one, `${x}` and `${x:otherwise}` stand for it; as in sd-dynamic-prompts.

Choices in a variable are made wherever it is used, those of `${x={red|blue}}` anew each time; after `=!`, as in
`${x=!{red|blue}}`, they are made once. A variable that is not set is plain text.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from mezzotint.errors import UsageError
from mezzotint.request_protocol import MAX_PROMPT

_MOST = 100  # variables of a prompt
_DEEPEST = 16  # nested defaults
_BEGIN = re.compile(r"(?<![\\$])\$\{\s*+(\w{1,60})\s*+(=!?|:|(?=\}))")
_BRACE = re.compile(r"\\[{|}\\]|[{}]")
_MARKS = re.compile(r"[{|}\\]")

Values = Callable[[str], Iterable[str]]  # texts that a text with choices may become, with their marks escaped


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a variable is set or used."""

    start: int
    end: int
    name: str
    kind: str  # "=", "=!", ":" or "", if it is used without a default
    text: str  # its value, or what stands for it if it is not set


def settled(prompt: str, values: Values) -> Iterator[str]:
    """Yield the prompt without variables: one text for each combination of values of those that are settled once.

    Raises UsageError for too many variables or too long a text.
    """
    places = _places(prompt) if "${" in prompt else []
    if not places:
        yield prompt
        return
    if sum(place.kind.startswith("=") for place in places) > _MOST:
        raise UsageError(f"the prompt sets more than {_MOST} variables: simplify it")
    yield from _settled(prompt, places, 0, "", {}, values)


def escaped(text: str) -> str:
    """Return the text with a backslash before each mark of choices, so that it stands for itself."""
    return _MARKS.sub(lambda found: f"\\{found[0]}", text)


def _settled(
    prompt: str, places: list[_Place], first: int, before: str, known: Mapping[str, str], values: Values
) -> Iterator[str]:
    """Yield the texts of a prompt from place `first` on, after the text `before`."""
    at = places[first - 1].end if first else 0
    known, parts = dict(known), [before]
    for number, place in enumerate(places[first:], first):
        parts.append(prompt[at : place.start])
        at = place.end
        if not place.kind.startswith("="):
            parts.append(_value(place, prompt, known))
            continue
        value = _used(place.text, known)
        if place.kind == "=!":
            for one in values(value):
                yield from _settled(prompt, places, number + 1, _bounded(parts), {**known, place.name: one}, values)
            return
        known[place.name] = value
    parts.append(prompt[at:])
    yield _bounded(parts)


def _used(text: str, known: Mapping[str, str], depth: int = 0) -> str:
    """Return a text with the variables in it replaced; what sets one in there is plain text."""
    if depth > _DEEPEST:
        raise UsageError(f"the variables of the prompt are nested more than {_DEEPEST} deep: simplify it")
    parts, at = [], 0
    for place in _places(text):
        if not place.kind.startswith("="):
            parts += [text[at : place.start], _value(place, text, known, depth)]
            at = place.end
    return _bounded([*parts, text[at:]])


def _value(place: _Place, text: str, known: Mapping[str, str], depth: int = 0) -> str:
    """Return what stands for a variable that is used in `text`."""
    if place.name in known:
        return known[place.name]
    return _used(place.text, known, depth + 1) if place.kind else text[place.start : place.end]


def _bounded(parts: list[str]) -> str:
    length = sum(map(len, parts))
    if length > MAX_PROMPT:
        raise UsageError(f"the prompt grows to {length} characters by its variables; at most {MAX_PROMPT} are allowed")
    return "".join(parts)


def _places(text: str) -> list[_Place]:
    """Return the outermost places of variables, in order."""
    closing = _closing(text)
    found: list[_Place] = []
    for begin in _BEGIN.finditer(text):
        close = closing.get(begin.start() + 1)
        if close is None or (found and begin.start() < found[-1].end):
            continue
        end = close + 1
        if begin[2].startswith("="):
            end += len(text[end:]) - len(text[end:].lstrip()) if text[end : end + 1].isspace() else 0
        kind, value = begin[2], text[begin.end() : close]
        found.append(_Place(start=begin.start(), end=end, name=begin[1], kind=kind, text=value.strip()))
    return found


def _closing(text: str) -> dict[int, int]:
    """Return the position of the closing brace of each opening one."""
    closing: dict[int, int] = {}
    opened: list[int] = []
    for brace in _BRACE.finditer(text):
        if brace[0] == "{":
            opened.append(brace.start())
        elif brace[0] == "}" and opened:
            closing[opened.pop()] = brace.start()
    return closing
