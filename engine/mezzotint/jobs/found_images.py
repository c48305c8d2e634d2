"""Find images that a process finished but died before reporting to the queue, so that they are not made twice."""

import html
import os
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import fields, replace
from pathlib import Path

from mezzotint import codec
from mezzotint.errors import MezzotintError
from mezzotint.jobs.remaining import index_of_seed
from mezzotint.jobs.tasks import Task
from mezzotint.protocol import GeneratedImage, GenerateRequest, ModelRef, Sampling, Stage

_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
_CLOCKS_DIFFER = 3.0  # seconds: some file systems store times that coarsely
_MOST_BYTES = 256 << 20
_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_TEXT = b"mezzotint\0"
_IN_XMP = re.compile(rb"<mezzotint:record>([^<]*)</mezzotint:record>")
_LORA_TAG = re.compile(r"<(?:lora|lyco):[^<>]*>")
_PIECES = re.compile(r"\[\[|\[[^\[\]]*\]|[^\[]+|\[")

Known = Callable[[Collection[str]], set[str]]  # returns the paths that the queue already has as images


def found_images(task: Task, since: float, known: Known) -> list[GeneratedImage]:
    """Return images in the task's output location that were written since it began and whose metadata match it."""
    missing = set(range(task.request.count)) - {image.index for image in task.images}
    if task.request.output.path is None or not missing:
        return []
    recent = [path for path in _where(task.request.output.path) if _written(path) >= since - _CLOCKS_DIFFER]
    unknown = sorted(set(recent) - known(recent))
    return list(_images(task.request, unknown, missing))


def _images(request: GenerateRequest, paths: list[str], missing: set[int]) -> Iterator[GeneratedImage]:
    for path in paths:
        made = record_in(path)
        if made is None or not matches_loosely(request, made[0]):
            continue
        number = index_of_seed(made[1].seed, request.seed or 0, request.count)
        if number in missing:
            missing.remove(number)
            yield replace(made[1], path=path, index=number)


# ---- search


def _where(template: str) -> Iterator[str]:
    """Yield image files whose names the template may have produced."""
    path = os.path.expanduser(template)  # noqa: PTH111  a Path would lose the slash at the end
    parts = Path(path).parts
    is_folder = path.endswith(("/", os.sep)) or Path(path).is_dir()
    folders = _folders(parts if is_folder else parts[:-1])
    name = re.compile(".*" if is_folder else rf"{_pattern(Path(path).stem)}.*", re.DOTALL)
    for folder in folders:
        for entry in _listed(folder):
            if entry.name.lower().endswith(_SUFFIXES) and name.fullmatch(entry.name):
                yield entry.path


def _folders(parts: tuple[str, ...]) -> list[str]:
    """Return the folders for a path; a part with tokens matches every folder that fits."""
    found = [parts[0]]
    for part in parts[1:]:
        if "[" not in part.replace("[[", ""):
            found = [os.path.join(folder, part.replace("[[", "[")) for folder in found]  # noqa: PTH118
        else:
            pattern = re.compile(_pattern(part), re.DOTALL)
            entries = (entry for folder in found for entry in _listed(folder))
            found = [entry.path for entry in entries if pattern.fullmatch(entry.name) and entry.is_dir()]
    return found


def _pattern(component: str) -> str:
    """Return a regex: tokens match anything, and special characters may have been replaced or dropped."""
    return "".join(_piece(found[0]) for found in _PIECES.finditer(component))


def _piece(text: str) -> str:
    if text.startswith("[") and text.endswith("]"):
        return ".*"
    return "".join(one if one.isalnum() or one in "_-" else ".?" for one in text.replace("[[", "["))


def _listed(folder: str) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _written(path: str) -> float:
    try:
        return Path(path).stat().st_mtime
    except OSError:
        return 0.0


# ---- metadata


def record_in(path: str) -> tuple[GenerateRequest, GeneratedImage] | None:
    """Return the request and image in the metadata of one of our images; None for anything else."""
    try:
        data = Path(path).read_bytes() if Path(path).stat().st_size <= _MOST_BYTES else b""
        written = codec.parse_json(_text_in_png(data) if data.startswith(_PNG) else _text_in_xmp(data))
        if not isinstance(written, dict):
            return None
        request = codec.decode(GenerateRequest, written.get("request"))
        return request, codec.decode(GeneratedImage, written.get("image"))
    except (OSError, MezzotintError):
        return None


def _text_in_png(data: bytes) -> bytes:
    """Return the record's text chunk, which precedes the pixels."""
    at = len(_PNG)
    while at + 8 <= len(data):
        length, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        content = data[at + 8 : at + 8 + length]
        if kind == b"tEXt" and content.startswith(_PNG_TEXT):
            return content[len(_PNG_TEXT) :]
        if kind == b"IDAT":
            break
        at += length + 12
    return b""


def _text_in_xmp(data: bytes) -> str:
    found = _IN_XMP.search(data)
    return html.unescape(found[1].decode("utf-8", "replace")) if found else ""


def matches_loosely(asked: GenerateRequest, made: GenerateRequest) -> bool:
    """Whether `made` matches what is set of prompts, sizes, sampling and models in `asked`; LoRA tags may differ."""
    stages = list(zip(asked.cascade.stages, made.cascade.stages, strict=False))
    return (
        _words(asked.prompt) == _words(made.prompt)
        and _words(asked.negative_prompt) == _words(made.negative_prompt)
        and len(asked.cascade.stages) == len(made.cascade.stages)
        and all(_stage_matches(one, other) for one, other in stages)
    )


def _words(prompt: str) -> list[str]:
    return _LORA_TAG.sub("", prompt).split()


def _stage_matches(asked: Stage, made: Stage) -> bool:
    said = [(asked.width, made.width), (asked.height, made.height)]
    names = [field.name for field in fields(Sampling) if field.name not in ("sampler", "schedule")]  # have aliases
    said += [(getattr(asked.sampling, name), getattr(made.sampling, name)) for name in names]
    return all(wanted is None or wanted == done for wanted, done in said) and same_model(asked.model, made.model)


def same_model(asked: ModelRef | None, made: ModelRef | None) -> bool:
    """Compare by name: a model that was requested by path has an id once it is found."""
    if asked is None or made is None:
        return True
    names = [[Path(path).name for path in (model.id, *model.parts)] for model in (asked, made)]
    return names[0] == names[1]
