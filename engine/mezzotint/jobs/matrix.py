"""Expand a request into several: alternatives in the prompt, and a list of seeds.

`a {red|blue} house` is two prompts; the modules in `choices` say what else may be written.
"""

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mezzotint.errors import UsageError
from mezzotint.jobs.choices.tree import Choice, Passage, parsed
from mezzotint.jobs.choices.variables import escaped, settled
from mezzotint.protocol import GenerateRequest

MOST_REQUESTS = 10_000  # per entry
_MOST_CHARACTERS = 64 << 20  # of all prompts of one entry
_DEEPEST = 16  # nested braces
_MOST_OPTIONS = 500  # of a choice of which several are taken
_COUNTED = 10**12  # beyond it texts are not counted exactly
_SEEDS_DRAWN_BELOW = 2**32


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
    every: list[str] = []
    for text in settled(prompt, lambda value: map(escaped, alternatives(value, limit=limit))):
        every.extend(_alternatives(text, limit - len(every), limit))
    return tuple(every)


def _alternatives(prompt: str, room: int, limit: int) -> Iterator[str]:
    tree, choices = parsed(prompt)
    _check_depth(choices)
    count = _count(tree)
    if count > room:
        raise UsageError(
            f"the alternatives of the prompt expand to {_shown(count)} prompts: at most {limit} are allowed"
        )
    longest = _longest(tree)
    if count * longest > _MOST_CHARACTERS:
        raise UsageError(f"{count} prompts of up to {longest} characters are too long for one entry: shorten them")
    return _texts(tree)


def _shown(count: int) -> str:
    return str(count) if count < 10**9 else "more than a billion"


def _check_depth(choices: Sequence[Choice]) -> None:
    if any(choice.depth > _DEEPEST for choice in choices):
        raise UsageError(f"the alternatives of the prompt are nested more than {_DEEPEST} deep: simplify it")
    if any(choice.is_multiple and len(choice.options) > _MOST_OPTIONS for choice in choices):
        raise UsageError(f"a choice of several alternatives has more than {_MOST_OPTIONS} of them: simplify it")


def _count(tree: Passage) -> int:
    return math.prod(_count_of(part) for part in tree.parts if isinstance(part, Choice))


def _count_of(choice: Choice) -> int:
    counts = list(map(_count, choice.options))
    if not choice.is_multiple:
        return sum(counts)
    sets = [1] + [0] * len(counts)  # texts of each number of alternatives: elementary symmetric polynomials
    for many, count in enumerate(counts, 1):
        for number in range(many, 0, -1):
            sets[number] = min(_COUNTED, sets[number] + count * sets[number - 1])
    return sum(sets[number] for number in _numbers(choice))


def _numbers(choice: Choice) -> range:
    """How many alternatives may be taken."""
    most = min(choice.most, len(choice.options))
    return range(min(choice.least, most), most + 1)


def _longest(tree: Passage) -> int:
    return sum(len(part) if isinstance(part, str) else _longest_of(part) for part in tree.parts)


def _longest_of(choice: Choice) -> int:
    most = _numbers(choice)[-1]
    longest = sorted(map(_longest, choice.options), reverse=True)[:most]
    return sum(longest) + max(0, most - 1) * len(choice.joiner)


def _texts(tree: Passage) -> Iterator[str]:
    choices = [[part] if isinstance(part, str) else list(_options(part)) for part in tree.parts]
    return map("".join, itertools.product(*choices))


def _options(choice: Choice) -> Iterator[str]:
    if not choice.is_multiple:
        yield from itertools.chain.from_iterable(map(_texts, choice.options))
        return
    for number in _numbers(choice):
        for taken in itertools.combinations(choice.options, number):
            yield from map(choice.joiner.join, itertools.product(*map(_texts, taken)))
