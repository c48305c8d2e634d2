"""Whether the images of a job can be shown as an X/Y/Z grid: by one to three values that vary."""

import math
from collections.abc import Sequence

from mezzotint.batch.job.job import JobFile
from mezzotint.errors import UsageError
from mezzotint.families.samplers import KNOWN_SAMPLERS, SCHEDULES
from mezzotint.trouble import shown

MAX_AXES = 3
MAX_AXIS_VALUES = 100
MAX_GRID_IMAGES = 1000
PROMPT_AXIS = "prompt"


def check_grid(job: JobFile) -> None:
    """Raise UsageError if a job with a grid has other images than one for each combination of values."""
    if not job.output.grid:
        return
    for name, known in (("sampler", KNOWN_SAMPLERS), ("schedule", SCHEDULES)):
        _check_names(job, name, known)
    if job.requests or job.input is not None or job.prompts.file or job.prompts.table:
        raise UsageError("a grid is made of prompts in a list and of a matrix: remove the other sources, or the grid")
    if (job.settings.count or 1) > 1:
        raise UsageError("a grid has one image for each combination: remove count, or vary the seed")
    axes, cells = [name for name, _ in job.matrix], math.prod(len(values) for _, values in job.matrix)
    if len(job.prompts.list) > 1:
        axes.append(PROMPT_AXIS)
    if len(axes) > MAX_AXES or not (axes or _has_alternatives(job)):
        raise UsageError(f"a grid has one to {MAX_AXES} axes; {len(axes)} values vary: {', '.join(axes) or 'none'}")
    longest = max((len(job.prompts.list), *(len(values) for _, values in job.matrix)))
    if longest > MAX_AXIS_VALUES:
        raise UsageError(f"an axis of {longest} values is too long for a grid; at most {MAX_AXIS_VALUES} are shown")
    if cells * len(job.prompts.list) > MAX_GRID_IMAGES:
        raise UsageError(
            f"{cells * len(job.prompts.list)} images are too many for one grid, which has at most {MAX_GRID_IMAGES}"
        )


def _check_names(job: JobFile, name: str, known: Sequence[str]) -> None:
    """Raise once for a name that no model knows, rather than for every image."""
    values = [value for axis, values in job.matrix if axis == name for value in values] or [getattr(job.settings, name)]
    unknown = next((value for value in values if value is not None and value not in known), None)
    if unknown is not None:
        raise UsageError(f"the {name} {shown(str(unknown))} is not known; known are {', '.join(known)}")


def _has_alternatives(job: JobFile) -> bool:
    return any(mark in prompt for prompt in job.prompts.list for mark in "{_")
