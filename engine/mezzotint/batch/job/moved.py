"""A job for a file in another folder: its relative paths as whole ones, so that they mean the same from there."""

from dataclasses import replace
from pathlib import Path

from mezzotint.batch.job.job import InputFolder, JobFile, MatrixValue, Prompts
from mezzotint.batch.job.rooted import rooted, whole, whole_model
from mezzotint.batch.job.settings import Options
from mezzotint.batch.tasks.tables import TableRow, read_table
from mezzotint.errors import UsageError

_FILES = ("init", "mask", "embedding", "lora", "weights")  # settings that are paths
_MODELS = ("model", "refiner")  # settings that may be


def moved(job: JobFile, base: Path, folder: Path) -> JobFile:
    """The job, read from a file in `base`, as it must be written in `folder`. UsageError where that cannot be."""
    if base.absolute() == folder.absolute():
        return job
    _check_table(job, base)
    return replace(
        job,
        settings=_settings(job.settings, base),
        prompts=_prompts(job.prompts, base),
        input=None if job.input is None else _input(job.input, base),
        requests=tuple(rooted(request, base) for request in job.requests),
        matrix=tuple((name, tuple(_value(name, value, base) for value in values)) for name, values in job.matrix),
        output=replace(job.output, folder=whole(job.output.folder, base)),
    )


def _settings(said: Options, base: Path) -> Options:
    return replace(
        said,
        init=_whole(said.init, base),
        mask=_whole(said.mask, base),
        weights=_whole(said.weights, base),
        embedding=tuple(whole(path, base) for path in said.embedding),
        lora=tuple(replace(lora, path=whole(lora.path, base)) for lora in said.lora),
        model=None if said.model is None else whole_model(said.model, base),
        refiner=None if said.refiner is None else whole_model(said.refiner, base),
    )


def _prompts(said: Prompts, base: Path) -> Prompts:
    return replace(
        said,
        file=_whole(said.file, base),
        table=_whole(said.table, base),
        wildcards=_whole(said.wildcards, base),
    )


def _input(said: InputFolder, base: Path) -> InputFolder:
    return replace(said, folder=whole(said.folder, base), masks=_whole(said.masks, base))


def _value(name: str, value: MatrixValue, base: Path) -> MatrixValue:
    if not isinstance(value, str):
        return value
    if name in _FILES:
        return whole(value, base)
    return whole_model(value, base) if name in _MODELS else value


def _whole(path: str | None, base: Path) -> str | None:
    return None if path is None else whole(path, base)


def _check_table(job: JobFile, base: Path) -> None:
    """A table is not written anew: files that its cells name are from the folder of the job."""
    if job.prompts.table is None:
        return
    rows = read_table(Path(whole(job.prompts.table, base)))
    first = next((row for row in rows if isinstance(row, TableRow)), None)
    named = next((name for name in _FILES if first is not None and name in first.cells), None)
    if named is not None:
        raise UsageError(
            f"the table names files in its column {named}, which are from the folder of the job: save it in {base}"
        )
