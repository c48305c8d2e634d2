"""Converts a job file to the Batch page's form: makes paths absolute and reports what it cannot represent."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from PySide6.QtCore import QCoreApplication

from mezzotint_app.viewmodel.batch.form import (
    BatchForm,
    Choices,
    Existing,
    ImageFormat,
    Job,
    MatrixRow,
    Work,
    absolute_path,
)
from mezzotint_app.viewmodel.create.state import DEFAULT_STRENGTH

translate = QCoreApplication.translate

_PATHS = ("init", "mask", "weights", "vae")  # settings that are paths
_LISTS_OF_PATHS = ("embedding", "lora", "reference", "text-encoder")
_MODEL_FILES = (".safetensors", ".gguf", ".ckpt")


def form_of(job: Job, base: str) -> tuple[BatchForm, str]:
    """Return the form, and a message on what was changed; `base` resolves the file's relative paths."""
    prompts, given, output = _table(job, "prompts"), _table(job, "input"), _table(job, "output")
    settings = {name: _rooted(name, value, base) for name, value in _table(job, "settings").items()}
    strength = settings.get("strength", DEFAULT_STRENGTH)
    lines = [str(one) for one in _listed(prompts.get("list"))]
    message = _messages(lines, settings)
    requests = job.get("request")
    form = BatchForm(
        source="requests" if requests else "folder" if given else "words",
        folder=_path(given.get("folder"), base),
        work=next((one for one in get_args(Work) if one == given.get("work")), "change"),
        recursive=given.get("recursive") is True,
        glob="; ".join(str(one) for one in _listed(given.get("glob"))),
        limit=_whole(given.get("limit")),
        masks=_path(given.get("masks"), base),
        sidecars=given.get("sidecars") is True,
        prompts="\n".join(" ".join(line.splitlines()) for line in lines),
        prompts_file=_path(prompts.get("file"), base),
        table=_path(prompts.get("table"), base),
        template=str(prompts.get("template") or ""),
        wildcards=_path(prompts.get("wildcards"), base),
        choices=_among(prompts.get("choices"), Choices, "all"),
        strength=float(strength) if isinstance(strength, int | float) else DEFAULT_STRENGTH,
        settings={name: value for name, value in settings.items() if not given or name != "strength"},
        matrix=tuple(_row(name, values) for name, values in _table(job, "matrix").items()),
        requests=tuple(_listed(requests)),
        title=str(job.get("title") or ""),
        output=_path(output.get("folder") or "out", base),
        name=str(output.get("name") or ""),
        format=_among(output.get("format"), ImageFormat, "png"),
        keep_tree=output.get("keep-tree", output.get("keep_tree")) is not False,
        existing=_among(output.get("existing"), Existing, "rename"),
        grid=output.get("grid") is True,
    )
    return form, message


def _messages(lines: list[str], settings: Mapping[str, object]) -> str:
    messages = []
    if any(len(line.splitlines()) > 1 for line in lines):
        messages.append(translate("Batch", "Line breaks in prompts were replaced with spaces."))
    if "mask" in settings or "init" in settings:
        messages.append(translate("Batch", "The job file uses one init image; it is kept, but not shown here."))
    return " ".join(messages)


def _rooted(name: str, value: object, base: str) -> object:
    if name in _PATHS and isinstance(value, str):
        return absolute_path(value, base)
    if name in _LISTS_OF_PATHS:
        return [absolute_path(one, base) if isinstance(one, str) else one for one in _listed(value)]
    if name in ("model", "refiner", "refine-with") and isinstance(value, str):
        is_path = value.startswith(".") or Path(value).suffix.lower() in _MODEL_FILES
        return absolute_path(value, base) if is_path else value
    return value


def _path(value: object, base: str) -> str:
    return absolute_path(value, base) if isinstance(value, str) and value else ""


def _table(job: Job, name: str) -> Job:
    found = job.get(name)
    return found if isinstance(found, dict) else {}


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else [] if value is None else [value]


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _row(name: str, values: object) -> MatrixRow:
    words = (str(one).lower() if isinstance(one, bool) else str(one) for one in _listed(values))
    return MatrixRow(setting=name, values=", ".join(words))


def _among(value: object, kind: Any, otherwise: Any) -> Any:  # noqa: ANN401  one of several literals
    return value if value in get_args(kind) else otherwise
