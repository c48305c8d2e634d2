"""Expand a request into several: alternatives in the prompt, and a list of seeds.

`a {red|blue} house` is two prompts; braces may be nested. Without a `|` they are plain text, and so are marks after a
backslash: `\\{`, `\\|`, `\\}`.
"""

import itertools
import math
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from mezzotint.errors import UsageError
from mezzotint.protocol import GenerateRequest

MOST_REQUESTS = 10_000  # per entry
_MOST_CHARACTERS = 64 << 20  # of all prompts of one entry
_DEEPEST = 16  # nested braces
_SEEDS_DRAWN_BELOW = 2**32

_MARK = re.compile(r"\\[{|}\\]|[{|}]")


@dataclass(slots=True)
class _Sequence:
    """A sequence of texts and choices."""

    parts: "list[str | _Choice]" = field(default_factory=list)


@dataclass(slots=True)
class _Choice:
    """The alternatives between two braces."""

    options: list[_Sequence] = field(default_factory=lambda: [_Sequence()])


def expand(
    request: GenerateRequest, *, seeds: Sequence[int] = (), is_matrix: bool = True, limit: int = MOST_REQUESTS
) -> tuple[GenerateRequest, ...]:
    """Return a request for every combination of the prompt's alternatives (if `is_matrix`) and every seed.

    Without seeds, all prompts share one, so that only the prompts differ. Raises UsageError if there are too many.
    """
    prompts = alternatives(request.prompt, limit=limit) if is_matrix else (request.prompt,)
    if len(prompts) * max(1, len(seeds)) > limit:
        raise UsageError(
            f"{len(prompts)} prompts with {len(seeds)} seeds are {len(prompts) * len(seeds)} requests: "
            f"at most {limit} are allowed in one entry"
        )
    shared = random.randrange(_SEEDS_DRAWN_BELOW) if request.seed is None and len(prompts) > 1 else request.seed
    each: Sequence[int | None] = seeds or (shared,)
    return tuple(replace(request, prompt=prompt, seed=seed) for prompt in prompts for seed in each)


def alternatives(prompt: str, *, limit: int = MOST_REQUESTS) -> tuple[str, ...]:
    """Return every expansion of a prompt, the last choice varying fastest; without choices, just the prompt."""
    tree = _parsed(prompt)
    count = _count(tree)
    if count > limit:
        raise UsageError(
            f"the alternatives of the prompt expand to {_shown(count)} prompts: at most {limit} are allowed"
        )
    if count * len(prompt) > _MOST_CHARACTERS:
        raise UsageError(f"{count} prompts of up to {len(prompt)} characters are too long for one entry: shorten them")
    return tuple(_texts(tree))


def _shown(count: int) -> str:
    return str(count) if count < 10**9 else "more than a billion"


def _parsed(prompt: str) -> _Sequence:
    whole = into = _Sequence()
    choices: list[tuple[_Choice, _Sequence]] = []  # open choices, each with its enclosing sequence
    chosen = _marks_of_choices(prompt)
    begin = 0
    for found in _MARK.finditer(prompt):
        into.parts.append(prompt[begin : found.start()])
        begin = found.end()
        if found.start() not in chosen:
            into.parts.append(found[0].removeprefix("\\") if len(found[0]) > 1 else found[0])
        elif found[0] == "{":
            choices.append((_Choice(), into))
            into = choices[-1][0].options[0]
        elif found[0] == "|":
            into = _Sequence()
            choices[-1][0].options.append(into)
        else:
            choice, into = choices.pop()
            into.parts.append(choice)
        if len(choices) > _DEEPEST:
            raise UsageError(f"the alternatives of the prompt are nested more than {_DEEPEST} deep: simplify it")
    into.parts.append(prompt[begin:])
    return whole


def _marks_of_choices(prompt: str) -> set[int]:
    """Return the positions of the marks that form choices: closed braces with a bar of their own between them."""
    chosen: set[int] = set()
    waiting: list[list[int]] = []  # for each open brace: its position, and those of its bars
    for found in _MARK.finditer(prompt):
        if found[0] == "{":
            waiting.append([found.start()])
        elif found[0] == "|" and waiting:
            waiting[-1].append(found.start())
        elif found[0] == "}" and waiting:
            marks = waiting.pop()
            if len(marks) > 1:
                chosen.update(marks, (found.start(),))
    return chosen


def _count(tree: _Sequence) -> int:
    return math.prod(sum(map(_count, part.options)) for part in tree.parts if isinstance(part, _Choice))


def _texts(tree: _Sequence) -> Iterator[str]:
    choices = [[part] if isinstance(part, str) else list(_options(part)) for part in tree.parts]
    return map("".join, itertools.product(*choices))


def _options(choice: _Choice) -> Iterator[str]:
    return itertools.chain.from_iterable(map(_texts, choice.options))
