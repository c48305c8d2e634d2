"""Build a request from the options of a command line or job file, without touching the disk."""

from dataclasses import replace
from typing import TypeVar

from mezzotint.batch.job.inpainting import check_inpainting, images_of, inpaint_of, size_follows
from mezzotint.errors import UsageError
from mezzotint.option import declared
from mezzotint.options import Options
from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Output, Sampling, Stage, Transition
from mezzotint.request_protocol import HIRES_STRENGTH, REFINE_SCALE, REFINE_STEPS, REFINER_AT
from mezzotint.sampling_protocol import shared_with_refiner

T = TypeVar("T")

_MOST_STEPS, _LEAST_STRENGTH = 1000, 0.01


def request_of(options: Options, base: GenerateRequest | None = None) -> GenerateRequest:
    """Return the request for these options, on top of an earlier image's request `base` if given."""
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
    if options.init_upscaler is not None:
        base = replace(base, init_upscaler_sha256=None)  # the recorded one is another's
    return replace(
        base,
        **options.of(GenerateRequest),
        prompt=_said(options.prompt, base.prompt),
        styles=options.style or (base.styles if options.prompt is None else ()),
        cascade=_cascade(options, base.cascade),
        images=images_of(options, base),
        inpaint=inpaint_of(options, base),
        previews=False,
        output=Output(**options.of(Output)),
    )


def with_second_pass_steps(request: GenerateRequest, steps: int) -> GenerateRequest:
    """The request with a schedule of which the second pass, after the first stage, takes that many steps."""
    first, second, *others = request.cascade.stages
    strength = request.cascade.transitions[0].strength or 0
    whole = min(_MOST_STEPS, max(1, round(steps / max(strength, _LEAST_STRENGTH))))
    second = replace(second, sampling=replace(second.sampling, steps=whole))
    return replace(request, cascade=replace(request.cascade, stages=(first, second, *others)))


def _with_recorded_cascade(options: Options, base: Cascade) -> Options:
    """If options override one part of the cascade, fill in the other parts from the earlier image."""
    later = (options.refiner, options.refiner_at, options.refine_with, options.refine_steps)
    if later == (None,) * 4 and not options.of(Transition):
        return options
    for before, after, transition in zip(base.stages, base.stages[1:], base.transitions, strict=False):
        if transition.refines and after.model is not None:
            options = options.replace(
                refine_with=_said(options.refine_with, after.model.id),
                refine_steps=_said(options.refine_steps, after.sampling.steps),
                condition_noise=_said(options.condition_noise, after.sampling.condition_noise),
            )
        elif transition.strength is None and after.model is not None:
            options = options.replace(
                refiner=_said(options.refiner, after.model.id), refiner_at=_said(options.refiner_at, before.until)
            )
        elif transition.strength is not None:
            recorded = {one.field: getattr(transition, name) for name, one in declared(Transition).items()}
            options = options.replace(
                **{name: _said(getattr(options, name), value) for name, value in recorded.items()}
            )
    return options


def _said(said: T | None, otherwise: T) -> T:
    return otherwise if said is None else said


def _check_pairs(options: Options, base: GenerateRequest) -> None:
    if options.strength is not None and not any(image.role == "init" for image in images_of(options, base)):
        raise UsageError("--strength requires an init image: add --init")
    if options.refiner_at is not None and options.refiner is None:
        raise UsageError("--refiner-at requires --refiner")
    if options.refine_steps is not None and options.refine_with is None:
        raise UsageError("--refine-steps requires --refine-with")
    blended = (options.variation_strength, *(stage.sampling.variation_strength for stage in base.cascade.stages[:1]))
    if options.variation_seed is not None and set(blended) == {None}:
        raise UsageError("--variation-seed requires --variation-strength")
    for one in declared(Transition).values():
        if options.hires is None and getattr(options, one.field) is not None:
            raise UsageError(f"{one.flag} requires --hires")


def _cascade(options: Options, base: Cascade) -> Cascade:
    if (options.refiner, options.hires, options.refine_with) == (None, None, None):
        return replace(base, stages=_overridden(options, base))
    first = _overridden(options, Cascade(stages=base.stages[:1] or (Stage(),)))[0]
    first = replace(first, until=None)
    if options.refine_with is not None:
        first = replace(first, sampling=replace(first.sampling, condition_noise=None))
    stages, transitions = [first], []
    if options.hires is not None:
        # Repeat the settings, since a stage without any uses its model's defaults; sizes follow from the scale.
        stages.append(replace(first, width=None, height=None))
        transitions.append(Transition(**{"strength": HIRES_STRENGTH} | options.of(Transition)))
    if options.refiner is not None:
        stages[-1] = replace(stages[-1], until=_said(options.refiner_at, REFINER_AT))
        # Settings specific to the base model do not apply to the refiner.
        stages.append(Stage(model=ModelRef(id=options.refiner), sampling=shared_with_refiner(first.sampling)))
        transitions.append(Transition())
    if options.refine_with is not None:
        sampling = replace(
            shared_with_refiner(first.sampling),
            steps=_said(options.refine_steps, REFINE_STEPS),
            condition_noise=options.condition_noise,
        )
        stages.append(Stage(model=ModelRef(id=options.refine_with), sampling=sampling))
        transitions.append(Transition(scale=REFINE_SCALE, strength=1.0, refines=True))
    return Cascade(stages=tuple(stages), transitions=tuple(transitions))


def _overridden(options: Options, cascade: Cascade) -> tuple[Stage, ...]:
    """Apply the options to each stage that they concern."""
    stages = cascade.stages
    main = stages[0].model if stages else None
    found = tuple(_overridden_stage(options, stage, index == 0, main) for index, stage in enumerate(stages))
    refines = (False, *(transition.refines for transition in cascade.transitions))
    if not any(refines):
        return found
    return tuple(_as_recorded(*stage) for stage in zip(stages, found, refines, strict=True))


def _as_recorded(stage: Stage, overridden: Stage, refines: bool) -> Stage:
    """The number of steps is that of the stages before a conditional refiner, the condition's noise only its own."""
    name = "steps" if refines else "condition_noise"
    return replace(overridden, sampling=replace(overridden.sampling, **{name: getattr(stage.sampling, name)}))


def _overridden_stage(options: Options, stage: Stage, is_first: bool, main: ModelRef | None) -> Stage:
    is_main = is_first or stage.model is None or stage.model == main
    if options.model is not None and is_main:
        stage = replace(stage, model=ModelRef(id=options.model) if is_first or stage.model is not None else None)
    if is_main:
        stage = replace(stage, model=_with_parts(options, stage.model, is_first))
    if options.size is not None:
        width, height = options.size if is_first else (None, None)  # later sizes follow from the transitions' scales
        stage = replace(stage, width=width, height=height)
    if options.prompt is not None:
        stage = replace(stage, prompt=None)
    if options.negative is not None:
        stage = replace(stage, negative_prompt=None)
    if options.lora:
        stage = replace(stage, loras=None)
    if is_main and (options.weights, options.model) != (None, None):
        stage = replace(stage, weights=options.weights)  # recorded weights belong to another model
    return replace(stage, sampling=_sampling(options, stage.sampling, is_main))


def _with_parts(options: Options, model: ModelRef | None, is_first: bool) -> ModelRef | None:
    """The model with the VAE and text encoders of the options; the files recorded in an image have changed then."""
    if options.vae is None and not options.text_encoder:
        return model
    if model is None and is_first:
        raise UsageError("--vae and --text-encoder require a model: name it with --model")
    if model is None:
        return None  # the previous stage's
    text_encoders = options.text_encoder or model.text_encoders
    return replace(model, sha256=None, vae=_said(options.vae, model.vae), text_encoders=text_encoders)


def _sampling(options: Options, sampling: Sampling, is_main: bool) -> Sampling:
    said, known = options.of(Sampling), declared(Sampling)
    dropped = {"schedule"} if "sampler" in said else set()  # a recorded schedule may not suit the new sampler
    if is_main and options.model is not None:  # recorded values are specific to another model
        dropped |= {name for name, one in known.items() if one.scope == "model"}
    if is_main and (options.model is not None or "zero_terminal_snr" in said):
        dropped.add("guidance_rescale")  # its default depends on the model
    kept = {name: value for name, value in said.items() if is_main or known[name].scope != "model"}
    return replace(sampling, **dict.fromkeys(dropped) | kept)
