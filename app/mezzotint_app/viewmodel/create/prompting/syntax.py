"""What the parts of a line of a prompt mean, to be highlighted. Pure functions, in linear time."""

import re
from dataclasses import dataclass
from typing import Literal

from mezzotint.values.prompt_editing import changing_marks
from mezzotint_app.viewmodel.create.prompting.weights import groups

Meaning = Literal["stronger", "weaker", "quiet", "tag", "wildcard", "choice", "error"]

_LORA = re.compile(r"<(?:lora|lyco):[^<>]*>")
_WILDCARD = re.compile(r"__[\w*][\w.*/-]{0,200}?__")
_VARIABLE = re.compile(r"(?<![\\$])\$\{\s*+\w{1,60}\s*+(?:=!?|:|\})")
_NUMBERS = re.compile(r"(?<=[{|])\s*+(?:[\d -]{1,9}\$\$(?:[^{|}$]{0,200}\$\$)?+\s*+)?+(?:\d{0,9}\.?\d{1,9}::)?+")
_BRACKET = re.compile(r"\\[\\()\[\]{}|]|[()\[\]{}|]")
_PAIRS = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A part of the text and what it means; later ones are on top."""

    start: int
    end: int
    meaning: Meaning


def marks(text: str) -> tuple[Mark, ...]:
    """Return weights, LoRA tags, what is drawn, what changes from step to step, and brackets without a partner."""
    found = list(_weights(text)) if "(" in text else []
    kinds = ((_LORA, "tag"), (_WILDCARD, "wildcard"), (_VARIABLE, "choice"), (_NUMBERS, "quiet"))
    for pattern, meaning in kinds:
        found += [Mark(start=one.start(), end=one.end(), meaning=meaning) for one in pattern.finditer(text)]  # type: ignore[arg-type]
    found += [Mark(start=start, end=end, meaning="choice") for start, end in changing_marks(text)]
    return (*found, *_brackets(text))


def _weights(text: str) -> list[Mark]:
    found: list[Mark] = []
    every = sorted(groups(text), key=lambda one: one.start)
    for group in every:
        if group.weight != 1:
            meaning: Meaning = "stronger" if group.weight > 1 else "weaker"
            found.append(Mark(start=group.inner_start, end=group.inner_end, meaning=meaning))
    for group in every:
        found.append(Mark(start=group.start, end=group.inner_start, meaning="quiet"))
        found.append(Mark(start=group.inner_end, end=group.end, meaning="quiet"))
    return found


def _brackets(text: str) -> list[Mark]:
    """Bars of alternatives, and brackets without a partner; kinds are matched independently, as they are read."""
    opened: dict[str, list[int]] = {"(": [], "[": [], "{": []}
    bars: list[list[int]] = []
    found: list[Mark] = []
    for one in _BRACKET.finditer(text):
        letter, at = one[0], one.start()
        if letter in opened:
            opened[letter].append(at)
            bars += [[at]] if letter == "{" else []
        elif letter == "|" and bars:
            bars[-1].append(at)
        elif letter in _PAIRS and not opened[_PAIRS[letter]]:
            found.append(_one(at, "error"))
        elif letter in _PAIRS:
            opened[_PAIRS[letter]].pop()
            inner = bars.pop() if letter == "}" and bars else []
            found += [_one(place, "choice") for place in (*inner, at)] if len(inner) > 1 else []
    return found + [_one(at, "error") for places in opened.values() for at in places]


def _one(at: int, meaning: Meaning) -> Mark:
    return Mark(start=at, end=at + 1, meaning=meaning)
