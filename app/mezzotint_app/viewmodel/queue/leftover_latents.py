"""Latents that a job has left behind, and whether a task can be finished from them: files of our own, read warily."""

import os
from collections.abc import Callable, Collection
from dataclasses import fields
from pathlib import Path
from typing import TypeVar

from mezzotint.codec import decode, parse_json
from mezzotint.errors import MezzotintError
from mezzotint.protocol import Cascade, GenerateRequest, ImageInput, LoraRef, ModelRef, Sampling, Stage

T = TypeVar("T")

SUFFIX = ".latents.safetensors"
_RECORD, _WANTED = "mezzotint_record", "mezzotint_path"
_LARGEST_HEADER = 16 << 20  # bytes
_CLOCKS_DIFFER = 3.0  # seconds: disks keep times as coarsely as that
_MOST_FILES = 200  # that are looked at, newest first


def leftover(folder: Path, request: GenerateRequest, since: float, without: Collection[str] = ()) -> str | None:
    """The newest file of a folder from which an image of this request can be finished; its seed is not open.

    `since`: when the task was first begun. Older files are of others, even where what they were asked agrees.
    """
    for path in _newest_first(folder, since - _CLOCKS_DIFFER):
        if str(path) not in without and _finishes(path, request):
            return str(path)
    return None


def _newest_first(folder: Path, since: float) -> list[Path]:
    try:
        written = {path: path.stat().st_mtime for path in folder.iterdir() if path.name.endswith(SUFFIX)}
    except OSError:
        return []
    recent = [path for path in written if written[path] >= since]
    return sorted(recent, key=lambda path: written[path], reverse=True)[:_MOST_FILES]


def _finishes(path: Path, request: GenerateRequest) -> bool:
    try:
        wanted, made = _read(path)
    except (OSError, ValueError, MezzotintError):
        return False
    first = request.seed or 0
    return (
        made.seed is not None
        and first <= made.seed < first + request.count
        and _goes_there(request.output.path, wanted)
        and agrees(request, made)
    )


def _read(path: Path) -> tuple[str, GenerateRequest]:
    """Where the image was to go, and its request."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if size > _LARGEST_HEADER:
            raise ValueError(f"a header of {size} bytes")
        header = parse_json(file.read(size))
    about = _member(header, "__metadata__")
    record = parse_json(_text(_member(about, _RECORD)))
    return _text(_member(about, _WANTED)), decode(GenerateRequest, _member(record, "request"))


def _member(data: object, name: str) -> object:
    if not isinstance(data, dict) or name not in data:
        raise ValueError(f"no {name}")
    return data[name]


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("no text")
    return value


def _goes_there(template: str | None, wanted: str) -> bool:
    """Whether the image would lie where the template begins."""
    if template is None:
        return False
    begin = os.path.expanduser(template.partition("[")[0])  # noqa: PTH111  a Path would lose the slash at the end
    return wanted.startswith(begin)


def agrees(asked: GenerateRequest, made: GenerateRequest) -> bool:
    """Whether all that was said is what was done; what was left open may be anything."""
    return (
        (asked.prompt, asked.negative_prompt) == (made.prompt, made.negative_prompt)
        and _cascades_agree(asked.cascade, made.cascade)
        and _all(_same_picture, asked.images, made.images)
        and _said(asked.strength, made.strength)
        and _said(asked.inpaint, made.inpaint)
        and _all(_same_file, asked.embeddings, made.embeddings)
        and _all(_same_lora, asked.loras, made.loras)
        and (asked.dtype in ("auto", made.dtype))
        and (asked.quantization in ("auto", made.quantization))
        and (asked.text_quantization in ("auto", made.text_quantization))
    )


def _cascades_agree(asked: Cascade, made: Cascade) -> bool:
    transitions = zip(asked.transitions, made.transitions, strict=False)
    return (
        _all(_stages_agree, asked.stages, made.stages)
        and len(asked.transitions) == len(made.transitions)
        and all(
            (one.space, one.scale, one.upscaler) == (other.space, other.scale, other.upscaler)
            and _said(one.strength, other.strength)
            for one, other in transitions
        )
    )


def _stages_agree(asked: Stage, made: Stage) -> bool:
    names = [field.name for field in fields(Sampling)]
    return (
        _same_model(asked.model, made.model)
        and all(_said(getattr(asked, name), getattr(made, name)) for name in ("width", "height", "until"))
        and all(_said(getattr(asked.sampling, name), getattr(made.sampling, name)) for name in names)
        and (asked.loras is None or _all(_same_lora, asked.loras, made.loras or ()))
        and (asked.weights is None or (made.weights is not None and _same_file(asked.weights, made.weights)))
    )


def _all(same: Callable[[T, T], bool], asked: tuple[T, ...], made: tuple[T, ...]) -> bool:
    return len(asked) == len(made) and all(same(one, other) for one, other in zip(asked, made, strict=True))


def _said(asked: object, made: object) -> bool:
    return asked is None or asked == made


def _same_model(asked: ModelRef | None, made: ModelRef | None) -> bool:
    """By name: a model that was asked for by its path has an id where it was found."""
    return asked is None or made is None or Path(asked.id).name == Path(made.id).name


def _same_lora(asked: LoraRef, made: LoraRef) -> bool:
    return asked.weight == made.weight and _same_file(asked.path, made.path)


def _same_picture(asked: ImageInput, made: ImageInput) -> bool:
    return (asked.role, asked.weight, asked.interval) == (made.role, made.weight, made.interval) and _same_file(
        asked.path, made.path
    )


def _same_file(asked: str, made: str) -> bool:
    return os.path.realpath(asked) == os.path.realpath(made)
