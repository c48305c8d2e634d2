"""Converts a request, or an image's metadata, to settings of the Create page."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QCoreApplication

from mezzotint.option import declared
from mezzotint.options import OPTIONS
from mezzotint.protocol import Cascade, GenerateRequest, ImageMetadata, ModelRef, Sampling, Stage, Transition
from mezzotint.request_protocol import our_seed
from mezzotint.sampling_protocol import both_guidances, shared_with_refiner
from mezzotint_app.viewmodel.create.controls import controls_of
from mezzotint_app.viewmodel.create.sampler_choices import SAMPLERS, SCHEDULES
from mezzotint_app.viewmodel.create.state import CreateSettings, LoraChoice
from mezzotint_app.viewmodel.option_texts import label

translate = QCoreApplication.translate


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSettings:
    """Settings, and what has no setting."""

    model: str | None  # None: not specified
    prompt: str | None
    negative_prompt: str
    seed: int | None
    settings: CreateSettings
    left_out: tuple[str, ...] = ()  # displayed: what the page cannot represent


def read_request(request: GenerateRequest) -> ReadSettings:
    """Read a request; one made on this page is reproduced completely."""
    cascade = request.cascade
    first = cascade.stages[0] if cascade.stages else Stage()
    left_out: list[str] = []
    settings = replace(
        _of_stage(first),
        count=request.count,
        loras=tuple(LoraChoice(path=one.path, weight=one.weight, sha256=one.sha256) for one in request.loras),
        controls=controls_of(request.controls),
        embeddings=request.embeddings,
        init_upscaler=request.init_upscaler,
        quantization=_unless_auto(request.quantization),
        text_quantization=_unless_auto(request.text_quantization),
        compile=request.compile,
        fast=request.fast,
        cuda_graphs=_unless_auto(request.cuda_graphs),
        dtype=_unless_auto(request.dtype),
        vae_tile=request.vae_tile,
        strict=request.strict,
        regions=request.regions,
        details=request.details,
    )
    settings = _with_cascade(settings, cascade, left_out)
    if any(_says_own_words(stage, request) for stage in cascade.stages):
        left_out.append(translate("Create", "prompts of single stages"))
    return ReadSettings(
        model=first.model.id if first.model is not None else None,
        prompt=request.prompt,
        negative_prompt=request.negative_prompt,
        seed=request.seed,
        settings=settings,
        left_out=tuple(left_out),
    )


def read_metadata(
    metadata: ImageMetadata, onto: CreateSettings, find_model: Callable[[str], str | None]
) -> ReadSettings:
    """Read an image's metadata; for other programs, only what has the same meaning, applied to `onto`."""
    if metadata.request is not None:
        return read_request(metadata.request)
    left_out: list[str] = []
    model = _model(metadata.model, find_model, left_out)
    seed = _accepted(translate("Create", "seed"), our_seed(metadata.seed), OPTIONS["seed"].fits, left_out)
    settings = _of_metadata(metadata, onto, left_out)
    refiner = _model(metadata.refiner, find_model, left_out)
    if refiner is not None:
        at = metadata.refiner_at
        fits = at is not None and OPTIONS["refiner-at"].fits(at)
        settings = replace(settings, refiner=refiner, refiner_at=at if fits else None)
    return ReadSettings(
        model=model,
        prompt=metadata.prompt,
        negative_prompt=metadata.negative_prompt or "",
        seed=seed,
        settings=settings,
        left_out=tuple(left_out),
    )


# ---- own requests


def _of_stage(stage: Stage) -> CreateSettings:
    sampling = {name: getattr(stage.sampling, name) for name in declared(Sampling)}
    model = stage.model or ModelRef(id="")
    return CreateSettings(
        width=stage.width,
        height=stage.height,
        weights=stage.weights,
        vae=model.vae,
        text_encoders=model.text_encoders,
        **sampling,
    )


def _with_cascade(settings: CreateSettings, cascade: Cascade, left_out: list[str]) -> CreateSettings:
    """Read base, optional hires pass, refiner and conditional refiner, in this order; report anything else."""
    stages = cascade.stages
    for number, transition in enumerate(cascade.transitions, 1):
        if number >= len(stages):
            break
        after = stages[number]
        if settings.refine_with is None and transition.refines and after.model is not None:
            settings = _with_conditional_refiner(settings, after)
            _note_difference(
                translate("Create", "settings of the conditional refiner"),
                replace(shared_with_refiner(stages[0].sampling), steps=None),
                replace(shared_with_refiner(after.sampling), steps=None),
                left_out,
            )
        elif _is_second_pass(stages[0], after, transition) and not settings.second_pass and settings.refiner is None:
            settings = _with_second_pass(settings, transition)
            _note_difference(
                translate("Create", "settings of the hires fix"), stages[0].sampling, after.sampling, left_out
            )
            _note_size_difference(stages[0], after, transition, left_out)
        elif transition.strength is None and after.model is not None and settings.refiner is None:
            settings = replace(settings, refiner=after.model.id, refiner_at=stages[number - 1].until)
            _note_difference(
                translate("Create", "settings of the refiner"),
                shared_with_refiner(stages[0].sampling),
                shared_with_refiner(after.sampling),
                left_out,
            )
        else:
            left_out.append(translate("Create", "stage {number} of the cascade").format(number=number + 1))
    return settings


def _is_second_pass(first: Stage, after: Stage, transition: Transition) -> bool:
    same = after.model is None or (first.model is not None and after.model.id == first.model.id)
    return transition.strength is not None and same and not transition.refines


def _with_conditional_refiner(settings: CreateSettings, after: Stage) -> CreateSettings:
    return replace(
        settings,
        refine_with=None if after.model is None else after.model.id,
        refine_steps=after.sampling.steps,
        condition_noise=after.sampling.condition_noise,
    )


def _with_second_pass(settings: CreateSettings, transition: Transition) -> CreateSettings:
    return replace(
        settings,
        second_pass=True,
        second_scale=transition.scale,
        second_strength=transition.strength,
        second_space=transition.space,
        second_upscaler=transition.upscaler,
    )


def _note_difference(what: str, first: Sampling, after: Sampling, left_out: list[str]) -> None:
    if first != after:
        left_out.append(what)


def _note_size_difference(first: Stage, after: Stage, transition: Transition, left_out: list[str]) -> None:
    for before, now in ((first.width, after.width), (first.height, after.height)):
        if before is not None and now is not None and abs(before * transition.scale - now) > 16:
            left_out.append(translate("Create", "size of the hires fix"))
            return


def _says_own_words(stage: Stage, request: GenerateRequest) -> bool:
    other_prompt = stage.prompt not in (None, request.prompt)
    return other_prompt or stage.negative_prompt not in (None, request.negative_prompt)


def _unless_auto(value: Any) -> Any:  # noqa: ANN401  any of several literals
    return None if value == "auto" else value


# ---- other programs


def _of_metadata(metadata: ImageMetadata, onto: CreateSettings, left_out: list[str]) -> CreateSettings:
    steps = _accepted(translate("Create", "steps"), metadata.steps, OPTIONS["steps"].fits, left_out)
    scale, true_cfg = both_guidances(metadata.guidance_scale, metadata.distilled_guidance_scale)
    guidance = _accepted(translate("Create", "guidance"), scale, OPTIONS["guidance"].fits, left_out)
    sampler = _accepted(translate("Create", "sampler"), metadata.sampler, SAMPLERS.__contains__, left_out)
    schedule = _accepted(translate("Create", "schedule"), metadata.schedule, SCHEDULES.__contains__, left_out)
    found: dict[str, Any] = {"steps": steps, "guidance_scale": guidance, "sampler": sampler, "schedule": schedule}
    for key, value in (
        ("variation_seed", metadata.variation_seed),
        ("variation_strength", metadata.variation_strength),
        ("true_cfg_scale", true_cfg),
    ):
        one = declared(Sampling)[key]
        found[key] = _accepted(label(one), value, one.fits, left_out)
    if sampler is not None:
        onto = replace(onto, schedule=None)  # the image's sampler had another
    size = metadata.width, metadata.height
    if all(side is not None and 0 < side <= 1 << 16 for side in size):
        found["width"], found["height"] = size
    found |= _second_pass_of(metadata, left_out)
    _note_without_place(metadata, left_out)
    return replace(onto, **{name: value for name, value in found.items() if value is not None})


def _second_pass_of(metadata: ImageMetadata, left_out: list[str]) -> dict[str, Any]:
    if metadata.hires_scale is None or not OPTIONS["hires"].fits(metadata.hires_scale):
        return {}
    found: dict[str, Any] = {"second_pass": True, "second_scale": metadata.hires_scale}
    if metadata.strength is not None and OPTIONS["hires-strength"].fits(metadata.strength):
        found["second_strength"] = metadata.strength
    if metadata.hires_space is not None:
        found |= {"second_space": metadata.hires_space, "second_upscaler": metadata.hires_upscaler}
    elif metadata.hires_upscaler is not None:
        left_out.append(f"{translate('Create', 'settings of the hires fix')} ({_short(metadata.hires_upscaler)})")
    return found


def _note_without_place(metadata: ImageMetadata, left_out: list[str]) -> None:
    """Note what the page reads of no other program: clip skip is counted otherwise, files and images are elsewhere."""
    if metadata.clip_skip:
        left_out.append(f"{label(declared(Sampling)['clip_skip'])} {metadata.clip_skip}")
    if metadata.hires_steps:
        left_out.append(f"{translate('Create', 'settings of the hires fix')} ({metadata.hires_steps})")
    if metadata.strength is not None and metadata.hires_scale is None:
        left_out.append(f"{translate('Differences', 'Strength')} {metadata.strength:g}")
    if metadata.inpaint is not None:
        left_out.append(translate("Differences", "Init image"))
    left_out += [f"LoRA {_short(lora.name)}" for lora in metadata.loras or ()]
    left_out += metadata.unused or ()


def _model(name: str | None, find: Callable[[str], str | None], left_out: list[str]) -> str | None:
    """Find the model by file name only: a path from another machine means nothing here."""
    if name is None:
        return None
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    found = find(last) if last else None
    if found is None:
        left_out.append(translate("Create", "model {name}").format(name=_short(last or name)))
    return found


def _accepted(what: str, value: Any, fits: Callable[[Any], bool], left_out: list[str]) -> Any:  # noqa: ANN401
    if value is None or fits(value):
        return value
    left_out.append(f"{what} {_short(str(value))}")
    return None


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= 60 else one_line[:57] + "..."
