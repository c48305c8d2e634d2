"""Requests as stored in the queue: independent of chance and of the current folder, and each text only once."""

import os
import random
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path

from mezzotint import codec
from mezzotint.errors import ProtocolError, UsageError
from mezzotint.jobs.tasks import RunKey
from mezzotint.jobs.texts import readable
from mezzotint.protocol import Cascade, ControlRef, GenerateRequest, ImageInput, ModelRef, Output, Stage
from mezzotint.request_protocol import MAX_SEED, PREVIEW_DECODERS
from mezzotint.values.sizes import AUTO_TILE

_SEEDS_DRAWN_BELOW = 2**32  # the range that other programs can read
_PLAIN = {"prompt": str, "negative_prompt": str, "seed": int}  # fields with the same value in JSON
_FITTING = 32  # pixels: all models take multiples of this
_TITLE = 200  # characters

Size = tuple[int, int]  # width and height in pixels; 0, 0: the model's own
SizeOf = Callable[[GenerateRequest], Size]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedRequest:
    """A request that yields the same images whenever and from wherever it is run."""

    request: GenerateRequest
    seed: int
    drawn: bool  # the seed is a random one from here


def resolve(request: GenerateRequest) -> ResolvedRequest:
    """Fix the seed, and make every path absolute. Raises UsageError for an invalid count or seed."""
    if request.count < 1:
        raise UsageError(f"a request for {request.count} images cannot be queued: use 1 or more")
    drawn = request.seed is None
    seed = random.randrange(_SEEDS_DRAWN_BELOW) if request.seed is None else request.seed
    if not 0 <= seed <= MAX_SEED - request.count + 1:
        raise UsageError(f"the seed {seed} is out of range: use one from 0 to {MAX_SEED - request.count + 1}")
    return ResolvedRequest(request=_with_absolute_paths(replace(request, seed=seed)), seed=seed, drawn=drawn)


def enlarging_request(
    base: GenerateRequest,
    image: str,
    size: tuple[int, int],
    *,
    upscaler: str,
    strength: float,
    control: str | None = None,
) -> GenerateRequest:
    """A request that enlarges an image file to about a size by an upscaler, then denoises it in tiles.

    `base`: what made the image, whose first model and words are used. `control`: a ControlNet for tiles.
    """
    width, height = (max(_FITTING, round(side / _FITTING) * _FITTING) for side in size)
    first = base.cascade.stages[0] if base.cascade.stages else Stage()
    sampling = replace(first.sampling, denoise_tile=AUTO_TILE, condition_noise=None, deep_shrink=None, step_cache=None)
    stage = replace(first, width=width, height=height, until=None, sampling=sampling)
    return replace(
        base,
        cascade=Cascade(stages=(stage,)),
        images=(ImageInput(path=image),),
        controls=() if control is None else (ControlRef(image=image, model=control, type="tile"),),
        strength=strength,
        inpaint=None,
        init_upscaler=upscaler,
        init_upscaler_sha256=None,
        vae_tile=None,
        count=1,
    )


def _with_absolute_paths(request: GenerateRequest) -> GenerateRequest:
    """Make paths absolute, since the images may be generated from another working directory."""
    return replace(
        request,
        images=tuple(replace(image, path=_absolute(image.path)) for image in request.images),
        embeddings=tuple(map(_absolute, request.embeddings)),
        loras=tuple(replace(lora, path=_absolute(lora.path)) for lora in request.loras),
        controls=tuple(control.with_paths(_absolute, _absolute_control) for control in request.controls),
        init_upscaler=None if request.init_upscaler is None else _absolute_upscaler(request.init_upscaler),
        regions=tuple(region.with_mask(_absolute) for region in request.regions),
        details=tuple(detail.with_model(_absolute_folder) for detail in request.details),
        cascade=replace(
            request.cascade,
            stages=tuple(map(_absolute_stage, request.cascade.stages)),
            transitions=tuple(
                replace(one, upscaler=_absolute_upscaler(one.upscaler)) for one in request.cascade.transitions
            ),
        ),
        output=_absolute_output(request.output),
    )


def _absolute_stage(stage: Stage) -> Stage:
    loras = None if stage.loras is None else tuple(replace(lora, path=_absolute(lora.path)) for lora in stage.loras)
    model = None if stage.model is None else _absolute_model(stage.model)
    return replace(stage, model=model, loras=loras, weights=None if stage.weights is None else _absolute(stage.weights))


def _absolute_model(model: ModelRef) -> ModelRef:
    """Make a model path absolute; a catalog id stays, even if a folder has its name: the engine tries ids first."""
    looks_like_path = model.id.startswith(".") or Path(model.id).suffix in (".safetensors", ".gguf", ".ckpt")
    model = model.with_parts(_absolute)
    return replace(model, id=_absolute(model.id)) if looks_like_path and _exists(model.id) else model


def _absolute_folder(name: str) -> str:
    """Make the path of a folder absolute; a name stays."""
    return _absolute(name) if Path(name).name != name and _exists(name) else name


def _absolute_upscaler(name: str) -> str:
    """Make the path of an upscaler absolute; a name stays."""
    looks_like_path = name.startswith(".") or Path(name).suffix.lower() in (".safetensors", ".pth", ".pt")
    return _absolute(name) if looks_like_path and _exists(name) else name


def _absolute_control(name: str) -> str:
    """Make the path of a control network absolute; a name stays."""
    is_path = "/" in name or os.sep in name or Path(name).suffix.lower() == ".safetensors"
    return _absolute(name) if is_path or _exists(name) else name


def _absolute(path: str) -> str:
    return path if path.startswith("~") else os.path.abspath(path)  # noqa: PTH100  Path.absolute() keeps `..`


def _absolute_output(output: Output) -> Output:
    preview = None if output.preview_folder is None else _absolute(output.preview_folder)
    decoder = output.preview_decoder
    if decoder not in PREVIEW_DECODERS:
        decoder = _absolute(decoder)
    return replace(output, path=_absolute_template(output.path), preview_folder=preview, preview_decoder=decoder)


def _absolute_template(path: str | None) -> str | None:
    """Return a template in the current folder, with the brackets in that folder's own path escaped."""
    here = str(Path.cwd()).replace("[", "[[")
    if path is None:
        return here + os.sep
    if path == "" or path.startswith("~") or Path(path).is_absolute():
        return path
    if "[" not in path and Path(path).is_dir():
        path += os.sep
    return here + os.sep + path


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


# ---- serialization


def diff(base: GenerateRequest, request: GenerateRequest) -> str:
    """Return the fields of a request that differ from the first of its entry, as JSON."""
    other = {
        field.name: codec.encode(getattr(request, field.name))
        for field in fields(GenerateRequest)
        if getattr(request, field.name) != getattr(base, field.name)
    }
    return codec.to_json(other)


def apply_diff(base: GenerateRequest, written: str) -> GenerateRequest:
    """Return the first request of an entry with the changes in `written` applied."""
    other = codec.parse_json(written)
    if not isinstance(other, dict):
        raise ProtocolError("expected an object with the fields in which the task differs from its entry")
    if all(type(value) is _PLAIN.get(name) for name, value in other.items()):
        return replace(base, **other)
    complete = codec.encode(base)
    return codec.decode(GenerateRequest, complete | other if isinstance(complete, dict) else other)


# ---- titles and timing keys


def title_of(request: GenerateRequest) -> str:
    """Return the default title of a request."""
    return " ".join(request.prompt[: 4 * _TITLE].split())[:_TITLE]


def model_of(request: GenerateRequest) -> str:
    """Return the id of the first stage's model; empty: the default model."""
    first = request.cascade.stages[0].model if request.cascade.stages else None
    return "" if first is None else first.id


def steps_of(request: GenerateRequest) -> int:
    """Return the steps that each image takes; 0 if the request does not specify them."""
    said = [stage.sampling.steps for stage in request.cascade.stages]
    if not said or any(steps is None for steps in said):
        return 0
    return max(1, round(_effective_steps(request.cascade, [steps or 0 for steps in said], request.strength)))


def _effective_steps(cascade: Cascade, steps: list[int], strength: float | None) -> float:
    """Sum each stage's share of its schedule; a denoising strength lets a stage begin at a higher noise level."""
    total, begun = 0.0, 0.0
    for number, stage in enumerate(cascade.stages):
        anew = cascade.transitions[number - 1].strength if 0 < number <= len(cascade.transitions) else None
        anew = strength if number == 0 else anew
        begun = begun if anew is None else 1.0 - anew
        until = 1.0 if stage.until is None else stage.until
        until = until if anew is None else begun + (1.0 - begun) * until
        total += steps[number] * max(0.0, until - begun)
        begun = until
    return total


def no_size(_: GenerateRequest) -> Size:
    """No size, where no image may be read: the process that makes the images finds it."""
    return 0, 0


def run_key(request: GenerateRequest, size_of: SizeOf = no_size) -> RunKey:
    """Return the key that requests must share for their timings to be comparable.

    `size_of` returns the size that an input image gives a request that names none.
    """
    cascade = request.cascade
    models = [stage.model.id if stage.model is not None else "" for stage in cascade.stages]
    scales = [f" x{transition.scale:g}" for transition in cascade.transitions if transition.scale != 1]
    first = cascade.stages[0] if cascade.stages else Stage()
    named = first.width is not None and first.height is not None
    width, height = (0, 0) if named else size_of(request)
    return RunKey(
        model=readable(" > ".join(models) + "".join(scales)),
        quantization=request.quantization,
        width=width if first.width is None else first.width,
        height=height if first.height is None else first.height,
        device=readable(request.device),
    )
