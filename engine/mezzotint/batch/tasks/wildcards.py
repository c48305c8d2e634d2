"""Wildcards: `__animal__` stands for a line of animal.txt in a folder, and lines may contain wildcards."""

import bisect
import hashlib
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias, TypeVar

from mezzotint.batch.tasks.yaml_wildcards import yaml_wildcards
from mezzotint.batch_protocol import MOST_DRAWN, MOST_WILDCARD_TEXT, WILDCARD_GLOB, WILDCARD_NAME, DrawRequest
from mezzotint.catalog.place import at_home
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file, read_limited
from mezzotint.errors import ModelRefused, StorageError, UsageError
from mezzotint.jobs.choices.tree import BOUND, Choice, Passage, as_alternative, joined, parsed, weighted
from mezzotint.jobs.choices.variables import escaped, settled
from mezzotint.jobs.matrix import alternatives
from mezzotint.library.completion.completer import wildcard_names
from mezzotint.request_protocol import MAX_PROMPT
from mezzotint.values.basic import is_text

MOST_PROMPTS = 10_000  # per row
DEEPEST = 8  # nested wildcards
MOST_CHOICES = 1000  # drawn for one prompt, or wildcards in it
_MOST_LINES = 100_000
_MOST_TEXT = 64 << 20  # characters of all prompts of a row
_FIRST_STAND_IN = 0xF0000  # private-use characters, which no prompt needs

_WILDCARD = re.compile(f"__({WILDCARD_GLOB})__")
_SEVERAL = re.compile(rf"((?<!\\)\{{{BOUND})\s*+__(?P<name>{WILDCARD_GLOB})__(?=\s*+\}})")

_Lines: TypeAlias = tuple[tuple[str, ...], tuple[float, ...]]  # and the weight of each
T = TypeVar("T")


class Wildcards:
    """The wildcard files of one folder, each read once. Without a folder, `__x__` is plain text."""

    def __init__(self, folder: Path | None, given: Mapping[str, str] = MappingProxyType({})) -> None:
        """`given`: texts by name, instead of those in files."""
        self._folder, self._given = folder, given
        self._lines: dict[str, _Lines] = {}
        self._yaml: Mapping[str, tuple[str, ...]] | None = None
        self._texts: dict[str, tuple[str, ...]] = {}

    def every(self, prompt: str) -> tuple[str, ...]:
        """Return every expansion of a prompt, last choice varying fastest. Raises UsageError if there are too many."""
        found: list[str] = []
        for text in settled(prompt, lambda value: map(escaped, self.every(value))):
            found.extend(self._expanded(text, ()))
            if len(found) > MOST_PROMPTS:
                raise UsageError(f"the variables of the prompt expand to more than {MOST_PROMPTS} prompts, {_TOO_MANY}")
        return tuple(found)

    def drawn(self, prompt: str, seed: int) -> str:
        """Return the expansion drawn by a seed, reproducible on every machine."""
        draw = _Draw(seed)
        return self._drawn(next(settled(prompt, lambda value: (escaped(self._drawn(value, draw)),))), draw)

    def _drawn(self, prompt: str, draw: "_Draw") -> str:
        for _ in range(DEEPEST + 1):
            prompt = draw.choices(self._with_several(prompt))
            if len(prompt) > MAX_PROMPT:
                raise UsageError(f"the prompt grows to {len(prompt)} characters; at most {MAX_PROMPT} are allowed")
            if self._folder is None or not _WILDCARD.search(prompt):
                return prompt
            prompt = _WILDCARD.sub(lambda found: draw.one_of(*self._of(found[1])), escaped(prompt))
        raise UsageError(f"wildcards are nested more than {DEEPEST} deep: '{plain(prompt, 60)}'")

    def _with_several(self, prompt: str) -> str:
        """Return a prompt in which the lines of a wildcard, several of which are taken, are written as alternatives."""
        if self._folder is None or "$$" not in prompt:
            return prompt
        return _SEVERAL.sub(lambda found: found[1] + self._as_alternatives(found["name"]), prompt)

    def _as_alternatives(self, name: str) -> str:
        return "|".join(f"{weight:f}::{as_alternative(text)}" for text, weight in zip(*self._of(name), strict=True))

    # ---- all expansions

    def _expanded(self, text: str, within: tuple[str, ...]) -> tuple[str, ...]:
        text = self._with_several(text)
        if self._folder is None or not _WILDCARD.search(text):
            return alternatives(text, limit=MOST_PROMPTS)
        stand_ins = _stand_ins(text)
        names: dict[str, tuple[str, ...]] = {}

        def stood_for(found: re.Match[str]) -> str:
            if len(names) >= MOST_CHOICES:
                raise UsageError(f"the prompt has more than {MOST_CHOICES} wildcards: simplify it")
            mark = next(stand_ins)
            names[mark] = self._all_texts(found[1], within)
            return mark

        shorter = _WILDCARD.sub(stood_for, text)
        return _products(alternatives(shorter, limit=MOST_PROMPTS), names)

    def _all_texts(self, name: str, within: tuple[str, ...]) -> tuple[str, ...]:
        way = (*within, name)
        if name in within:
            raise UsageError(f"the wildcard __{plain(name)}__ contains itself: {plain(' > '.join(way))}")
        if len(way) > DEEPEST:
            raise UsageError(f"wildcards are nested more than {DEEPEST} deep: {plain(' > '.join(way))}")
        if name not in self._texts:
            found = tuple(dict.fromkeys(text for line in self._of(name)[0] for text in self._expanded(line, way)))
            if len(found) > MOST_PROMPTS:
                raise UsageError(f"the wildcard __{plain(name)}__ expands to {len(found)} texts, {_TOO_MANY}")
            self._texts[name] = found
        return self._texts[name]

    # ---- files

    @property
    def used(self) -> bool:
        """Whether a prompt named a wildcard so far."""
        return bool(self._lines)

    def _of(self, name: str) -> "_Lines":
        if name not in self._lines:
            self._lines[name] = self._matching(name) if "*" in name else self._read(name)
        return self._lines[name]

    def _matching(self, pattern: str) -> "_Lines":
        """The lines of all wildcards whose names match, in order of their names."""
        folder = self._folder or Path()
        names = sorted({*self._given, *wildcard_names(folder), *self._from_yaml(folder)})
        each = [self._of(name) for name in names if _like(pattern).fullmatch(name) and is_wildcard_name(name)]
        if not each:
            raise UsageError(f"no wildcard in {plain(folder, 200)} has a name like __{plain(pattern)}__")
        return tuple(text for texts, _ in each for text in texts), tuple(one for _, weights in each for one in weights)

    def _read(self, name: str) -> "_Lines":
        folder = self._folder or Path()
        if name in self._given:
            return _lines_of(self._given[name].encode(errors="surrogateescape"), name)
        if not is_file(wildcard_path(folder, name)) and name in self._from_yaml(folder):
            return _weighed(self._from_yaml(folder)[name])
        return _lines_of(wildcard_data(folder, name), name)

    def _from_yaml(self, folder: Path) -> Mapping[str, tuple[str, ...]]:
        if self._yaml is None:
            self._yaml = yaml_wildcards(folder)
        return self._yaml


def is_wildcard_name(name: str) -> bool:
    """Whether a prompt can name a wildcard so."""
    return re.fullmatch(WILDCARD_NAME, name) is not None


def wildcard_path(folder: Path, name: str) -> Path:
    """Return the file of a wildcard. Raises UsageError if that is outside the folder."""
    path = folder.joinpath(*f"{name}.txt".split("/"))
    try:
        inside = path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError) as error:
        raise UsageError(f"the wildcard __{plain(name)}__ has no readable file: {plain(error, 300)}") from None
    if not inside:
        raise UsageError(f"the wildcard __{plain(name)}__ is outside its folder {plain(folder, 200)}")
    return path


def wildcard_data(folder: Path, name: str) -> bytes:
    """Return what is in the file of a wildcard. Raises UsageError."""
    path = wildcard_path(folder, name)
    try:
        return read_limited(path, MOST_WILDCARD_TEXT)
    except (ModelRefused, StorageError, OSError) as error:
        raise UsageError(f"the wildcard __{plain(name)}__ has no readable file: {plain(error, 300)}") from None


def drawn(request: DrawRequest) -> tuple[str, ...]:
    """The prompt of each seed, with one text drawn at each place. Raises UsageError for files that cannot be read."""
    if len(request.seeds) > MOST_DRAWN or len(request.prompt) > MAX_PROMPT:
        raise UsageError(
            f"{len(request.seeds)} prompts of {len(request.prompt)} characters are too many: at most {MOST_DRAWN} "
            f"of {MAX_PROMPT} are drawn at once"
        )
    wildcards = Wildcards(at_home(Path(request.wildcards)) if request.wildcards else None, request.given)
    return tuple(wildcards.drawn(request.prompt, seed) for seed in request.seeds)


_TOO_MANY = f"but at most {MOST_PROMPTS} are allowed; choices = 'one' draws one of them for each image"


def _stand_ins(text: str) -> "itertools.filterfalse[str]":
    return itertools.filterfalse(set(text).__contains__, map(chr, itertools.count(_FIRST_STAND_IN)))


def _products(texts: Sequence[str], names: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return every text with every combination of its wildcards' values."""
    marks = [[one for one in text if one in names] for text in texts]
    count = sum(math.prod(len(names[mark]) for mark in each) for each in marks)
    longest = max(map(len, texts)) + sum(max(map(len, each)) for each in names.values())
    if count > MOST_PROMPTS or count * longest > _MOST_TEXT:
        raise UsageError(f"the alternatives of the prompt expand to {min(count, 10**9)} prompts, {_TOO_MANY}")
    return tuple(
        _filled(text, dict(zip(each, chosen, strict=True)))
        for text, each in zip(texts, marks, strict=True)
        for chosen in itertools.product(*(names[mark] for mark in each))
    )


def _filled(text: str, chosen: dict[str, str]) -> str:
    return text.translate({ord(mark): words for mark, words in chosen.items()}) if chosen else text


def _lines_of(data: bytes, name: str) -> _Lines:
    text = data.decode("utf-8-sig", "surrogateescape")
    lines = [line.strip() for line in text.splitlines()[:_MOST_LINES]]
    kept = tuple(line for line in lines if line and not line.startswith("#"))
    if not kept:
        raise UsageError(f"the wildcard __{plain(name)}__ has no lines: write one text per line")
    if not all(map(is_text, kept)):
        raise UsageError(f"the file of the wildcard __{plain(name)}__ is not valid UTF-8: save it as UTF-8")
    return _weighed(kept)


def _weighed(lines: Sequence[str]) -> _Lines:
    texts, weights = zip(*map(weighted, lines), strict=True)
    return texts, weights


def _like(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(\*+)", pattern)
    kinds = {"*": "[^/]*+"}
    return re.compile("".join(kinds.get(part, ".*") if part.startswith("*") else re.escape(part) for part in parts))


# ---- drawing one expansion


class _Draw:
    """Choices by a seed: each from a hash, since random numbers differ between versions of Python."""

    def __init__(self, seed: int) -> None:
        self._seed, self._count = seed, 0

    def one_of(self, options: Sequence[T], weights: Sequence[float]) -> T:
        """Draw one of the options."""
        return options[self._index(weights)]

    def choices(self, text: str) -> str:
        """Return the text with the alternatives drawn at each place, innermost first, and without backslashes."""
        tree, choices = parsed(text)
        return joined(tree, {id(one): self._taken(one) for one in sorted(choices, key=lambda one: one.height)})

    def _taken(self, choice: Choice) -> list[Passage]:
        left, weights = list(choice.options), list(choice.weights)
        most = min(choice.most, len(left))
        least = min(choice.least, most)
        number = least if least == most else least + self._number() % (most - least + 1)
        if number == 1:
            return [self.one_of(left, weights)]
        taken = []
        for _ in range(number):
            index = self._index(weights)
            taken.append(left.pop(index))
            del weights[index]
        return taken

    def _index(self, weights: Sequence[float]) -> int:
        number, total = self._number(), sum(weights)
        if total == 0 or min(weights) == max(weights):
            return number % len(weights)
        return min(bisect.bisect_right(list(itertools.accumulate(weights)), number / 2**64 * total), len(weights) - 1)

    def _number(self) -> int:
        self._count += 1
        if self._count > MOST_CHOICES:
            raise UsageError(f"the prompt asks for more than {MOST_CHOICES} choices: simplify it")
        return int.from_bytes(hashlib.sha256(f"{self._seed}/{self._count}".encode()).digest()[:8], "big")
