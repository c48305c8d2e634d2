"""Several requests out of one: alternatives in the prompt, and a list of seeds.

`a {red|blue} house` is two prompts; braces may stand in braces, and without a `|` they are plain text, as they are
after a backslash: `\\{`, `\\|`, `\\}`.
"""

import itertools
import math
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from mezzotint.errors import UsageError
from mezzotint.protocol import GenerateRequest

MOST_REQUESTS = 10_000  # of one entry
_MOST_CHARACTERS = 64 << 20  # of all prompts of one entry
_DEEPEST = 16  # braces in braces
_SEEDS_DRAWN_BELOW = 2**32

_MARK = re.compile(r"\\[{|}\\]|[{|}]")


@dataclass(slots=True)
class _Sequence:
    """Texts and choices one after the other."""

    parts: "list[str | _Choice]" = field(default_factory=list)


@dataclass(slots=True)
class _Choice:
    """What stands between two braces."""

    options: list[_Sequence] = field(default_factory=lambda: [_Sequence()])


def expand(
    request: GenerateRequest, *, seeds: Sequence[int] = (), is_matrix: bool = True, limit: int = MOST_REQUESTS
) -> tuple[GenerateRequest, ...]:
    """A request for every combination of the prompt's alternatives (those of a matrix), and of each for every seed.

    Without seeds all prompts get the same one, so that only the words differ. UsageError when there are too many.
    """
    prompts = alternatives(request.prompt, limit=limit) if is_matrix else (request.prompt,)
    if len(prompts) * max(1, len(seeds)) > limit:
        raise UsageError(
            f"{len(prompts)} prompts with {len(seeds)} seeds are {len(prompts) * len(seeds)} requests: "
            f"at most {limit} go into one entry"
        )
    shared = random.randrange(_SEEDS_DRAWN_BELOW) if request.seed is None and len(prompts) > 1 else request.seed
    each: Sequence[int | None] = seeds or (shared,)
    return tuple(replace(request, prompt=prompt, seed=seed) for prompt in prompts for seed in each)


def alternatives(prompt: str, *, limit: int = MOST_REQUESTS) -> tuple[str, ...]:
    """Every prompt that a prompt stands for, the last choice changing first; one without choices is itself."""
    tree = _parsed(prompt)
    count = _count(tree)
    if count > limit:
        raise UsageError(f"the alternatives of the prompt make {_shown(count)} prompts: at most {limit} are taken")
    if count * len(prompt) > _MOST_CHARACTERS:
        raise UsageError(f"{count} prompts of up to {len(prompt)} characters are too much for one entry: shorten them")
    return tuple(_texts(tree))


def _shown(count: int) -> str:
    return str(count) if count < 10**9 else "more than a billion"


def _parsed(prompt: str) -> _Sequence:
    whole = _Sequence()
    open_choices: list[_Choice] = []
    into = whole
    for text, mark in _pieces(prompt):
        into.parts.append(text)
        if mark == "{":
            open_choices.append(_Choice())
            into = open_choices[-1].options[0]
        elif mark == "|" and open_choices:
            into = _Sequence()
            open_choices[-1].options.append(into)
        elif mark == "}" and open_choices:
            choice = open_choices.pop()
            into = open_choices[-1].options[-1] if open_choices else whole
            _close(into, choice)
        else:
            into.parts.append(mark)
    while open_choices:  # braces that nothing closes are text
        choice = open_choices.pop()
        _as_text(open_choices[-1].options[-1] if open_choices else whole, choice)
    _check_depth(whole)
    return whole


def _pieces(prompt: str) -> Iterator[tuple[str, str]]:
    """Text, and the mark after it: a brace or a bar; what stands after a backslash is text without it."""
    text, begin = "", 0
    for found in _MARK.finditer(prompt):
        text += prompt[begin : found.start()]
        begin = found.end()
        if found[0].startswith("\\"):
            text += found[0][1:]
        else:
            yield text, found[0]
            text = ""
    yield text + prompt[begin:], ""


def _close(into: _Sequence, choice: _Choice) -> None:
    if len(choice.options) > 1:
        into.parts.append(choice)
    else:
        into.parts += ["{", *choice.options[0].parts, "}"]


def _as_text(into: _Sequence, choice: _Choice) -> None:
    into.parts.append("{")
    for number, option in enumerate(choice.options):
        into.parts += (["|"] if number else []) + option.parts


def _check_depth(whole: _Sequence) -> None:
    """Without recursion, since the text may be made to have no end of it."""
    level: list[_Sequence] = [whole]
    for _ in range(_DEEPEST + 1):
        level = [option for one in level for part in one.parts if isinstance(part, _Choice) for option in part.options]
        if not level:
            return
    raise UsageError(f"the prompt has alternatives in alternatives, more than {_DEEPEST} deep: write it plainer")


def _count(tree: _Sequence) -> int:
    return math.prod(sum(map(_count, part.options)) for part in tree.parts if isinstance(part, _Choice))


def _texts(tree: _Sequence) -> Iterator[str]:
    choices = [[part] if isinstance(part, str) else list(_options(part)) for part in tree.parts]
    return map("".join, itertools.product(*choices))


def _options(choice: _Choice) -> Iterator[str]:
    return itertools.chain.from_iterable(map(_texts, choice.options))
