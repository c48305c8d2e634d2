"""Move a job to a file in another folder: relative paths become absolute, so that they keep their meaning."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from mezzotint.batch.job.absolute_paths import (
    absolute,
    absolute_control,
    absolute_folder,
    absolute_model,
    absolute_upscaler,
    with_absolute_paths,
)
from mezzotint.batch.job.job import InputFolder, JobFile, MatrixValue, Prompts
from mezzotint.batch.tasks.columns import read_columns
from mezzotint.batch.tasks.tables import TableRow, read_table
from mezzotint.control_protocol import ControlImage
from mezzotint.errors import UsageError
from mezzotint.options import SETTINGS, Options
from mezzotint.request_protocol import LoraFile
from mezzotint.values.basic import Listed, ModelName, NameOrFile, Value
from mezzotint.values.basic import Path as PathValue
from mezzotint.values.details import Detail
from mezzotint.values.regions import Region

_FILES = tuple(
    name
    for name, one in SETTINGS.items()
    if isinstance(one.takes, Listed)
    or (isinstance(one.takes, PathValue) and not isinstance(one.takes, ModelName | NameOrFile))
)


def moved(job: JobFile, base: Path, folder: Path) -> JobFile:
    """Return a job read from a file in `base` as it must be written in `folder`. Raises UsageError if impossible."""
    if base.absolute() == folder.absolute():
        return job
    _check_table(job, base)
    return replace(
        job,
        settings=_settings(job.settings, base),
        prompts=_prompts(job.prompts, base),
        input=None if job.input is None else _input(job.input, base),
        requests=tuple(with_absolute_paths(request, base) for request in job.requests),
        matrix=tuple((name, tuple(_value(name, value, base) for value in values)) for name, values in job.matrix),
        output=replace(job.output, folder=absolute(job.output.folder, base)),
    )


def _settings(said: Options, base: Path) -> Options:
    return said.replace(**{one.field: _moved(one.takes, value, base) for one, value in said.each()})


def _moved(takes: Value, value: Any, base: Path) -> Any:  # noqa: ANN401  any option value
    match takes:
        case Listed():
            return tuple(_moved(takes.each, one, base) for one in value)
        case LoraFile():
            return replace(value, path=absolute(value.path, base))
        case Region():
            return value.with_mask(lambda path: absolute(path, base))
        case Detail():
            return value.with_model(lambda name: absolute_folder(name, base))
        case ControlImage():
            return absolute_control(value, base)
        case ModelName():
            return absolute_model(value, base)
        case NameOrFile():
            return absolute_upscaler(value, base)
        case PathValue():
            return absolute(value, base)
    return value


def _prompts(said: Prompts, base: Path) -> Prompts:
    return replace(
        said,
        file=_absolute(said.file, base),
        table=_absolute(said.table, base),
        wildcards=_absolute(said.wildcards, base),
    )


def _input(said: InputFolder, base: Path) -> InputFolder:
    return replace(said, folder=absolute(said.folder, base), masks=_absolute(said.masks, base))


def _value(name: str, value: MatrixValue, base: Path) -> MatrixValue:
    takes = SETTINGS[name].takes
    if not isinstance(value, str):
        return value
    if isinstance(takes, Listed):  # of which one value varies
        return str(takes.each.to_setting(_moved(takes.each, takes.each.read(value), base)))
    moved_value: MatrixValue = _moved(takes, value, base)
    return moved_value


def _absolute(path: str | None, base: Path) -> str | None:
    return None if path is None else absolute(path, base)


def _check_table(job: JobFile, base: Path) -> None:
    """Reject tables with file names: these are relative to the job's folder, and the table is not rewritten."""
    if job.prompts.table is None:
        return
    rows = read_table(Path(absolute(job.prompts.table, base)))
    first = next((row for row in rows if isinstance(row, TableRow)), None)
    columns = read_columns(tuple(first.cells), frozenset(), "").take(lambda _: None) if first is not None else None
    named = next((one for one, option in columns.settings.items() if option.name in _FILES), None) if columns else None
    if named is not None:
        raise UsageError(
            f"the paths in the column {named} of the table are relative to the folder of the job: save it in {base}"
        )
