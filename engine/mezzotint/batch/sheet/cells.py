"""The cells of a grid: one for each combination of values, and where its image is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from mezzotint.batch.job.grid import MAX_AXES, MAX_AXIS_VALUES, MAX_GRID_IMAGES, PROMPT_AXIS
from mezzotint.batch.job.job import JobFile, MatrixValue
from mezzotint.batch.manifest.ledger import read_ledger
from mezzotint.batch.manifest.record import Record
from mezzotint.batch.tasks.tasks import BatchTask, Skipped, output_folder, tasks_of
from mezzotint.errors import UsageError
from mezzotint.values.basic import plain_number

Place = tuple[int, int, int]  # indices of the values along x, y and z


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A setting that varies, and its values as labels."""

    name: str = ""
    labels: tuple[str, ...] = ("",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The images of a grid: x from left to right, y from top to bottom, a table for each value of z."""

    title: str
    axes: tuple[Axis, Axis, Axis]  # x, y, z; unnamed ones do not vary
    files: Mapping[Place, str]  # relative to the folder, with / as separator; of images that exist


def grid_of(job: JobFile, base: Path) -> Grid:
    """The grid of a job: its matrix in order, then its prompts. Raises what reading the job raises, and UsageError."""
    items, folder = list(tasks_of(job, base=base)), output_folder(job, base)
    matrix = [Axis(name=name, labels=tuple(map(_written, values))) for name, values in job.matrix]
    per_prompt = math.prod(len(axis.labels) for axis in matrix)
    prompts = Axis(name=PROMPT_AXIS, labels=tuple(map(_prompt, items[::per_prompt])))
    axes = [*matrix, *([prompts] if len(prompts.labels) > 1 else [])]
    if not 1 <= len(axes) <= MAX_AXES or len(items) > MAX_GRID_IMAGES or _is_odd(items, per_prompt):
        raise UsageError(
            f"{len(items)} images by {', '.join(axis.name for axis in axes) or 'nothing'} do not fit a grid: it has "
            f"one to {MAX_AXES} axes of at most {MAX_AXIS_VALUES} values (alternatives in prompts are one), and "
            f"at most {MAX_GRID_IMAGES} images"
        )
    made = {key: one.output for key, one in read_ledger(folder).records().items() if _exists(one)}
    x, y, z = [*axes, *[Axis()] * (MAX_AXES - len(axes))]
    places = zip(items, (_place(index, matrix, per_prompt) for index in range(len(items))), strict=True)
    files = {place: made[item.key] for item, place in places if isinstance(item, BatchTask) and item.key in made}
    return Grid(title=job.title, axes=(x, y, z), files=files)


def _is_odd(items: Sequence[BatchTask | Skipped], per_prompt: int) -> bool:
    """Whether a row or too many alternatives spoil the table."""
    return len(items) % per_prompt != 0 or len(items) // per_prompt > MAX_AXIS_VALUES


def _exists(record: Record) -> bool:
    """Whether its image is there; a manifest can come from anywhere, so nothing outside the folder is read."""
    is_inside = not PurePosixPath(record.output).is_absolute() and ".." not in record.output.split("/")
    return is_inside and (record.status == "done" or record.kind == "exists")


def _place(index: int, matrix: Sequence[Axis], per_prompt: int) -> Place:
    """The last setting of the matrix varies fastest, prompts slowest."""
    prompt, rest, found = index // per_prompt, index % per_prompt, []
    for axis in reversed(matrix):
        rest, value = divmod(rest, len(axis.labels))
        found.append(value)
    padded = [*reversed(found), prompt, 0, 0, 0]
    return padded[0], padded[1], padded[2]


def _prompt(item: BatchTask | Skipped) -> str:
    return item.request.prompt if isinstance(item, BatchTask) else item.input


def _written(value: MatrixValue) -> str:
    """A value as a label; of files the name."""
    text = plain_number(value) if isinstance(value, float) else str(value)
    text = text.lower() if isinstance(value, bool) else text
    return text.replace("\\", "/").rpartition("/")[2] or text
