"""Weighted prompts for CLIP text encoders: A1111 syntax, and chunks that fit the encoder. No torch.

`(abc)` is 1.1 times as strong, `(abc:1.3)` 1.3 times, `[abc]` 1.1 times weaker; nested brackets multiply;
`\\(`, `\\)`, `\\[`, `\\]`, `\\\\` are the characters themselves; `BREAK`, a word in capitals, starts a new chunk.
Round and square brackets are matched independently, as in A1111. An unmatched bracket is plain text.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from mezzotint.errors import UsageError

PROMPT_LIMIT = 65_536  # characters
CHUNK_CAPACITY = 75  # tokens; the encoder adds the begin and end tokens, 77 in all
CHUNK_LIMIT = 64  # chunks of one prompt
COMMA_BACKTRACK = 20  # tokens before a chunk's end in which to look for a comma; A1111's default
WEIGHT_LIMIT = 10.0  # weights are clamped to -10..10
_STEP = 1.1

# Possessive (++, *+), so that malicious text cannot cause backtracking: the scan is linear.
_LEXEME = re.compile(
    r"\\[\\()\[\]]"  # an escaped character
    r"|:\s*+([+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++))\s*+\)"  # a weight and the bracket that it closes
    r"|[()\[\]]"
    r"|[^\\()\[\]:]++"
    r"|[\\:]"
)
_BREAK = re.compile(r"\bBREAK\b")


@dataclass(frozen=True, slots=True)
class Fragment:
    """Text and its weight."""

    text: str
    weight: float


@dataclass(frozen=True, slots=True)
class Break:
    """A chunk boundary that the user requested with BREAK."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """At most `capacity` tokens and as many weights, without begin, end and padding."""

    ids: tuple[int, ...]
    weights: tuple[float, ...]


def parse(prompt: str) -> tuple[Fragment | Break, ...]:
    """Parse the prompt into weighted fragments, in linear time.

    Raises `UsageError` beyond `PROMPT_LIMIT` characters, or for an unpaired surrogate.
    """
    if len(prompt) > PROMPT_LIMIT:
        raise UsageError(f"The prompt has {len(prompt)} characters; at most {PROMPT_LIMIT} can be read. Shorten it.")
    try:
        prompt.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"The prompt is not valid text at character {error.start + 1}; is it in UTF-8?") from None
    return _parse(prompt)


def has_weights(prompt: str) -> bool:
    """Whether the prompt uses the weight syntax, which only CLIP families support; never raises."""
    return any(isinstance(part, Break) or part.weight != 1.0 for part in _parse(prompt))


def chunk(
    fragments: Iterable[Fragment | Break], tokenize: Callable[[str], Sequence[int]], capacity: int = CHUNK_CAPACITY
) -> tuple[Chunk, ...]:
    """Split into at least one chunk; a full one is cut after the last comma of its last 20 tokens, if there is one.

    `tokenize` returns token ids without begin and end. Negative ids stand for learned vectors: adjacent ones are kept
    in one chunk if they fit. Raises `UsageError` beyond `CHUNK_LIMIT` chunks.
    """
    comma = tokenize(",")
    packer = _Packer(capacity, comma[0] if len(comma) == 1 else None)
    for part in fragments:
        if isinstance(part, Break):
            packer.close()
        else:
            for unit in _units(tokenize(part.text), capacity):
                packer.add(unit, part.weight)
    if packer.ids or not packer.chunks:
        packer.close()
    return tuple(packer.chunks)


# ---- the grammar


def _parse(prompt: str) -> tuple[Fragment | Break, ...]:
    lexemes = list(_LEXEME.finditer(prompt))
    factors = _pair_brackets(lexemes)
    parts: list[Fragment | Break] = []
    rounds, squares = [1.0], [1.0]
    for index, lexeme in enumerate(lexemes):
        if index in factors:
            stack = rounds if lexeme[0][-1] in "()" else squares
            factor = factors[index]
            if factor is None:
                stack.pop()
            else:
                stack.append(stack[-1] * factor)
        else:
            _append_text(parts, lexeme[0], _clamped(rounds[-1] * squares[-1]))
    return _merged(parts)


def _pair_brackets(lexemes: Sequence[re.Match[str]]) -> dict[int, float | None]:
    """Indices of matched brackets: the factor for an opening one, None for a closing one."""
    factors: dict[int, float | None] = {}
    rounds: list[int] = []
    squares: list[int] = []
    for index, lexeme in enumerate(lexemes):
        text = lexeme[0]
        if text == "(":
            rounds.append(index)
        elif text == "[":
            squares.append(index)
        elif text == "]" and squares:
            factors[squares.pop()], factors[index] = 1 / _STEP, None
        elif (text == ")" or lexeme[1] is not None) and rounds:
            factors[rounds.pop()], factors[index] = _STEP if lexeme[1] is None else _clamped(float(lexeme[1])), None
    return factors


def _clamped(weight: float) -> float:
    """Clamp to the limit. Overflow (thousands of brackets) may have made the weight infinite or, times 0, NaN."""
    if weight != weight:
        return 0.0
    return max(-WEIGHT_LIMIT, min(WEIGHT_LIMIT, weight))


def _append_text(parts: list[Fragment | Break], text: str, weight: float) -> None:
    if len(text) == 2 and text[0] == "\\":
        parts.append(Fragment(text[1], weight))
        return
    for number, piece in enumerate(_BREAK.split(text)):
        if number:
            parts.append(Break())
        if piece:
            parts.append(Fragment(piece, weight))


def _merged(parts: Iterable[Fragment | Break]) -> tuple[Fragment | Break, ...]:
    """Merge adjacent fragments of equal weight, so that words are not split at brackets that are plain text."""
    merged: list[Fragment | Break] = []
    for weight, run in groupby(parts, key=lambda part: None if isinstance(part, Break) else part.weight):
        if weight is None:
            merged.extend(run)
        else:
            merged.append(Fragment("".join(part.text for part in run if isinstance(part, Fragment)), weight))
    return tuple(merged)


# ---- chunks


def _units(ids: Sequence[int], capacity: int) -> Iterable[tuple[int, ...]]:
    """Yield tokens one by one, and runs of learned vectors as a whole unless no chunk can hold them."""
    for learned, run in groupby(ids, key=lambda token: token < 0):
        tokens = tuple(run)
        if learned and len(tokens) <= capacity:
            yield tokens
        else:
            yield from ((token,) for token in tokens)


class _Packer:
    """The chunk being filled, and the finished ones."""

    def __init__(self, capacity: int, comma: int | None) -> None:
        self.capacity, self.comma = capacity, comma
        self.chunks: list[Chunk] = []
        self.ids: list[int] = []
        self.weights: list[float] = []
        self.after_comma = 0  # tokens of this chunk up to its last comma, inclusive

    def add(self, unit: tuple[int, ...], weight: float) -> None:
        """Add tokens that belong together to this chunk, or to the next if it is full."""
        if len(self.ids) + len(unit) > self.capacity:
            is_comma = unit == (self.comma,)
            near = self.after_comma > 0 and len(self.ids) - self.after_comma < COMMA_BACKTRACK
            kept = self.after_comma if near and not is_comma else len(self.ids)
            rest = len(self.ids) - kept
            self.close(kept if rest + len(unit) <= self.capacity else len(self.ids))
        self.ids.extend(unit)
        self.weights.extend([weight] * len(unit))
        if unit == (self.comma,):
            self.after_comma = len(self.ids)

    def close(self, kept: int | None = None) -> None:
        """End the chunk after `kept` tokens (None: all); the others begin the next one."""
        if len(self.chunks) == CHUNK_LIMIT:
            most = CHUNK_LIMIT * self.capacity
            raise UsageError(f"The prompt needs more than {CHUNK_LIMIT} chunks ({most} tokens). Shorten it.")
        self.chunks.append(Chunk(tuple(self.ids[:kept]), tuple(self.weights[:kept])))
        self.ids, self.weights = (self.ids[kept:], self.weights[kept:]) if kept is not None else ([], [])
        self.after_comma = 0
