"""Start a request from an image's metadata: complete for our own images, as far as known for other programs'."""

from collections.abc import Callable
from typing import TypeVar

from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import UsageError
from mezzotint.options import OPTIONS
from mezzotint.protocol import Cascade, GenerateRequest, ImageMetadata, ModelRef, Sampling, Stage
from mezzotint.request_protocol import our_seed
from mezzotint.sampling_protocol import SAMPLERS, SCHEDULES

T = TypeVar("T")

Report = Callable[[str], None]


def request_from_metadata(
    metadata: ImageMetadata, image: str, is_model: Callable[[str], bool], report: Report
) -> GenerateRequest:
    """Return the request to start from; reports what could not be taken over to `report`."""
    if metadata.request is not None:
        return metadata.request
    note = metadata.other.get("note")
    if metadata.prompt is None:
        raise UsageError(f"{plain(image)} has no metadata about how it was made{f': {plain(note)}' if note else ''}")
    lost: list[str] = []
    request = GenerateRequest(
        prompt=metadata.prompt,
        negative_prompt=metadata.negative_prompt or "",
        seed=_known("seed", our_seed(metadata.seed), OPTIONS["seed"].fits, lost),
        cascade=Cascade(stages=(_stage(metadata, is_model, lost),)),
    )
    left_out = f"; left out: {', '.join(lost)}" if lost else ""
    report(f"notice: {plain(image)} was made by {plain(metadata.program)}: the new image will differ{left_out}")
    return request


def _stage(metadata: ImageMetadata, is_model: Callable[[str], bool], lost: list[str]) -> Stage:
    model = _model(metadata.model, is_model, lost)
    return Stage(
        model=ModelRef(id=model) if model is not None else None,
        width=metadata.width,
        height=metadata.height,
        sampling=Sampling(
            sampler=_known("sampler", metadata.sampler, SAMPLERS.__contains__, lost),
            schedule=_known("schedule", metadata.schedule, SCHEDULES.__contains__, lost),
            steps=_known("steps", metadata.steps, OPTIONS["steps"].fits, lost),
            guidance_scale=_known("guidance", metadata.guidance_scale, OPTIONS["guidance"].fits, lost),
            variation_seed=_known("variation seed", metadata.variation_seed, OPTIONS["variation-seed"].fits, lost),
            variation_strength=_known(
                "variation strength", metadata.variation_strength, OPTIONS["variation-strength"].fits, lost
            ),
        ),
    )


def _model(name: str | None, is_model: Callable[[str], bool], lost: list[str]) -> str | None:
    """Match by file name only, since another program's path need not exist here."""
    if name is None:
        return None
    return _known("model", name.replace("\\", "/").rpartition("/")[2], lambda last: bool(last) and is_model(last), lost)


def _known(what: str, value: T | None, fits: Callable[[T], bool], lost: list[str]) -> T | None:
    if value is None or fits(value):
        return value
    lost.append(f"{what} {plain(value, 60)}")
    return None
