"""Choices in a prompt as a tree: `{a|b}`, weighted `{2::a|b}`, and several of them, `{2-3$$ and $$a|b|c}`.

Braces may be nested. Without a `|` or `$$` of their own they are plain text, and so are marks after a backslash: `\\{`,
`\\|`, `\\}`. Written as in sd-dynamic-prompts.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_MARK = re.compile(r"\\[{|}\\]|[{|}]")
# How many are taken, and what joins them.
BOUND = r"\s*+(?:(\d{1,4})\s*+(-?)\s*+(\d{0,4})|-\s*+(\d{1,4}))\s*+\$\$(?:([^{|}$]{0,200})\$\$)?"
_BOUND = re.compile(BOUND)
_WEIGHT = re.compile(r"\s*+(\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})::")
_JOINER = ", "


@dataclass(slots=True)
class Passage:
    """A sequence of texts and choices."""

    parts: "list[str | Choice]" = field(default_factory=list)


@dataclass(slots=True)
class Choice:
    """The alternatives between two braces, of which `least` to `most` are taken, at most each once."""

    height: int  # pairs of braces nested in it, and itself
    depth: int  # choices that it is nested in, and itself
    least: int = 1
    most: int = 1
    joiner: str = _JOINER
    options: list[Passage] = field(default_factory=lambda: [Passage()])
    weights: list[float] = field(default_factory=lambda: [1.0])

    @property
    def is_multiple(self) -> bool:
        """Whether it may be another number of alternatives than one."""
        return (self.least, self.most) != (1, 1)


def parsed(prompt: str) -> tuple[Passage, list[Choice]]:
    """Return the tree of a prompt, and its choices in the order in which they are opened, in linear time."""
    whole = into = Passage()
    every: list[Choice] = []
    opened: list[tuple[Choice, Passage]] = []  # choices not closed yet, each with its enclosing passage
    heights, bars = _marks_of_choices(prompt)
    begin = 0
    for found in _MARK.finditer(prompt):
        start = found.start()
        if start < begin:
            continue  # in the number of a choice
        into.parts.append(prompt[begin:start])
        begin = found.end()
        if start in heights:
            opened.append((_opened(prompt, begin, heights[start], len(opened) + 1), into))
            every.append(opened[-1][0])
            into, begin = every[-1].options[0], _after_lead(every[-1], prompt, begin)
        elif start not in bars:
            into.parts.append(found[0].removeprefix("\\") if len(found[0]) > 1 else found[0])
        elif found[0] == "|":
            choice, into = opened[-1][0], Passage()
            choice.options.append(into)
            choice.weights.append(1.0)
            begin = _after_weight(choice, prompt, begin)
        else:
            choice, into = opened.pop()
            into.parts.append(choice)
    into.parts.append(prompt[begin:])
    return whole, every


def _marks_of_choices(prompt: str) -> tuple[dict[int, int], set[int]]:
    """Return the heights of choices by the position of their opening brace, and the positions of their other marks."""
    heights: dict[int, int] = {}
    others: set[int] = set()
    waiting: list[list[int]] = []  # for each open brace: its position, the height of what it contains, and its bars
    for found in _MARK.finditer(prompt):
        if found[0] == "{":
            waiting.append([found.start(), 0])
        elif found[0] == "|" and waiting:
            waiting[-1].append(found.start())
        elif found[0] == "}" and waiting:
            start, height, *bars = waiting.pop()
            if waiting:
                waiting[-1][1] = max(waiting[-1][1], height + 1)
            if bars or _BOUND.match(prompt, start + 1, found.start()):
                heights[start] = height + 1
                others.update(bars, (found.start(),))
    return heights, others


def _opened(prompt: str, begin: int, height: int, depth: int) -> Choice:
    bound = _BOUND.match(prompt, begin)
    if bound is None:
        return Choice(height=height, depth=depth)
    low, is_range, high, most = bound[1], bound[2], bound[3], bound[4]
    if most is not None:
        least, largest = 0, int(most)
    elif high and not is_range:
        least = largest = int(low + high)
    else:
        least = int(low)
        largest = int(high) if high else 9999 if is_range else least
    joiner = _JOINER if bound[5] is None else bound[5]
    low_high = sorted((least, largest))
    return Choice(height=height, depth=depth, least=low_high[0], most=low_high[1], joiner=joiner)


def _after_lead(choice: Choice, prompt: str, begin: int) -> int:
    """Return where the first alternative begins, after the number of alternatives and its weight."""
    bound = _BOUND.match(prompt, begin)
    return _after_weight(choice, prompt, begin if bound is None else bound.end())


def _after_weight(choice: Choice, prompt: str, begin: int) -> int:
    weight = _WEIGHT.match(prompt, begin)
    if weight is None:
        return begin
    choice.weights[-1] = float(weight[1])
    return weight.end()


def weighted(line: str) -> tuple[str, float]:
    """Return a line of a wildcard without its weight, and the weight; 1 if there is none."""
    weight = _WEIGHT.match(line)
    return (line, 1.0) if weight is None else (line[weight.end() :], float(weight[1]))


def as_alternative(text: str) -> str:
    """Return a text so that it means the same as one of the alternatives of a choice."""
    heights, others = _marks_of_choices(text)

    def written(found: re.Match[str]) -> str:
        is_kept = len(found[0]) > 1 or found.start() in heights or found.start() in others
        return found[0] if is_kept else f"\\{found[0]}"

    return _MARK.sub(written, text)


def joined(tree: Passage, taken: dict[int, list[Passage]]) -> str:
    """Return the text of a tree whose choices, by `id`, took these alternatives; in linear time at any depth."""
    return "".join(_texts(tree, taken))


def _texts(tree: Passage, taken: dict[int, list[Passage]]) -> Iterator[str]:
    waiting: list[str | Choice | Passage] = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, Passage):
            waiting.extend(reversed(part.parts))
        else:
            for number, option in enumerate(reversed(taken[id(part)])):
                waiting += [part.joiner, option] if number else [option]
