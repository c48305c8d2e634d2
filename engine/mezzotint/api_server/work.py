"""A generation done by the engine, and the answer in A1111's form."""

import base64
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from mezzotint import __version__
from mezzotint.api_server.control_units import ControlUnit
from mezzotint.api_server.detection import Detection
from mezzotint.api_server.extras import Enlarging, enlarge
from mezzotint.api_server.generation import Generation
from mezzotint.api_server.jobs import IGNORED
from mezzotint.api_server.pictures import write_mask
from mezzotint.api_server.working_folder import WorkingFolder
from mezzotint.batch.job.settings import request_of, with_second_pass_steps
from mezzotint.control_protocol import ControlImageMade, ControlImageRequest, ControlRef
from mezzotint.errors import Cancelled, MezzotintError
from mezzotint.images.embedded import embedded_texts
from mezzotint.images.encoding import INFOTEXT_KEYWORD
from mezzotint.images.metadata import metadata_in
from mezzotint.images.reading import open_image
from mezzotint.library_protocol import UpscaledImage, UpscaleRequest
from mezzotint.protocol import (
    Event,
    GenerateRequest,
    GenerateResult,
    ImageMetadata,
    IsCancelled,
    OnEvent,
    Preprocess,
    Saved,
)
from mezzotint.sampling_protocol import SAMPLERS


class Generates(Protocol):
    """The part of an Engine that is needed."""

    def generate(self, request: GenerateRequest, on_event: OnEvent, cancelled: IsCancelled) -> GenerateResult:
        """Generate and save images."""

    def upscale(self, request: UpscaleRequest, on_event: OnEvent, cancelled: IsCancelled) -> UpscaledImage:
        """Enlarge an image file and save it."""

    def prepare_control(
        self, request: ControlImageRequest, on_event: OnEvent, cancelled: IsCancelled
    ) -> ControlImageMade:
        """Make a control image of an image file and save it."""

    def close(self) -> None:
        """Unload everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What is told of a request beside its images."""

    notices: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()  # fields that were not used


def generate(
    asked: Generation,
    said: Said,
    engine: Generates,
    folder: WorkingFolder,
    on_event: OnEvent,
    cancelled: IsCancelled,
) -> dict[str, object]:
    """Generate the images and return the answer; after an interruption, with the images that were finished."""
    with folder.job() as files:
        made = _Made(on_event)
        target = folder.output if asked.save else files
        try:
            for request in _varied(_request(asked, files, target)):
                made.notices = engine.generate(request, made.on_event, cancelled).notices
        except Cancelled:
            made.interrupted = True
        except MezzotintError as error:
            raise _with_names(error, _named_files(asked, files)) from None
        return _answer(asked, made, said)


def control_images(
    asked: Detection, engine: Generates, folder: WorkingFolder, on_event: OnEvent, cancelled: IsCancelled
) -> list[str]:
    """Make control images; returns PNG files in base64."""
    with folder.job() as files:
        names = {files / f"image-{index}": name for index, name in enumerate(asked.fields)}
        try:
            return [_control_image(path, data, asked.preprocess, engine, on_event, cancelled)
                    for path, data in zip(names, asked.images, strict=True)]  # fmt: skip
        except MezzotintError as error:
            raise _with_names(error, names) from None


def _control_image(
    path: Path, data: bytes, how: Preprocess, engine: Generates, on_event: OnEvent, cancelled: IsCancelled
) -> str:
    path.write_bytes(data)
    target = path.with_name(f"{path.name}-control.png")
    request = ControlImageRequest(path=str(path), preprocess=how, output=str(target))
    engine.prepare_control(request, on_event, cancelled)
    return base64.b64encode(target.read_bytes()).decode("ascii")


def enlarge_images(
    asked: Enlarging, engine: Generates, folder: WorkingFolder, on_event: OnEvent, cancelled: IsCancelled
) -> list[str]:
    """Enlarge the images; returns PNG files in base64."""
    with folder.job() as files:
        try:
            return enlarge(asked, engine.upscale, files, on_event, cancelled)
        except MezzotintError as error:
            names = {files / f"image-{index}": name for index, name in enumerate(asked.fields)}
            raise _with_names(error, names) from None


class _Made:
    """What an engine has made so far."""

    def __init__(self, on_event: OnEvent) -> None:
        self._on_event = on_event
        self.paths: list[Path] = []
        self.notices: tuple[str, ...] = ()
        self.interrupted = False

    def on_event(self, event: Event) -> None:
        """Take an event of the engine."""
        if isinstance(event, Saved):
            self.paths.append(Path(event.image.path))
        self._on_event(event)


def _request(asked: Generation, files: Path, target: Path) -> GenerateRequest:
    options = asked.options.replace(output=str(target))
    if asked.init is not None:
        (files / "init").write_bytes(asked.init.image)
        options = options.replace(init=str(files / "init"))
        if asked.init.mask is not None:
            write_mask(files / "mask", asked.init.mask, invert=asked.init.invert_mask)
            options = options.replace(mask=str(files / "mask"))
    options = options.replace(control=tuple(_control_files(asked.controls, files)))
    request = request_of(options)
    output = replace(request.output, preview_decoder="linear")
    if asked.second_pass_steps:
        request = with_second_pass_steps(request, asked.second_pass_steps)
    return replace(request, previews=asked.previews, output=output)


def _varied(request: GenerateRequest) -> Iterator[GenerateRequest]:
    """The request, or one for each image: with a variation, A1111 keeps the seed and counts up the variation seed."""
    first, *others = request.cascade.stages
    if not first.sampling.variation_strength:
        yield request
        return
    for index in range(request.count):
        sampling = replace(first.sampling, variation_seed=(first.sampling.variation_seed or 0) + index)
        cascade = replace(request.cascade, stages=(replace(first, sampling=sampling), *others))
        yield replace(request, cascade=cascade, count=1)


def _control_files(controls: Sequence[ControlUnit], files: Path) -> Iterator[ControlRef]:
    for index, unit in enumerate(controls):
        path = files / f"control-{index}"
        path.write_bytes(unit.image)
        yield replace(unit.control, image=str(path))


def _named_files(asked: Generation, files: Path) -> dict[Path, str]:
    controls = {files / f"control-{index}": unit.control.image for index, unit in enumerate(asked.controls)}
    return controls | {files / "init": "init_images[0]", files / "mask": "mask"}


def _with_names(error: MezzotintError, names: Mapping[Path, str]) -> MezzotintError:
    """The error with the request's own names for the images that it sent."""
    words = str(error)
    for path, name in names.items():
        words = words.replace(str(path), name)
    error.args = (words,)
    return error


def _answer(asked: Generation, made: _Made, said: Said) -> dict[str, object]:
    found = [_read(path) for path in made.paths]
    images = [base64.b64encode(path.read_bytes()).decode("ascii") for path in made.paths] if asked.send else []
    info = _info(asked, [metadata for metadata, _ in found], [infotext for _, infotext in found])
    info |= {"notices": (*said.notices, *made.notices), IGNORED: said.ignored, "interrupted": made.interrupted}
    return {"images": images, "parameters": asked.parameters, "info": json.dumps(info)}


def _read(path: Path) -> tuple[ImageMetadata, str]:
    with open_image(path) as image:
        return metadata_in(image), embedded_texts(image).chunks.get(INFOTEXT_KEYWORD, "")


def _info(asked: Generation, found: list[ImageMetadata], infotexts: list[str]) -> dict[str, object]:
    """A1111's `info`; with no image, of what was asked for."""
    options, count = asked.options, len(found)
    first = found[0] if found else None
    seeds = [one.seed for one in found]
    prompt, negative = options.prompt, options.negative or ""
    return {
        "prompt": prompt,
        "all_prompts": [prompt] * count,
        "negative_prompt": negative,
        "all_negative_prompts": [negative] * count,
        "seed": seeds[0] if seeds else -1,
        "all_seeds": seeds,
        **_variation_fields(found),
        "styles": list(options.style),
        **_sampling_fields(first),
        "batch_size": count,
        "denoising_strength": options.strength if asked.init is not None else options.hires_strength,
        "infotexts": infotexts,
        "clip_skip": (options.clip_skip or 0) + 1,
        "job_timestamp": time.strftime("%Y%m%d%H%M%S"),
        "version": f"mezzotint {__version__}",
    }


def _sampling_fields(first: ImageMetadata | None) -> dict[str, object]:
    if first is None:
        return {}
    sampler = first.sampler or ""
    return {
        "width": first.width,
        "height": first.height,
        "sampler_name": SAMPLERS.get(sampler, sampler),
        "cfg_scale": first.guidance_scale,
        "distilled_cfg_scale": first.distilled_guidance_scale,
        "steps": first.steps,
        "sd_model_name": first.model,
        "sd_model_hash": first.model_hash,
    }


def _variation_fields(found: Sequence[ImageMetadata]) -> Mapping[str, object]:
    """The variation, and fields that clients read of what is not supported."""
    seeds = [-1 if one.variation_seed is None else one.variation_seed for one in found]
    return {
        "subseed": seeds[0] if seeds else -1,
        "all_subseeds": seeds,
        "subseed_strength": found[0].variation_strength or 0 if found else 0,
        "seed_resize_from_w": -1,
        "seed_resize_from_h": -1,
        "restore_faces": False,
        "face_restoration_model": None,
        "sd_vae_name": None,
        "sd_vae_hash": None,
        "extra_generation_params": {},
        "index_of_first_image": 0,
        "is_using_inpainting_conditioning": False,
    }
