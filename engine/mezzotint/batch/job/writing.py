"""Write job files: what was set up in a window or on a command line, so that it can be run anywhere."""

import dataclasses
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import tomlkit

from mezzotint.atomic import atomic_write
from mezzotint.batch.job.job import MAX_CELLS, InputFolder, JobFile, JobOutput, Prompts
from mezzotint.batch.job.pruned import pruned
from mezzotint.batch.job.reading import MOST_TOML_BYTES
from mezzotint.batch.job.settings import request_of
from mezzotint.errors import StorageError, UsageError
from mezzotint.jobs.matrix import alternatives
from mezzotint.options import Options, options_of, read_settings, to_settings
from mezzotint.protocol import GenerateRequest, Output
from mezzotint.request_protocol import MAX_PROMPT
from mezzotint.trouble import shown
from mezzotint.values.basic import is_text

_MARKS = re.compile(r"[{|}\\]")


def write_job(job: JobFile, path: Path, *, overwrite: bool = False) -> None:
    """Write a job as .toml or .json, atomically. Raises StorageError, also if the file exists."""
    if path.suffix.lower() not in (".toml", ".json"):
        raise UsageError(f"{shown(path)} is not a job file: its name must end in .toml or .json")
    text = json_of(job) if path.suffix.lower() == ".json" else toml_of(job)
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError("the job contains an invalid character (a lone surrogate): remove it") from None
    if path.suffix.lower() == ".toml" and len(data) > MOST_TOML_BYTES:
        raise UsageError(
            f"the job has {len(data)} bytes, and .toml files are read up to {MOST_TOML_BYTES}: save it as .json, or "
            "put its prompts into a file or a table"
        )
    try:
        atomic_write(path, data, overwrite=overwrite)
    except FileExistsError:
        raise StorageError(f"{shown(path)} already exists: choose another name") from None


def toml_of(job: JobFile) -> str:
    """Return the job as TOML, without default values."""
    document = tomlkit.document()
    for name, value in data_of(job).items():
        document.add(name, _with_lines(tomlkit.item(value)))
    return tomlkit.dumps(document)


def json_of(job: JobFile) -> str:
    """Return the job as JSON."""
    return json.dumps(data_of(job), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _with_lines(item: Any) -> Any:  # noqa: ANN401  tomlkit's items have no useful common type
    """Break long lists into one item per line."""
    if isinstance(item, dict):
        for value in item.values():
            if isinstance(value, tomlkit.items.Array) and len(value.as_string()) > 80:
                value.multiline(True)
    return item


def data_of(job: JobFile) -> dict[str, Any]:
    """Return the JSON form of the job as plain data, without default values."""
    parts: dict[str, Any] = {
        "version": job.schema_version,
        "title": job.title,
        "settings": to_settings(job.settings),
        "prompts": _said(job.prompts, Prompts()),
        "input": None if job.input is None else _said(job.input, InputFolder(folder="")),
        "matrix": {name: list(values) for name, values in job.matrix},
        "output": _said(job.output, JobOutput(folder="")),
        "request": [pruned(request) for request in job.requests],
    }
    return {name: value for name, value in parts.items() if value}


def _said(part: Any, plain: Any) -> dict[str, Any]:  # noqa: ANN401  any section
    """Return the fields of a section that differ from its defaults."""
    pairs = ((field.name, getattr(part, field.name)) for field in dataclasses.fields(part))
    return {
        name.replace("_", "-"): list(value) if isinstance(value, tuple) else value
        for name, value in pairs
        if value != getattr(plain, name)
    }


# ---- requests as a job


def job_of(
    requests: Sequence[GenerateRequest], *, output: JobOutput | None = None, title: str = "", has_choices: bool = False
) -> JobFile:
    """Return a job for the requests: as options and prompts if these can express them, else request by request.

    `has_choices`: braces in the prompts are choices; otherwise they are literal.
    """
    plain = tuple(replace(request, output=Output(), previews=False) for request in requests)
    job = _in_words(plain, has_choices) or JobFile(requests=plain)
    return replace(job, title=title, output=output or JobOutput())


def _in_words(requests: Sequence[GenerateRequest], has_choices: bool) -> JobFile | None:
    """Return a list of prompts, each with every seed, if the requests differ in nothing else; otherwise None."""
    first = _stated(requests[0]) if requests else None
    prompts = tuple(dict.fromkeys(request.prompt for request in requests))
    seeds = tuple(dict.fromkeys(request.seed for request in requests))
    products = [(prompt, seed) for prompt in prompts for seed in seeds]
    alike = {replace(request, prompt="", seed=None) for request in requests}
    if first is None or len(alike) > 1 or products != [(request.prompt, request.seed) for request in requests]:
        return None
    words = prompts if has_choices else tuple(map(_without_choices, prompts))
    if None in words or len(seeds) > MAX_CELLS or (None in seeds and len(seeds) > 1):
        return None
    return JobFile(
        settings=first.replace(prompt=None, seed=seeds[0] if len(seeds) == 1 else None),
        prompts=Prompts(list=tuple(word for word in words if word is not None)),
        matrix=(("seed", tuple(seed for seed in seeds if seed is not None)),) if len(seeds) > 1 else (),
    )


def _without_choices(prompt: str) -> str | None:
    """Escape a prompt so that it is taken literally; None if that is impossible."""
    if not is_text(prompt) or len(prompt) > MAX_PROMPT:
        return None
    if _alternatives(prompt) == (prompt,):
        return prompt
    written = _MARKS.sub(lambda found: f"\\{found[0]}", prompt)
    return written if _alternatives(written) == (prompt,) else None


def _alternatives(prompt: str) -> tuple[str, ...]:
    try:
        return alternatives(prompt, limit=1)
    except UsageError:
        return ()


def _stated(request: GenerateRequest) -> Options | None:
    """Return the options that reproduce a request, or None if options cannot express it."""
    options = options_of(request)
    try:
        read = read_settings(to_settings(options), lambda name, _: UsageError(name))  # job files have tighter bounds
        stated = request_of(read.replace(prompt=request.prompt))
    except UsageError:
        return None
    return options if stated == replace(request, output=Output(), previews=False, styles=()) else None
