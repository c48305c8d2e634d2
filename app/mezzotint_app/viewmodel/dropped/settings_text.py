"""An image's settings as text, in the format that most other programs use and parse."""

from PySide6.QtCore import QCoreApplication

from mezzotint.protocol import Cascade, GenerateRequest, ImageMetadata, Sampling, Stage
from mezzotint.sampling_protocol import both_guidances
from mezzotint_app.amounts import number_text
from mezzotint_app.viewmodel.create.sampler_choices import shown_name
from mezzotint_app.viewmodel.dropped.described_request import later_stages

translate = QCoreApplication.translate


def settings_text(metadata: ImageMetadata) -> str:
    """Return the prompt, negative prompt, and a line of names and values, as most programs write them."""
    lines = [metadata.prompt or ""]
    if metadata.negative_prompt:
        lines.append(f"Negative prompt: {metadata.negative_prompt}")
    lines.append(", ".join(f"{name}: {value}" for name, value in _values(metadata)))
    return "\n".join(line for line in lines if line)


def _values(metadata: ImageMetadata) -> list[tuple[str, str]]:
    """Names are not translated, because other programs parse them."""
    size = f"{metadata.width}x{metadata.height}" if metadata.width and metadata.height else None
    said: list[tuple[str, object]] = [
        ("Steps", metadata.steps),
        ("Sampler", metadata.sampler),
        ("Schedule type", metadata.schedule),
        ("CFG scale", metadata.guidance_scale),
        ("Distilled CFG Scale", metadata.distilled_guidance_scale),
        ("Seed", metadata.seed),
        ("Size", size),
        ("Model hash", metadata.model_hash),
        ("Model", metadata.model),
        ("Denoising strength", metadata.strength),
        ("Clip skip", metadata.clip_skip + 1 if metadata.clip_skip else None),
        ("Hires upscale", metadata.hires_scale),
        ("Hires steps", metadata.hires_steps),
        ("Hires upscaler", metadata.hires_upscaler),
        ("Refiner", metadata.refiner),
        ("Refiner switch at", metadata.refiner_at),
        ("Variation seed", metadata.variation_seed),
        ("Variation seed strength", metadata.variation_strength),
    ]
    return [(name, _one_line(value)) for name, value in said if value is not None]


def _one_line(value: object) -> str:
    text = f"{value:g}" if isinstance(value, float) else " ".join(str(value).split())
    return f'"{text}"' if "," in text or ":" in text else text


def shown_settings(metadata: ImageMetadata) -> list[tuple[str, str]]:
    """Return the settings for display: pairs of translated name and value."""
    size = f"{metadata.width} × {metadata.height}" if metadata.width and metadata.height else None
    said: list[tuple[str, object]] = [
        (translate("SettingsText", "Model"), metadata.model),
        (translate("SettingsText", "Size"), size),
        (translate("SettingsText", "Seed"), metadata.seed),
        (translate("SettingsText", "Steps"), metadata.steps),
        (translate("SettingsText", "Sampler"), metadata.sampler and shown_name(metadata.sampler)),
        (translate("SettingsText", "Schedule"), metadata.schedule and shown_name(metadata.schedule)),
        (translate("SettingsText", "CFG scale"), metadata.guidance_scale),
        (translate("SettingsText", "Distilled guidance"), metadata.distilled_guidance_scale),
        (translate("SettingsText", "Strength"), metadata.strength),
        (translate("SettingsText", "Variation"), _variation(metadata)),
        (translate("SettingsText", "Styles"), _styles(metadata)),
        *(later_stages(metadata.request) if metadata.request is not None else []),
        (translate("SettingsText", "Made with"), program_name(metadata.program)),
    ]
    shown = [(name, value) for name, value in said if value is not None]
    return [(name, number_text(value) if isinstance(value, float) else str(value)) for name, value in shown]


def _variation(metadata: ImageMetadata) -> str | None:
    if not metadata.variation_strength:
        return None
    words = translate("SettingsText", "{strength} towards seed {seed}")
    return words.format(strength=number_text(metadata.variation_strength), seed=metadata.variation_seed or 0)


def _styles(metadata: ImageMetadata) -> str | None:
    return ", ".join(metadata.request.styles) or None if metadata.request is not None else None


def program_name(program: str) -> str | None:
    """Return the display name of the program that wrote an image, or None if unknown."""
    names = {
        "mezzotint": "Mezzotint",
        "a1111": "A1111",
        "comfyui": "ComfyUI",
        "invokeai": "InvokeAI",
        "swarmui": "SwarmUI",
        "fooocus": "Fooocus",
        "novelai": "NovelAI",
    }
    return names.get(program)


def request_of(metadata: ImageMetadata) -> GenerateRequest:
    """Return the image's request; for other programs, one with prompt, size, seed, steps and guidance scale."""
    if metadata.request is not None:
        return metadata.request
    guidance, true_cfg = both_guidances(metadata.guidance_scale, metadata.distilled_guidance_scale)
    sampling = Sampling(
        steps=metadata.steps,
        guidance_scale=guidance,
        true_cfg_scale=true_cfg,
        variation_seed=metadata.variation_seed,
        variation_strength=metadata.variation_strength,
    )
    stage = Stage(width=metadata.width, height=metadata.height, sampling=sampling)
    return GenerateRequest(
        prompt=metadata.prompt or "",
        negative_prompt=metadata.negative_prompt or "",
        seed=metadata.seed,
        cascade=Cascade(stages=(stage,)),
    )
