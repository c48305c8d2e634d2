"""Parses untrusted JSON: bounded size and depth, no duplicate keys, no NaN, no overflowing numbers."""

import json
import math
import re
from pathlib import Path

from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import read_limited, without_mark
from mezzotint.errors import ModelRefused

MAX_DEPTH = 32
# Possessive, with everything after the first quote optional: linear time on any input.
_STRING = re.compile(rb'"(?:[^"\\]++|\\(?:.|\Z))*+"?', re.DOTALL)
_NOT_BRACKETS = bytes(sorted(set(range(256)) - set(b"[]{}")))


def read_json_object(path: Path, limit: int) -> dict[str, object]:
    """Return the object in a JSON file of at most `limit` bytes; raises ModelRefused if there is none.

    It may begin with a byte order mark, as Windows's editors and PowerShell write one.
    """
    return parse_json_object(without_mark(read_limited(path, limit)), path)


def parse_json_object(data: bytes, where: object, most_values: int | None = None) -> dict[str, object]:
    """Return the JSON object in `data`; raises ModelRefused naming `where` if there is none, or one of more values."""
    value = _parsed(data, where, most_values)
    if not isinstance(value, dict):
        raise ModelRefused(f"{plain(where, 300)}: JSON, but not an object")
    return value


def parse_json_list(data: bytes, where: object) -> list[object]:
    """Return the JSON list in `data`; raises ModelRefused naming `where` if there is none."""
    value = _parsed(data, where)
    if not isinstance(value, list):
        raise ModelRefused(f"{plain(where, 300)}: JSON, but not a list")
    return value


def _parsed(data: bytes, where: object, most_values: int | None = None) -> object:
    try:
        _check_structure(data, most_values)
        value: object = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_without_double_keys,
            parse_constant=_infinity,
            parse_float=_finite,
        )
    except ValueError as error:  # json's own errors, bad UTF-8, and ours below
        raise ModelRefused(f"{plain(where, 300)}: not proper JSON: {plain(error)}") from None
    return value


def _check_structure(data: bytes, most_values: int | None) -> None:
    between = _STRING.sub(b"", data)
    if most_values is not None and between.count(b",") + between.count(b":") > most_values:
        raise ValueError(f"more than {most_values} values")
    # Strip the innermost brackets MAX_DEPTH times: any that remain are nested deeper, or never closed. The parser has
    # a recursion limit, but a library may have raised that beyond what the stack can hold.
    brackets = between.translate(None, _NOT_BRACKETS)
    for _ in range(MAX_DEPTH):
        peeled = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if len(peeled) == len(brackets):
            break
        brackets = peeled
    if brackets:
        raise ValueError("brackets that are nested too deeply or never closed")


def _without_double_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        double = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key '{plain(double, 60)}' appears twice")
    return result


def _infinity(name: str) -> float:
    """Accept Infinity, which diffusers writes for an absent bound (`lambda_min_clipped`); refuse NaN."""
    if name == "NaN":
        raise ValueError("NaN is not a JSON number")
    return float(name)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{plain(text, 30)} is too large a number")
    return value
