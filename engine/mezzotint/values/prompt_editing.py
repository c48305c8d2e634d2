"""Prompts that change while an image is made, in A1111's syntax. No torch.

`[from:to:when]` becomes `to` after step `when`, or after that share of the steps if it is below 1; `[to:when]` and
`[from::when]` add and remove words; `[a|b]` takes the next alternative in every step. All of them may be nested, also
in `(weighted:1.2)` parts. Any other brackets, and marks after a backslash, are left to whoever reads the prompt.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

_LEXEME = re.compile(
    r"\\."  # an escaped character
    r"|<[^<>\[\]]*+>|embedding:[^\s,()\[\]:|]++"  # tags of LoRAs and names of embeddings, whose colons are their own
    r"|[\[\]():|]",
    re.DOTALL,
)
_WHEN = re.compile(r"\s*+(\d++(?:\.\d*+)?|\.\d++)\s*+")
_ESCAPED = re.compile(r"\\([:|])")
_OPENING = {")": "(", "]": "["}


class Segment(NamedTuple):
    """The prompts from one step on, until the next segment begins."""

    first: int  # step, from 0
    prompts: tuple[str, ...]


@dataclass(slots=True)
class _Passage:
    """A sequence of texts and of what changes."""

    parts: "list[str | _Changing]" = field(default_factory=list)


@dataclass(slots=True)
class _Changing:
    """Alternatives of which each step takes one."""

    when: float | None  # after which the second replaces the first; None: they take turns
    options: list[_Passage] = field(default_factory=lambda: [_Passage()])

    def option(self, step: int, steps: int) -> _Passage:
        """The alternative at a step, from 0, of all steps."""
        if self.when is None:
            return self.options[step % len(self.options)]
        last = int(self.when * steps) if self.when < 1 else int(self.when)
        return self.options[int(step >= last)]


class EditedPrompt:
    """A prompt, read once."""

    def __init__(self, prompt: str) -> None:
        self._tree = _parsed(prompt)

    @property
    def changes(self) -> bool:
        """Whether the prompt is another one at some steps."""
        return any(not isinstance(part, str) for part in self._tree.parts)

    def at(self, step: int, steps: int) -> str:
        """The prompt at a step, from 0, of all steps."""
        return "".join(_texts(self._tree, step, steps))


def segments(prompts: Sequence[str], part: range, steps: int) -> tuple[Segment, ...]:
    """The prompts at the steps `part` of all `steps`; one segment if nothing changes."""
    read = [EditedPrompt(prompt) for prompt in prompts]
    found = [Segment(part.start, tuple(each.at(part.start, steps) for each in read))]
    if any(each.changes for each in read):
        for step in part[1:]:
            now = tuple(each.at(step, steps) for each in read)
            if now != found[-1].prompts:
                found.append(Segment(step, now))
    return tuple(found)


def every_text(prompt: str, steps: int) -> tuple[str, ...]:
    """The different texts of a prompt, in the order of the steps."""
    return tuple(dict.fromkeys(one.prompts[0] for one in segments([prompt], range(max(1, steps)), steps)))


def changing_marks(prompt: str) -> tuple[tuple[int, int], ...]:
    """Where the brackets, colons, bars and numbers of what changes begin and end."""
    marks = _marks(prompt)
    single = [(at, at + 1) for at in (*marks.opening, *marks.between)]
    return tuple(sorted([*single, *((begin, end + 1) for end, begin in marks.closing.items())]))


# ---- the grammar


@dataclass(slots=True)
class _Bracket:
    """An open bracket, and the marks directly in it."""

    start: int
    kind: str
    colons: list[int] = field(default_factory=list)
    bars: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Marks:
    """Which characters of a prompt have a meaning."""

    opening: dict[int, float | None] = field(default_factory=dict)  # `when` of what begins there
    between: set[int] = field(default_factory=set)
    closing: dict[int, int] = field(default_factory=dict)  # and where the text before the number ends


def _parsed(prompt: str) -> _Passage:
    whole = into = _Passage()
    marks = _marks(prompt)
    if not marks.opening:
        into.parts.append(prompt)
        return whole
    opened: list[tuple[_Changing, _Passage]] = []
    begin = 0
    for found in _LEXEME.finditer(prompt):
        at = found.start()
        if at in marks.opening:
            _add(into, prompt[begin:at], inside=bool(opened))
            opened.append((_Changing(marks.opening[at]), into))
            into = opened[-1][0].options[0]
        elif at in marks.between:
            _add(into, prompt[begin:at], inside=True)
            into = _Passage()
            opened[-1][0].options.append(into)
        elif at in marks.closing:
            _add(into, prompt[begin : marks.closing[at]], inside=True)
            changing, into = opened.pop()
            if changing.when is not None and len(changing.options) == 1:
                changing.options.insert(0, _Passage())
            into.parts.append(changing)
        else:
            continue
        begin = found.end()
    _add(into, prompt[begin:], inside=False)
    return whole


def _add(into: _Passage, text: str, *, inside: bool) -> None:
    """Add a text; a colon or a bar that had to be escaped inside of brackets needs no backslash any more."""
    if text:
        into.parts.append(_ESCAPED.sub(r"\1", text) if inside else text)


def _marks(prompt: str) -> _Marks:
    marks = _Marks()
    opened: list[_Bracket] = []
    waiting = {"(": 0, "[": 0}
    for found in _LEXEME.finditer(prompt):
        text, at = found[0], found.start()
        if text in waiting:
            opened.append(_Bracket(at, text))
            waiting[text] += 1
        elif text in _OPENING and waiting[_OPENING[text]]:
            bracket = _closed(opened, waiting, _OPENING[text])
            if text == "]":
                _mark(marks, prompt, bracket, at)
        elif text in (":", "|") and opened:
            (opened[-1].colons if text == ":" else opened[-1].bars).append(at)
    return marks


def _closed(opened: list[_Bracket], waiting: dict[str, int], kind: str) -> _Bracket:
    """Take the innermost open bracket of a kind, with the marks in brackets that were never closed in it."""
    colons: list[int] = []
    bars: list[int] = []
    while True:
        bracket = opened.pop()
        waiting[bracket.kind] -= 1
        colons, bars = bracket.colons + colons, bracket.bars + bars
        if bracket.kind == kind:
            return _Bracket(bracket.start, kind, colons, bars)


def _mark(marks: _Marks, prompt: str, bracket: _Bracket, end: int) -> None:
    """Note what a pair of square brackets means, unless it is a weight or plain text."""
    if bracket.bars:
        marks.opening[bracket.start] = None
        marks.between.update(bracket.bars)
        marks.closing[end] = end
        return
    if len(bracket.colons) not in (1, 2):
        return
    when = _WHEN.fullmatch(prompt, bracket.colons[-1] + 1, end)
    if when is not None:
        marks.opening[bracket.start] = float(when[1])
        marks.between.update(bracket.colons[:-1])
        marks.closing[end] = bracket.colons[-1]


def _texts(tree: _Passage, step: int, steps: int) -> Iterator[str]:
    waiting: list[str | _Changing | _Passage] = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, _Passage):
            waiting.extend(reversed(part.parts))
        else:
            waiting.append(part.option(step, steps))
