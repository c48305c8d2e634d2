"""Latents left behind by an earlier run, and whether a task can be finished from them."""

import os
from collections.abc import Callable, Collection
from dataclasses import fields, replace
from pathlib import Path
from typing import TypeVar

from mezzotint.errors import MezzotintError
from mezzotint.jobs.found_images import same_model
from mezzotint.protocol import Cascade, ControlRef, GenerateRequest, ImageInput, LoraRef, Sampling, Stage
from mezzotint.stages.images.pending_decode import read_pending, undecoded
from mezzotint.values.regions import RegionRef

T = TypeVar("T")

_CLOCKS_DIFFER = 3.0  # seconds: some file systems store times that coarsely
_MOST_FILES = 200  # that are checked, newest first


def leftover(folder: Path, request: GenerateRequest, since: float, without: Collection[str] = ()) -> str | None:
    """Return the newest file of a folder from which an image of this request, with a fixed seed, can be finished.

    `since`: when the task first began. Older files belong to other tasks, even if their requests match.
    """
    for path in undecoded(folder)[: -_MOST_FILES - 1 : -1]:
        if str(path) not in without and _is_recent(path, since) and _finishes(path, request):
            return str(path)
    return None


def _is_recent(path: Path, since: float) -> bool:
    try:
        return path.stat().st_mtime >= since - _CLOCKS_DIFFER
    except OSError:
        return False


def _finishes(path: Path, request: GenerateRequest) -> bool:
    try:
        pending = read_pending(path)
    except MezzotintError:
        return False
    made, first = pending.record.request, request.seed or 0
    return (
        made.seed is not None
        and first <= made.seed < first + request.count
        and _goes_there(request.output.path, str(pending.path))
        and matches_exactly(request, made)
    )


def _goes_there(template: str | None, wanted: str) -> bool:
    """Whether the image's path begins with the part of the template before its first token."""
    if template is None:
        return False
    begin = os.path.expanduser(template.partition("[")[0])  # noqa: PTH111  a Path would lose the slash at the end
    return wanted.startswith(begin)


def matches_exactly(asked: GenerateRequest, made: GenerateRequest) -> bool:
    """Whether `made` matches everything that is set in `asked`, files included; unset fields match anything."""
    return (
        (asked.prompt, asked.negative_prompt) == (made.prompt, made.negative_prompt)
        and _cascades_match(asked.cascade, made.cascade)
        and _all(_same_image, asked.images, made.images)
        and _said(asked.strength, made.strength)
        and _said(asked.inpaint, made.inpaint)
        and _all(_same_file, asked.embeddings, made.embeddings)
        and _all(_same_lora, asked.loras, made.loras)
        and _all(_same_control, asked.controls, made.controls)
        and _all(_same_region, asked.regions, made.regions)
        and not asked.details  # which decoding alone would leave out
        and (asked.dtype in ("auto", made.dtype))
        and (asked.quantization in ("auto", made.quantization))
        and (asked.text_quantization in ("auto", made.text_quantization))
    )


def _cascades_match(asked: Cascade, made: Cascade) -> bool:
    transitions = zip(asked.transitions, made.transitions, strict=False)
    return (
        _all(_stages_match, asked.stages, made.stages)
        and len(asked.transitions) == len(made.transitions)
        and all(
            replace(one, strength=None) == replace(other, strength=None) and _said(one.strength, other.strength)
            for one, other in transitions
        )
    )


def _stages_match(asked: Stage, made: Stage) -> bool:
    names = [field.name for field in fields(Sampling)]
    return (
        same_model(asked.model, made.model)
        and all(_said(getattr(asked, name), getattr(made, name)) for name in ("width", "height", "until"))
        and all(_said(getattr(asked.sampling, name), getattr(made.sampling, name)) for name in names)
        and (asked.loras is None or _all(_same_lora, asked.loras, made.loras or ()))
        and (asked.weights is None or (made.weights is not None and _same_file(asked.weights, made.weights)))
    )


def _all(same: Callable[[T, T], bool], asked: tuple[T, ...], made: tuple[T, ...]) -> bool:
    return len(asked) == len(made) and all(same(one, other) for one, other in zip(asked, made, strict=True))


def _said(asked: object, made: object) -> bool:
    return asked is None or asked == made


def _same_lora(asked: LoraRef, made: LoraRef) -> bool:
    return asked.weight == made.weight and _same_file(asked.path, made.path)


def _same_region(asked: RegionRef, made: RegionRef) -> bool:
    plain = {replace(one, mask=None, mask_sha256=None) for one in (asked, made)}
    if asked.mask is None or made.mask is None:
        return len(plain) == 1 and asked.mask == made.mask
    return len(plain) == 1 and _same_file(asked.mask, made.mask)


def _same_control(asked: ControlRef, made: ControlRef) -> bool:
    paths = [tuple(_real(path) for path in (one.image, one.mask)) for one in (asked, made)]
    same_model = _real(asked.model) == _real(made.model) or Path(made.model).stem == asked.model  # by its name
    return same_model and paths[0] == paths[1] and len({_settings_of(one) for one in (asked, made)}) == 1


def _settings_of(control: ControlRef) -> ControlRef:
    """What remains without files and their hashes."""
    bare = replace(control, image="", model="", encoder=None, mask=None)
    return replace(bare, sha256=None, image_sha256=None, encoder_sha256=None, mask_sha256=None)


def _real(path: str | None) -> Path | None:
    return None if path is None else Path(path).resolve()


def _same_image(asked: ImageInput, made: ImageInput) -> bool:
    return (asked.role, asked.weight, asked.interval) == (made.role, made.weight, made.interval) and _same_file(
        asked.path, made.path
    )


def _same_file(asked: str, made: str) -> bool:
    return os.path.realpath(asked) == os.path.realpath(made)
