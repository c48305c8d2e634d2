"""What a job stands for, task by task: the same ones, in the same order, under the same names, on every machine."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from mezzotint import codec
from mezzotint.batch.job import JobFile
from mezzotint.batch.settings import request_of
from mezzotint.protocol import GenerateRequest, Output


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchTask:
    """One picture to be made."""

    key: str  # sha256 of what the picture is made from, wherever it is made and wherever it goes
    request: GenerateRequest  # complete: seed fixed, pictures with their sha256, the output under its planned name
    input: str | None  # its picture, from the input folder, with / between folders
    output: str  # from the output folder, with / between folders
    settings_hash: str  # sha256 of the request without the input's content and without the output
    input_hash: str | None  # sha256 of the input's content, and of its mask's


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A file or row that is no task, and why."""

    input: str  # from the input folder, or the row, such as "prompts.csv, row 7"
    reason: str
    kind: str  # image_refused, no_mask, not_a_file, link, no_prompt, usage, storage


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One part of a job that is made in `count` parts; `index` counts from 0."""

    index: int
    count: int

    def has(self, place: str) -> bool:
        """Whether a task belongs to it, by the sha256 of all but its input's content: that need not be read here."""
        return int(place, 16) % self.count == self.index


def tasks_of(job: JobFile, *, base: Path, shard: Shard | None = None) -> Iterator[BatchTask | Skipped]:
    """Every task of a job whose file lies in `base`, one at a time; what cannot be a task is told and passed over."""
    folder = base / job.output.folder
    for row, prompt in enumerate(job.prompts.list):
        request = request_of(replace(job.settings, prompt=prompt))
        settings = hashlib.sha256(codec.to_json(request).encode()).hexdigest()
        seed = int(settings[:8], 16) if request.seed is None else request.seed
        key = hashlib.sha256(f"{settings} {seed}".encode()).hexdigest()
        output = f"{row + 1:04d}.{job.output.format}"
        if shard is None or shard.has(key):
            yield BatchTask(
                key=key,
                request=replace(request, seed=seed, output=Output(path=str(folder / output))),
                input=None,
                output=output,
                settings_hash=settings,
                input_hash=None,
            )
