"""The remaining part of a task, requested as if its finished images had just been generated before it."""

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
class RemainingRequest:
    """The next request for the engine."""

    request: GenerateRequest
    missing_after: int  # images that are still missing after this request


def remaining_request(request: GenerateRequest, made: Collection[int]) -> RemainingRequest:
    """Return the request for the first missing images; needs a fixed seed, and at least one missing image."""
    missing = [number for number in range(request.count) if number not in made]
    if len(missing) == request.count:
        return RemainingRequest(request=request, missing_after=0)
    first = missing[0]
    run = 1 if _numbers_names(request.output, request.count) else _together(missing)
    part = replace(
        request,
        seed=(request.seed or 0) + first,
        count=run,
        output=_named_as_in_whole(request.output, first, request.count),
    )
    return RemainingRequest(request=part, missing_after=len(missing) - run)


def index_of_seed(seed: int, first_seed: int, count: int) -> int | None:
    """Return the index of the task's image with that seed; None if there is none."""
    number = seed - first_seed
    return number if 0 <= number < count else None


def _together(missing: list[int]) -> int:
    """Return how many indices are consecutive from the first on."""
    run = 1
    while run < len(missing) and missing[run] == missing[0] + run:
        run += 1
    return run


def _numbers_names(output: Output, count: int) -> bool:
    """Whether file names depend on the index or count: then each image is requested separately."""
    if output.path is None or _is_folder(output.path):
        return False
    return _has(_NUMBERED, output.path) or (count > 1 and not _has(_DISTINGUISHING, output.path))


def _named_as_in_whole(output: Output, number: int, count: int) -> Output:
    """Return the output with the name that the engine would have used for the complete request."""
    if output.path is None or not _numbers_names(output, count):
        return output
    path = output.path if _has(_DISTINGUISHING, output.path) else _with_index(output.path)
    values = {"index": str(number + 1).zfill(len(str(count))), "count": str(count)}
    return replace(output, path=_NUMBERED.sub(lambda found: values.get(found[1] or "", found[0]), path))


def _with_index(path: str) -> str:
    """Add an index to the name, as the engine does for several images of one name."""
    folder, name = os.path.split(path)
    parts = _WHOLE_NAME.fullmatch(name)
    if parts is None:
        return path
    return str(Path(folder, f"{parts['stem']}-[index]{parts['suffix'] or ''}"))


def _has(pattern: re.Pattern[str], path: str) -> bool:
    return any(found[1] for found in pattern.finditer(path))


def _is_folder(path: str) -> bool:
    return path.endswith(("/", os.sep))
