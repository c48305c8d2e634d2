"""What a person said, on the command line or in a job file, as a request; nothing here looks at a disk."""

from dataclasses import dataclass, replace
from typing import TypeVar

from mezzotint.batch.job.inpainting import Margins, check_inpainting, inpaint_of, pictures_of, size_follows
from mezzotint.errors import UsageError
from mezzotint.protocol import (
    Attention,
    Cascade,
    CudaGraphs,
    Dtype,
    GenerateRequest,
    InpaintArea,
    InpaintFill,
    LoraRef,
    MemoryPolicy,
    ModelRef,
    Output,
    PredictionType,
    Quantization,
    Sampling,
    Space,
    Stage,
    Transition,
    Upscaler,
)

T = TypeVar("T")

REFINER_AT = 0.8
HIRES_STRENGTH = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of `generate`, and the settings of a job; `None` and empty: not said."""

    prompt: str | None = None
    negative: str | None = None
    model: str | None = None
    size: tuple[int, int] | None = None
    steps: int | None = None
    guidance: float | None = None
    guidance_rescale: float | None = None
    sampler: str | None = None
    schedule: str | None = None
    clip_skip: int | None = None
    prediction_type: PredictionType | None = None
    zero_terminal_snr: bool | None = None
    seed: int | None = None
    count: int | None = None
    init: str | None = None
    strength: float | None = None
    mask: str | None = None
    inpaint_area: InpaintArea | None = None
    inpaint_padding: int | None = None
    inpaint_feather: int | None = None
    inpaint_fill: InpaintFill | None = None
    outpaint: Margins | None = None
    weights: str | None = None
    refiner: str | None = None
    refiner_at: float | None = None
    hires: float | None = None
    hires_strength: float | None = None
    hires_space: Space | None = None
    hires_upscaler: Upscaler | None = None
    embedding: tuple[str, ...] = ()
    lora: tuple[LoraRef, ...] = ()
    device: str | None = None
    dtype: Dtype | None = None
    attention: Attention | None = None
    cuda_graphs: CudaGraphs | None = None
    quant: Quantization | None = None
    quant_text: Quantization | None = None
    memory: MemoryPolicy | None = None
    vram_limit: int | None = None
    ram_limit: int | None = None
    vae_tile: int | None = None
    strict: bool = False
    compile: bool = False
    fast: bool = False
    preview: str | None = None
    output: str | None = None
    overwrite: bool = False


def request_of(options: Options, base: GenerateRequest | None = None) -> GenerateRequest:
    """The request that the options state, over that of an earlier image if there is one."""
    if base is None:
        if options.prompt is None:
            raise UsageError('no prompt given: mezzotint generate "a red house by the sea at dusk"')
        base = GenerateRequest(prompt=options.prompt)
    options = _with_recorded_cascade(options, base.cascade)
    _check_pairs(options, base)
    check_inpainting(options, base)
    if size_follows(options, base):
        stages = tuple(replace(stage, width=None, height=None) for stage in base.cascade.stages)
        base = replace(base, cascade=replace(base.cascade, stages=stages))
    return GenerateRequest(
        prompt=_said(options.prompt, base.prompt),
        negative_prompt=_said(options.negative, base.negative_prompt),
        cascade=_cascade(options, base.cascade),
        images=pictures_of(options, base),
        strength=_said(options.strength, base.strength),
        inpaint=inpaint_of(options, base),
        seed=_said(options.seed, base.seed),
        count=_said(options.count, base.count),
        device=_said(options.device, base.device),
        dtype=_said(options.dtype, base.dtype),
        attention=_said(options.attention, base.attention),
        cuda_graphs=_said(options.cuda_graphs, base.cuda_graphs),
        quantization=_said(options.quant, base.quantization),
        text_quantization=_said(options.quant_text, base.text_quantization),
        embeddings=options.embedding or base.embeddings,
        loras=options.lora or base.loras,
        memory=_said(options.memory, base.memory),
        vram_limit_bytes=_said(options.vram_limit, base.vram_limit_bytes),
        ram_limit_bytes=_said(options.ram_limit, base.ram_limit_bytes),
        vae_tile=_said(options.vae_tile, base.vae_tile),
        compile=options.compile or base.compile,
        fast=options.fast or base.fast,
        strict=options.strict or base.strict,
        output=Output(path=options.output, overwrite=options.overwrite, preview_folder=options.preview),
    )


def _with_recorded_cascade(options: Options, base: Cascade) -> Options:
    """Where one part of the cascade is said anew, the other parts stay as the earlier image had them."""
    said = (options.refiner, options.refiner_at, options.hires, *_hires_details(options))
    if all(value is None for value in said):
        return options
    for before, after, transition in zip(base.stages, base.stages[1:], base.transitions, strict=False):
        if transition.strength is None and after.model is not None:
            options = replace(
                options,
                refiner=_said(options.refiner, after.model.id),
                refiner_at=_said(options.refiner_at, before.until),
            )
        elif transition.strength is not None:
            options = replace(
                options,
                hires=_said(options.hires, transition.scale),
                hires_strength=_said(options.hires_strength, transition.strength),
                hires_space=_said(options.hires_space, transition.space),
                hires_upscaler=_said(options.hires_upscaler, transition.upscaler),
            )
    return options


def _hires_details(options: Options) -> tuple[object, ...]:
    return options.hires_strength, options.hires_space, options.hires_upscaler


def _said(said: T | None, otherwise: T) -> T:
    return otherwise if said is None else said


def _check_pairs(options: Options, base: GenerateRequest) -> None:
    if options.strength is not None and options.init is None and not base.images:
        raise UsageError("--strength requires an init image: add --init")
    if options.refiner_at is not None and options.refiner is None:
        raise UsageError("--refiner-at requires --refiner")
    if options.hires is None:
        for name in ("hires_strength", "hires_space", "hires_upscaler"):
            if getattr(options, name) is not None:
                raise UsageError(f"--{name.replace('_', '-')} requires --hires")


def _cascade(options: Options, base: Cascade) -> Cascade:
    if options.refiner is None and options.hires is None:
        return replace(base, stages=_overridden(options, base.stages))
    first = _overridden(options, base.stages[:1] or (Stage(),))[0]
    first = replace(first, until=None)
    stages, transitions = [first], []
    if options.hires is not None:
        # Said again, since a stage that names none takes its model's own; the sizes follow from the scale.
        stages.append(replace(first, width=None, height=None))
        transitions.append(_hires(options, options.hires))
    if options.refiner is not None:
        stages[-1] = replace(stages[-1], until=_said(options.refiner_at, REFINER_AT))
        stages.append(_refiner(options.refiner, first.sampling))
        transitions.append(Transition())
    return Cascade(stages=tuple(stages), transitions=tuple(transitions))


def _hires(options: Options, scale: float) -> Transition:
    return Transition(
        scale=scale,
        strength=_said(options.hires_strength, HIRES_STRENGTH),
        space=_said(options.hires_space, "latent"),
        upscaler=_said(options.hires_upscaler, "bicubic"),
    )


def _refiner(model: str, sampling: Sampling) -> Stage:
    """What describes the base network (prediction type, clip skip) says nothing of the refiner's."""
    kept = Sampling(
        sampler=sampling.sampler,
        schedule=sampling.schedule,
        steps=sampling.steps,
        guidance_scale=sampling.guidance_scale,
    )
    return Stage(model=ModelRef(id=model), sampling=kept)


def _overridden(options: Options, stages: tuple[Stage, ...]) -> tuple[Stage, ...]:
    """The stages with what was said put over each that it is about."""
    main = stages[0].model if stages else None
    return tuple(_overridden_stage(options, stage, index == 0, main) for index, stage in enumerate(stages))


def _overridden_stage(options: Options, stage: Stage, is_first: bool, main: ModelRef | None) -> Stage:
    is_main = is_first or stage.model is None or stage.model == main
    sampling = _walk(options, stage.sampling)
    if is_main:
        sampling = _network(options, sampling)
    if options.model is not None and is_main:
        stage = replace(stage, model=ModelRef(id=options.model) if is_first or stage.model is not None else None)
    if options.size is not None:
        width, height = options.size if is_first else (None, None)  # the transitions' scales give the later ones
        stage = replace(stage, width=width, height=height)
    if options.prompt is not None:
        stage = replace(stage, prompt=None)
    if options.negative is not None:
        stage = replace(stage, negative_prompt=None)
    if options.lora:
        stage = replace(stage, loras=None)
    if is_main and (options.weights, options.model) != (None, None):
        stage = replace(stage, weights=options.weights)  # what was recorded are those of another model
    return replace(stage, sampling=sampling)


def _walk(options: Options, sampling: Sampling) -> Sampling:
    # A recorded schedule need not suit another sampler.
    schedule = None if options.sampler is not None else sampling.schedule
    return replace(
        sampling,
        sampler=_said(options.sampler, sampling.sampler),
        schedule=_said(options.schedule, schedule),
        steps=_said(options.steps, sampling.steps),
        guidance_scale=_said(options.guidance, sampling.guidance_scale),
        guidance_rescale=_said(options.guidance_rescale, sampling.guidance_rescale),
    )


def _network(options: Options, sampling: Sampling) -> Sampling:
    if options.model is not None:  # what was recorded describes another network
        sampling = replace(sampling, prediction_type=None, zero_terminal_snr=None, clip_skip=None)
    if (options.model, options.zero_terminal_snr) != (None, None) and options.guidance_rescale is None:
        sampling = replace(sampling, guidance_rescale=None)  # its default follows from the network
    return replace(
        sampling,
        prediction_type=_said(options.prediction_type, sampling.prediction_type),
        zero_terminal_snr=_said(options.zero_terminal_snr, sampling.zero_terminal_snr),
        clip_skip=_said(options.clip_skip, sampling.clip_skip),
    )
