"""Names for the images of a job, settled before anything is generated: no two clash on any file system."""

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from mezzotint.batch.job.job import JobOutput
from mezzotint.batch.tasks.inputs import folded
from mezzotint.batch.tasks.seen import Seen
from mezzotint.errors import UsageError
from mezzotint.images.template import MAX_COMPONENT_BYTES, cut_bytes, safe_component, safe_value, slug
from mezzotint.protocol import GenerateRequest
from mezzotint.trouble import shown

RUN_FOLDER = ".mezzotint"  # in the output folder; made by the run, so that it tells whether the folder's disk is there
NAME_OF_INPUT = "[stem]"
NAME_OF_ROW = "[row]-[prompt]"
TOKENS = (
    "stem", "row", "prompt", "seed", "index", "count", "matrix", "model", "width", "height", "steps", "sampler",
)  # fmt: skip
_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
_TOKEN = re.compile(r"\[\[|\[([^\[\]]*)\]")
_LONGEST_ON_WINDOWS = 259  # characters of a full path


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedBy:
    """What determines the name of one image."""

    request: GenerateRequest  # with its seed and its prompt
    input: str | None  # relative to the input folder
    row: int
    index: int  # within the count, from 0
    count: int
    cell: str  # of the matrix, such as "steps-20"; empty without a matrix
    fields: Mapping[str, str]  # cells of a table by column


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """The name of one image."""

    path: str  # relative to the output folder, with / as separator
    is_twin: bool  # another image has the requested name


class Names:
    """Assigns unique names: the same ones in the same order on every machine."""

    def __init__(self, output: JobOutput, *, has_input: bool, matrix: Collection[str] = ()) -> None:
        self._output = output
        self._parts = _parts(output, has_input, matrix)
        self._taken = Seen()
        self._last: dict[str, int] = {}  # number used last, by names requested more than once

    def name(self, by: NamedBy) -> "Name":
        """Return the path of an image. Raises UsageError for a token that has no value."""
        values = _values(by)
        parts = [_filled(part, values) for part in self._with_index(by.count)]
        folders = by.input.split("/")[:-1] if by.input is not None and self._output.keep_tree else []
        whole = "/".join([*map(safe_component, folders), *parts])
        free = self._untaken(whole)
        return Name(path=f"{free}.{self._output.format}", is_twin=free != whole)

    def _with_index(self, count: int) -> list[str]:
        if count > 1 and not {"index", "seed"} & _tokens(self._parts):
            return [*self._parts[:-1], f"{self._parts[-1]}-[index]"]
        return self._parts

    def _untaken(self, name: str) -> str:
        """Append -2, -3 and so on to a name in use, also if only some file systems treat the names as equal."""
        asked = folded(name)
        if self._taken.add(asked):
            return name
        number = self._last.get(asked, 1)
        while True:
            number += 1
            other = _numbered(name, number)
            if self._taken.add(folded(other)):
                self._last[asked] = number
                return other


def whole_path(folder: Path, name: str, *, windows: bool = os.name == "nt") -> Path:
    """Return the full path of an image. Raises UsageError for a path that the system does not support."""
    path = folder.joinpath(*name.split("/"))
    if windows and len(str(path)) > _LONGEST_ON_WINDOWS:
        raise UsageError(
            f"its path has {len(str(path))} characters, more than Windows allows: use a folder with a shorter path"
        )
    return path


def as_template(path: Path) -> str:
    """Return a path as a template for the engine, with its brackets escaped."""
    return str(path).replace("[", "[[")


def check_name(output: JobOutput, columns_may_be: bool) -> None:
    """Raise UsageError for an invalid name template; columns of a table are checked row by row."""
    parts = _parts(output, has_input=True, matrix=())
    unknown = sorted(_tokens(parts) - set(TOKENS))
    if unknown and (not columns_may_be or unknown[0] in ("date", "time")):
        reason = "names must be the same in every run; " if unknown[0] in ("date", "time") else ""
        known = " ".join(f"[{token}]" for token in TOKENS)
        raise UsageError(
            f"[{shown(unknown[0])}] cannot be used in the names of a job's images: {reason}expected one of {known}"
        )


def _parts(output: JobOutput, has_input: bool, matrix: Collection[str]) -> list[str]:
    name = output.name if output.name is not None else NAME_OF_INPUT if has_input else NAME_OF_ROW
    parts = name.split("/")
    ending = next((suffix for suffix in _SUFFIXES if name.lower().endswith(suffix)), "")
    if ending:
        parts[-1] = parts[-1][: -len(ending)]
        if ending.replace("jpeg", "jpg") != f".{output.format}":
            raise UsageError(f"the name ends in {ending}, but the format is {output.format}: remove the ending")
    if not all(part.strip(" .") for part in parts) or any(ord(one) < 32 for one in name):
        raise UsageError(
            f"the name {shown(name)} is invalid: expected a name below the output folder, such as [stem] or "
            "[model]/[row]"
        )
    told = {"width", "height"} if "size" in matrix else set()
    told |= set(matrix) - {"size"}
    if matrix and "matrix" not in _tokens(parts) and not told <= _tokens(parts) & set(TOKENS):
        parts[-1] += "-[matrix]"
    return parts


def _tokens(parts: list[str]) -> set[str]:
    return {found[1] for part in parts for found in _TOKEN.finditer(part) if found[1] is not None}


def _filled(part: str, values: Mapping[str, str | None]) -> str:
    def value(found: re.Match[str]) -> str:
        if found[1] is None:
            return "["
        given = values.get(found[1])
        if given is None:
            raise UsageError(f"[{shown(found[1])}] is used in the name but has no value: set it in the job")
        return safe_value(given)

    return safe_component(_TOKEN.sub(value, part))


def _values(by: NamedBy) -> dict[str, str | None]:
    request = by.request
    stage = request.cascade.stages[0] if request.cascade.stages else None
    sampling = stage.sampling if stage is not None else None
    model = stage.model.id if stage is not None and stage.model is not None else None
    return {
        **by.fields,
        "stem": None if by.input is None else by.input.rpartition("/")[2].rpartition(".")[0] or by.input,
        "row": f"{by.row:04d}",
        "prompt": slug(request.prompt),
        "seed": str(request.seed),
        "index": str(by.index + 1).zfill(len(str(by.count))),
        "count": str(by.count),
        "matrix": by.cell,
        "model": None if model is None else _last_name(model),
        "width": _written(stage and stage.width),
        "height": _written(stage and stage.height),
        "steps": _written(sampling and sampling.steps),
        "sampler": sampling.sampler if sampling is not None else None,
    }


def _last_name(model: str) -> str:
    return model.replace("\\", "/").rstrip("/").rpartition("/")[2].removesuffix(".safetensors") or "model"


def _written(value: object) -> str | None:
    return str(value) if isinstance(value, int) else None


def _numbered(name: str, number: int) -> str:
    folder, slash, last = name.rpartition("/")
    ending = f"-{number}"
    return f"{folder}{slash}{cut_bytes(last, MAX_COMPONENT_BYTES - len(ending))}{ending}"
