"""Resolve every value of a request before anything is loaded: models found, sizes fitted, samplers chosen."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from mezzotint.catalog.catalog import FoundModel
from mezzotint.errors import UsageError
from mezzotint.families.autoencoder_space import latent_space
from mezzotint.families.detected import Detected
from mezzotint.families.family import Family, ModelSources
from mezzotint.families.known import family_of
from mezzotint.families.loading.sources import with_weights
from mezzotint.families.lora.prompt_tags import without_lora_tags
from mezzotint.families.model_sources import sources_of
from mezzotint.families.samplers import FlowSteps, ResolvedScheduler, own_prediction, resolve_scheduler
from mezzotint.protocol import (
    FileUsed,
    GenerateRequest,
    ModelRef,
    ResolvedSampling,
    ResolvedTransition,
    Sampling,
    Stage,
    Transition,
)
from mezzotint.sampling_protocol import CONDITION_NOISE
from mezzotint.stages.controls import ControlFitting, StageControl
from mezzotint.stages.images.references import check_references, reference_sizes
from mezzotint.stages.images.request_images import RequestImages, Size, request_images
from mezzotint.stages.images.sizes import check_size, nearest_multiple
from mezzotint.stages.images.upscalers import FindUpscaler, no_upscalers, transition_upscaler, upscaler_file
from mezzotint.stages.models.distilled_loras import detected_with
from mezzotint.stages.refining import check_refining, check_same_latents, enlarged_size, refiner_tile
from mezzotint.stages.regions import check_regions
from mezzotint.stages.request_checks import check_clip_skip, check_request, check_sampling
from mezzotint.stages.speedups import check_speedups, settled_cache
from mezzotint.stages.tile_sizes import check_tiled, seen_size, settled_tile, stage_tile
from mezzotint.values.regions import RegionRef

Find = Callable[[ModelRef], FoundModel]

INPAINTING_STRENGTH = {"sdxl": 0.99}  # the SDXL inpainting model does worse at 1, according to its model card
RESCALE_FOR_ZERO_SNR = 0.7  # phi of arXiv 2305.08891, section 4


@dataclass(frozen=True, slots=True, kw_only=True)
class StageSetup:
    """One stage with every value resolved except its position on the schedule."""

    asked: ModelRef
    found: FoundModel
    family: Family
    sources: ModelSources
    width: int
    height: int
    prompt: str
    negative_prompt: str
    scheduler: ResolvedScheduler
    sampling: ResolvedSampling
    until: float | None
    weights: Path | None = None  # of the denoiser, if not the model's own
    references: tuple[Size, ...] = ()  # of the reference images as the denoiser receives them
    tile: int = 0  # side in pixels of the tiles that are denoised one by one in each step; 0: the whole image at once
    controls: tuple[StageControl, ...] = ()  # control images that its model can use
    regions: tuple[RegionRef, ...] = ()
    left_out: tuple[str, ...] = ()  # which control images it cannot use, and why
    assumed: tuple[str, ...] = ()  # settings that were guessed, from what, and what overrides them


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeSetup:
    """All stages, the transitions between them, and the input images."""

    stages: tuple[StageSetup, ...]
    transitions: tuple[ResolvedTransition, ...]
    images: RequestImages
    input_pixels: int = 0  # of the init image once outpainted
    init_upscaler: FileUsed | None = None

    @property
    def strength(self) -> float | None:
        """Denoising strength for the init image; None without one."""
        return self.images.strength


def set_up(
    request: GenerateRequest,
    find: Find,
    default_model: ModelRef,
    image_size: Callable[[Path], Size],
    find_upscaler: FindUpscaler = no_upscalers,
) -> CascadeSetup:
    """Resolve every value of a request; raises UsageError, UnknownModel or ModelRefused for what is impossible."""
    check_request(request)
    images = request_images(request)
    image = None if images.sizing is None else image_size(images.sizing)
    if image is not None:
        images.check_growth(image)
    references = tuple(map(image_size, images.references))
    stages: list[StageSetup] = []
    for index, stage in enumerate(request.cascade.stages):
        transition = request.cascade.transitions[index - 1] if index else None
        before = stages[-1] if stages else None
        asked = before.asked if stage.model is None and before else stage.model or default_model
        found = before.found if stage.model is None and before else find(asked)
        given = None if image is None or index else (images, image)
        enlarges = images.init is not None if transition is None else transition.strength is not None
        if before is None:
            check_references(found, len(references))
        stages.append(_set_up_stage(request, stage, transition, before, asked, found, given, references, enlarges))
    stages = _with_controls(request, stages)
    check_regions(request, stages)
    transitions = tuple(
        _resolve_transition(transition, before, after, transition_upscaler(transition, find_upscaler))
        for transition, before, after in zip(request.cascade.transitions, stages, stages[1:], strict=False)
    )
    check_refining(request, [stage.found for stage in stages], images)
    images = _with_strength(images, request, stages[0].sources)
    pixels = 0 if image is None or images.init is None else math.prod(images.outpainted(image))
    return CascadeSetup(
        stages=tuple(stages),
        transitions=transitions,
        images=images,
        input_pixels=pixels,
        init_upscaler=_init_upscaler(request, images, find_upscaler),
    )


def _init_upscaler(request: GenerateRequest, images: RequestImages, find: FindUpscaler) -> FileUsed | None:
    if request.init_upscaler is None:
        return None
    if images.init is None or images.inpaint is not None:
        raise UsageError(
            "the init upscaler enlarges a whole init image: add --init and leave mask and outpainting out, or leave "
            "--init-upscaler out"
        )
    return upscaler_file(request.init_upscaler, request.init_upscaler_sha256, find)


def _with_controls(request: GenerateRequest, stages: Sequence[StageSetup]) -> list[StageSetup]:
    """The stages with the control images that their models can use; raises ModelRefused for one of no use."""
    fitting, found = ControlFitting(request.controls), []
    if request.compile:
        fitting.check_compiled()
    for stage in stages:
        size = (stage.width, stage.height)
        fitted = fitting.fit(stage.sources, stage.found.info.id, stage.sampling, size)
        found.append(replace(stage, sources=fitted.sources, controls=fitted.controls, left_out=fitted.left_out))
    fitting.check_used()
    return found


def _with_strength(images: RequestImages, request: GenerateRequest, sources: ModelSources) -> RequestImages:
    """A denoiser with the masked image as extra input does not need that image in its latents."""
    if request.strength is not None or images.init is None:
        return images
    if sources.detected.conditional_refiner:
        return replace(images, strength=1.0)  # it is given the image in another way
    if images.inpaint is None or not sources.takes_mask:
        return images
    return replace(images, strength=INPAINTING_STRENGTH.get(sources.family, 1.0))


def _set_up_stage(
    request: GenerateRequest,
    stage: Stage,
    transition: Transition | None,
    before: StageSetup | None,
    asked: ModelRef,
    found: FoundModel,
    given: tuple[RequestImages, Size] | None,
    references: Sequence[Size],
    enlarges: bool,
) -> StageSetup:
    assumed: list[str] = []
    loras = request.loras if stage.loras is None else stage.loras
    detected = detected_with(found.detected, loras, stage.sampling).take(assumed.append)
    family = family_of(detected.family)
    sources = sources_of(found.checkpoint, detected)
    weights = _weights(stage, before)
    if weights is not None:
        sources = with_weights(sources, family.denoiser_component, weights)
    sampling = stage.sampling
    check_sampling(sampling, stage)
    if sampling.clip_skip and not family.honours_clip_skip:
        raise UsageError(f"{found.info.id} is of the family {family.name}, which has no clip skip; leave it out")
    check_clip_skip(sampling.clip_skip or 0, sources)
    if request.embeddings and not family.honours_embeddings:
        raise UsageError(
            f"{found.info.id} is of the family {family.name}, which does not support embeddings; leave them out"
        )
    width, height = _stage_size(stage, transition, before, family.multiple(sources), sources, given)
    multiple = family.multiple(sources)
    check_size(width, height, multiple)
    continues = before is not None and transition is not None and transition.strength is None
    tile = refiner_tile(detected, (width, height), multiple, sources.vae_factor)
    if enlarges or (continues and before is not None and before.tile):
        tile = tile or stage_tile(sampling, detected, (width, height), multiple)
    check_tiled(sampling, tile, detected)
    seen = seen_size((width, height), tile)
    check_speedups(sampling, sources, found.info.id, (seen[1] // multiple, seen[0] // multiple))
    steps = before.sampling.steps if continues and before else detected.defaults.steps
    shifted_for = (detected.defaults.width, detected.defaults.height) if tile else (width, height)
    flow = family.flow_steps(sources, *shifted_for, steps if sampling.steps is None else sampling.steps)
    scheduler = _scheduler(sampling, sources, flow)
    return StageSetup(
        asked=asked,
        found=found,
        family=family,
        sources=sources,
        width=width,
        height=height,
        prompt=without_lora_tags(request.prompt if stage.prompt is None else stage.prompt),
        negative_prompt=without_lora_tags(
            request.negative_prompt if stage.negative_prompt is None else stage.negative_prompt
        ),
        scheduler=scheduler,
        sampling=replace(
            _resolved_sampling(sampling, scheduler, steps, detected),
            denoise_tile=settled_tile(sampling, detected),
            step_cache=settled_cache(sampling, sources),
        ),
        until=stage.until,
        weights=weights,
        references=reference_sizes(family, detected, references),
        regions=tuple(replace(each, prompt=without_lora_tags(each.prompt)) for each in request.regions),
        tile=tile,
        assumed=tuple(assumed),
    )


def _resolved_sampling(
    sampling: Sampling, scheduler: ResolvedScheduler, steps: int, detected: Detected
) -> ResolvedSampling:
    """The requested values, with the scheduler's and the model's defaults for the rest."""
    requested = {one.name: getattr(sampling, one.name) for one in fields(Sampling)}
    own = {
        "steps": steps,
        "guidance_scale": detected.defaults.guidance_scale,
        "guidance_rescale": RESCALE_FOR_ZERO_SNR if scheduler.zero_terminal_snr else 0.0,
        "clip_skip": 0,
        "variation_seed": 0 if sampling.variation_strength else None,
        "condition_noise": CONDITION_NOISE if detected.conditional_refiner else None,
    }
    used = {
        "sampler": scheduler.sampler,
        "schedule": scheduler.schedule,
        "prediction_type": scheduler.prediction_type,
        "zero_terminal_snr": scheduler.zero_terminal_snr,
    }
    values = {name: value for name, value in requested.items() if value is not None}
    if detected.guidance == "cfg" and "true_cfg_scale" in values:  # which is all the guidance that there is
        used |= {"guidance_scale": values["true_cfg_scale"], "true_cfg_scale": None}
    return ResolvedSampling(**requested | own | values | used)


def _weights(stage: Stage, before: StageSetup | None) -> Path | None:
    """The stage's own weights, or those of the previous stage if it continues with the same model."""
    if stage.weights is not None:
        return Path(stage.weights)
    return before.weights if before is not None and stage.model is None else None


def _scheduler(sampling: Sampling, sources: ModelSources, flow: FlowSteps | None) -> ResolvedScheduler:
    detected = sources.detected
    own_type = own_prediction(sources.scheduler)
    own_zero_snr = bool(sources.scheduler.get("rescale_betas_zero_snr", False))
    prediction = sampling.prediction_type or detected.prediction_type
    zero_snr = detected.zero_terminal_snr if sampling.zero_terminal_snr is None else sampling.zero_terminal_snr
    sampler = sampling.sampler or detected.sampler
    schedule = sampling.schedule or (detected.schedule if sampling.sampler is None else None)
    return resolve_scheduler(
        sources.scheduler,
        sampler=sampler,
        schedule=schedule,
        prediction_type=None if prediction == own_type else prediction,
        zero_terminal_snr=None if zero_snr == own_zero_snr else zero_snr,
        flow=flow,
    )


def _stage_size(
    stage: Stage,
    transition: Transition | None,
    before: StageSetup | None,
    multiple: int,
    sources: ModelSources,
    given: tuple[RequestImages, Size] | None,
) -> Size:
    if before is not None and transition is not None:
        natural = (
            nearest_multiple(before.width * transition.scale, multiple),
            nearest_multiple(before.height * transition.scale, multiple),
        )
    else:
        defaults = sources.detected.defaults
        natural = (defaults.width, defaults.height)
        if given is not None and sources.detected.conditional_refiner:
            natural = enlarged_size(given[1], multiple)
        elif given is not None:
            natural = given[0].natural_size(given[1], natural, multiple)
    requested = (
        natural[0] if stage.width is None else stage.width,
        natural[1] if stage.height is None else stage.height,
    )
    if given is not None:
        given[0].check_size(natural, requested)
    return requested


def _resolve_transition(
    transition: Transition, before: StageSetup, after: StageSetup, upscaler: FileUsed | None
) -> ResolvedTransition:
    space = transition.space if upscaler is None else "pixel"
    if space == "latent":
        if transition.upscaler == "lanczos":
            raise UsageError("the upscaler 'lanczos' works on pixels; use bicubic, or a transition in pixel space")
        ours, theirs = (stage.sources.components["vae"].config for stage in (before, after))
        if transition.refines:
            check_same_latents(before.found.info.id, ours, after.found.info.id, theirs)
        elif latent_space(ours) != latent_space(theirs):
            raise UsageError(
                f"the latents of {before.found.info.id} are incompatible with {after.found.info.id}: their "
                "autoencoders differ; use a transition in pixel space with a strength, or models of one family"
            )
    elif transition.strength is None:
        raise UsageError(
            "a transition in pixel space needs a strength, 0 to 1: remaining noise cannot be carried over in pixels"
        )
    return ResolvedTransition(
        space=space,
        upscaler_file=upscaler,
        upscaler=transition.upscaler,
        scale=after.width / before.width,
        strength=transition.strength,
        refines=transition.refines,
    )
