"""The part of a task that is still to be made: as if the images that are there had just been made before it."""

import os
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from mezzotint.protocol import GenerateRequest, Output

_NUMBERED = re.compile(r"\[\[|\[(index|count)\]")
_DISTINGUISHING = re.compile(r"\[\[|\[(seed|index)\]")
_WHOLE_NAME = re.compile(r"(?P<stem>.+?)(?P<suffix>\.[^./\\\[\]]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowed:
    """What to ask the engine for now."""

    request: GenerateRequest
    left_after: int  # images that are missing even when this is made


def narrowed(request: GenerateRequest, made: Collection[int]) -> Narrowed:
    """The request for the first of its images that are not made; with a seed, and not all made."""
    missing = [number for number in range(request.count) if number not in made]
    if len(missing) == request.count:
        return Narrowed(request=request, left_after=0)
    first = missing[0]
    run = 1 if _numbers_names(request.output, request.count) else _together(missing)
    part = replace(
        request,
        seed=(request.seed or 0) + first,
        count=run,
        output=_named_as_in_whole(request.output, first, request.count),
    )
    return Narrowed(request=part, left_after=len(missing) - run)


def number_of(seed: int, first_seed: int, count: int) -> int | None:
    """Which image of a task has that seed; None: none of them."""
    number = seed - first_seed
    return number if 0 <= number < count else None


def _together(missing: list[int]) -> int:
    """How many follow each other from the first on."""
    run = 1
    while run < len(missing) and missing[run] == missing[0] + run:
        run += 1
    return run


def _numbers_names(output: Output, count: int) -> bool:
    """Whether an image's name tells which of the count it is: then each is asked for by itself."""
    if output.path is None or _is_folder(output.path):
        return False
    return _has(_NUMBERED, output.path) or (count > 1 and not _has(_DISTINGUISHING, output.path))


def _named_as_in_whole(output: Output, number: int, count: int) -> Output:
    """The name that the engine would have given when asked for all."""
    if output.path is None or not _numbers_names(output, count):
        return output
    path = output.path if _has(_DISTINGUISHING, output.path) else _with_index(output.path)
    values = {"index": str(number + 1).zfill(len(str(count))), "count": str(count)}
    return replace(output, path=_NUMBERED.sub(lambda found: values.get(found[1] or "", found[0]), path))


def _with_index(path: str) -> str:
    """Several images of one name are told apart as the engine does it."""
    folder, name = os.path.split(path)
    parts = _WHOLE_NAME.fullmatch(name)
    if parts is None:
        return path
    return str(Path(folder, f"{parts['stem']}-[index]{parts['suffix'] or ''}"))


def _has(pattern: re.Pattern[str], path: str) -> bool:
    return any(found[1] for found in pattern.finditer(path))


def _is_folder(path: str) -> bool:
    return path.endswith(("/", os.sep))
