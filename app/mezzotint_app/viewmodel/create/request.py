"""Converts the Create page's settings to a request, as the command line would build it."""

from dataclasses import dataclass, field, replace

from mezzotint.protocol import (
    Cascade,
    GenerateRequest,
    ImageInput,
    Inpaint,
    ModelRef,
    Output,
    Sampling,
    Stage,
    Transition,
)
from mezzotint.request_protocol import HIRES_SCALE, HIRES_STRENGTH, REFINE_SCALE, REFINE_STEPS, REFINER_AT
from mezzotint.sampling_protocol import sampling_of, shared_with_refiner
from mezzotint_app.settings import Settings
from mezzotint_app.viewmodel.create.controls import controls_in_use
from mezzotint_app.viewmodel.create.regions import details_in_use, regions_in_use
from mezzotint_app.viewmodel.create.state import CreateSettings, loras_in_use


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The page's contents."""

    model: str  # empty: the default model
    prompt: str
    negative_prompt: str = ""
    settings: CreateSettings = field(default_factory=CreateSettings)
    seed: int | None = None
    images: tuple[ImageInput, ...] = ()
    strength: float | None = None
    inpaint: Inpaint | None = None
    window: Settings = field(default_factory=Settings)
    output: str | None = None


def request_of(form: Form) -> GenerateRequest:
    """Return the form as a request."""
    settings, window = form.settings, form.window
    has_init = any(image.role == "init" for image in form.images)
    return GenerateRequest(
        prompt=form.prompt,
        negative_prompt=form.negative_prompt,
        cascade=cascade_of(form.model, settings),
        images=form.images,
        init_upscaler=settings.init_upscaler if has_init and form.inpaint is None else None,
        strength=form.strength if has_init else None,
        inpaint=form.inpaint if has_init else None,
        seed=form.seed,
        count=settings.count,
        device=window.device,
        dtype=settings.dtype or "auto",
        attention=window.attention,
        quantization=settings.quantization or "auto",
        text_quantization=settings.text_quantization or "auto",
        previews=window.previews,
        embeddings=settings.embeddings,
        loras=loras_in_use(settings),
        controls=controls_in_use(settings.controls),
        memory=window.memory,
        vram_limit_bytes=window.vram_limit_bytes,
        ram_limit_bytes=window.ram_limit_bytes,
        vae_tile=settings.vae_tile,
        compile=settings.compile,
        fast=settings.fast,
        cuda_graphs=settings.cuda_graphs or "auto",
        strict=settings.strict,
        regions=regions_in_use(settings.regions),
        details=details_in_use(settings.details),
        output=Output(path=form.output, metadata=window.metadata, preview_decoder=window.preview_decoder),
    )


def cascade_of(model: str, settings: CreateSettings) -> Cascade:
    """Return the base stage, then the hires pass, then the refiner, then the conditional refiner."""
    first = Stage(
        model=ModelRef(id=model, vae=settings.vae, text_encoders=settings.text_encoders) if model else None,
        width=settings.width,
        height=settings.height,
        sampling=_sampling(settings),
        weights=settings.weights,
    )
    stages, transitions = [first], []
    if settings.second_pass:
        stages.append(replace(first, width=None, height=None))  # follows from the scale
        transitions.append(_second_pass(settings))
    if settings.refiner is not None:
        until = REFINER_AT if settings.refiner_at is None else settings.refiner_at
        stages[-1] = replace(stages[-1], until=until)
        stages.append(Stage(model=ModelRef(id=settings.refiner), sampling=shared_with_refiner(_sampling(settings))))
        transitions.append(Transition())
    if settings.refine_with is not None:
        steps = REFINE_STEPS if settings.refine_steps is None else settings.refine_steps
        shared = shared_with_refiner(_sampling(settings))
        sampling = replace(shared, steps=steps, condition_noise=settings.condition_noise)
        stages.append(Stage(model=ModelRef(id=settings.refine_with), sampling=sampling))
        transitions.append(Transition(scale=REFINE_SCALE, strength=1.0, refines=True))
    return Cascade(stages=tuple(stages), transitions=tuple(transitions))


def _sampling(settings: CreateSettings) -> Sampling:
    return replace(sampling_of(settings), condition_noise=None)


def _second_pass(settings: CreateSettings) -> Transition:
    scale, strength = settings.second_scale, settings.second_strength
    return Transition(
        scale=HIRES_SCALE if scale is None else scale,
        strength=HIRES_STRENGTH if strength is None else strength,
        space=settings.second_space or "latent",
        upscaler=settings.second_upscaler or "bicubic",
    )
