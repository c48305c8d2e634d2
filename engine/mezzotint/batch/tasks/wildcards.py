"""Wildcards: `__animal__` stands for a line of animal.txt in a folder, and lines may contain wildcards."""

import hashlib
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from mezzotint.batch_protocol import MOST_DRAWN, MOST_WILDCARD_TEXT, WILDCARD_NAME, DrawRequest
from mezzotint.catalog.place import at_home
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import read_limited
from mezzotint.errors import ModelRefused, StorageError, UsageError
from mezzotint.jobs.matrix import alternatives
from mezzotint.request_protocol import MAX_PROMPT
from mezzotint.values.basic import is_text

MOST_PROMPTS = 10_000  # per row
DEEPEST = 8  # nested wildcards
MOST_CHOICES = 1000  # drawn for one prompt, or wildcards in it
_MOST_LINES = 100_000
_MOST_TEXT = 64 << 20  # characters of all prompts of a row
_FIRST_STAND_IN = 0xF0000  # private-use characters, which no prompt needs

_WILDCARD = re.compile(f"__({WILDCARD_NAME})__")
_INNERMOST = re.compile(r"\{([^{}]*)\}")
_ESCAPED = re.compile(r"\\([{|}\\])")
_HIDDEN = {mark: chr(0xFDD0 + number) for number, mark in enumerate("{|}\\")}  # noncharacters, while drawing choices
_SHOWN = {ord(hidden): mark for mark, hidden in _HIDDEN.items()}


class Wildcards:
    """The wildcard files of one folder, each read once. Without a folder, `__x__` is plain text."""

    def __init__(self, folder: Path | None, given: Mapping[str, str] = MappingProxyType({})) -> None:
        """`given`: texts by name, instead of those in files."""
        self._folder, self._given = folder, given
        self._lines: dict[str, tuple[str, ...]] = {}
        self._texts: dict[str, tuple[str, ...]] = {}

    def every(self, prompt: str) -> tuple[str, ...]:
        """Return every expansion of a prompt, last choice varying fastest. Raises UsageError if there are too many."""
        return self._expanded(prompt, ())

    def drawn(self, prompt: str, seed: int) -> str:
        """Return the expansion drawn by a seed, reproducible on every machine."""
        draw = _Draw(seed)
        for _ in range(DEEPEST + 1):
            prompt = draw.choices(_hidden(prompt))
            if len(prompt) > MAX_PROMPT:
                raise UsageError(f"the prompt grows to {len(prompt)} characters; at most {MAX_PROMPT} are allowed")
            if self._folder is None or not _WILDCARD.search(prompt):
                return _plain(prompt)
            prompt = _WILDCARD.sub(lambda found: draw.one_of(self._of(found[1])), _escaped(prompt))
        raise UsageError(f"wildcards are nested more than {DEEPEST} deep: '{plain(prompt, 60)}'")

    # ---- all expansions

    def _expanded(self, text: str, within: tuple[str, ...]) -> tuple[str, ...]:
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
            found = tuple(dict.fromkeys(text for line in self._of(name) for text in self._expanded(line, way)))
            if len(found) > MOST_PROMPTS:
                raise UsageError(f"the wildcard __{plain(name)}__ expands to {len(found)} texts, {_TOO_MANY}")
            self._texts[name] = found
        return self._texts[name]

    # ---- files

    def _of(self, name: str) -> tuple[str, ...]:
        if name not in self._lines:
            self._lines[name] = self._read(name)
        return self._lines[name]

    def _read(self, name: str) -> tuple[str, ...]:
        if name in self._given:
            return _lines_of(self._given[name].encode(errors="surrogateescape"), name)
        return _lines_of(wildcard_data(self._folder or Path(), name), name)


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


def _lines_of(data: bytes, name: str) -> tuple[str, ...]:
    text = data.decode("utf-8-sig", "surrogateescape")
    lines = [line.strip() for line in text.splitlines()[:_MOST_LINES]]
    kept = tuple(line for line in lines if line and not line.startswith("#"))
    if not kept:
        raise UsageError(f"the wildcard __{plain(name)}__ has no lines: write one text per line")
    if not all(map(is_text, kept)):
        raise UsageError(f"the file of the wildcard __{plain(name)}__ is not valid UTF-8: save it as UTF-8")
    return kept


# ---- drawing one expansion


class _Draw:
    """Choices by a seed: each from a hash, since random numbers differ between versions of Python."""

    def __init__(self, seed: int) -> None:
        self._seed, self._count = seed, 0

    def one_of(self, texts: Sequence[str]) -> str:
        """Draw one of the texts."""
        self._count += 1
        if self._count > MOST_CHOICES:
            raise UsageError(f"the prompt asks for more than {MOST_CHOICES} choices: simplify it")
        digest = hashlib.sha256(f"{self._seed}/{self._count}".encode()).digest()
        return texts[int.from_bytes(digest[:8], "big") % len(texts)]

    def choices(self, text: str) -> str:
        """Return the text with one alternative drawn at each place, innermost first."""
        while _INNERMOST.search(text):
            text = _INNERMOST.sub(self._chosen, text)
        return text

    def _chosen(self, found: re.Match[str]) -> str:
        """Braces without a bar are plain text."""
        inside = found[1]
        return self.one_of(inside.split("|")) if "|" in inside else f"{_HIDDEN['{']}{inside}{_HIDDEN['}']}"


def _hidden(text: str) -> str:
    return _ESCAPED.sub(lambda found: _HIDDEN[found[1]], text)


def _escaped(text: str) -> str:
    return text.translate({hidden: f"\\{mark}" for hidden, mark in _SHOWN.items()})


def _plain(text: str) -> str:
    return text.translate(_SHOWN)
