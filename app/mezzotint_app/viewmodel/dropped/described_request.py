"""A request as human-readable names and values, for comparing two of them."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import PurePosixPath
from typing import Any

from PySide6.QtCore import QCoreApplication

from mezzotint.option import Option, declared
from mezzotint.protocol import (
    ControlRef,
    GenerateRequest,
    ImageMetadata,
    LoraRef,
    ModelDefaults,
    Sampling,
    Stage,
    Transition,
)
from mezzotint.sampling_protocol import both_guidances
from mezzotint.values.details import Detail, DetailRef
from mezzotint.values.regions import Region, RegionRef
from mezzotint_app.amounts import number_text
from mezzotint_app.viewmodel.create.sampler_choices import shown_name
from mezzotint_app.viewmodel.option_texts import label

translate = QCoreApplication.translate

PROMPT, NEGATIVE_PROMPT, SEED, MODEL = "prompt", "negative_prompt", "seed", "model"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingText:
    """One setting."""

    key: str
    name: str  # displayed
    value: str  # None and defaults as text
    used: str = ""  # the effective value, where it is left to the model and known

    def is_same(self, other: "SettingText") -> bool:
        """Whether both have the same effective value."""
        return (self.used or self.value) == (other.used or other.value)


def setting_texts(request: GenerateRequest, own: ModelDefaults | None = None) -> list[SettingText]:
    """Return the settings that determine the image; `own` has the model's defaults for fields that are not set."""
    first = request.cascade.stages[0] if request.cascade.stages else Stage()
    how = first.sampling
    used = _used(how, own)
    return [
        SettingText(key=PROMPT, name=_names()[PROMPT], value=request.prompt),
        SettingText(key=NEGATIVE_PROMPT, name=_names()[NEGATIVE_PROMPT], value=request.negative_prompt),
        _row(MODEL, first.model.id if first.model else None),
        _row("size", _size(first.width, first.height), used=own and _size(own.width, own.height)),
        _row(SEED, request.seed, translate("Differences", "random")),
        *(_row(name, _shown(one, getattr(how, name)), used=used.get(name)) for name, one in _sampling()),
        _row("stages", _later_stages(request), translate("Differences", "none")),
        _row("loras", _loras(request.loras), translate("Differences", "none")),
        _row("embeddings", ", ".join(map(file_name, request.embeddings)) or None, translate("Differences", "none")),
        _row("images", _images(request, "init", "mask"), translate("Differences", "none")),
        _row("controls", _controls(request.controls), translate("Differences", "none")),
        _row("regions", _regions(request.regions), translate("Differences", "none")),
        _row("details", _details(request.details), translate("Differences", "none")),
        _row("references", _images(request, "reference"), translate("Differences", "none")),
        _row("strength", request.strength if request.images else None, translate("Differences", "none")),
        _row("quantization", None if request.quantization == "auto" else request.quantization, used="none"),
    ]


def metadata_setting_texts(metadata: ImageMetadata) -> list[SettingText]:
    """Return the settings of an image's metadata; for other programs, only those recorded."""
    if metadata.request is not None:
        return setting_texts(metadata.request)
    guidance, true_cfg = both_guidances(metadata.guidance_scale, metadata.distilled_guidance_scale)
    said = (
        (PROMPT, metadata.prompt),
        (NEGATIVE_PROMPT, metadata.negative_prompt),
        (MODEL, metadata.model),
        ("size", _size(metadata.width, metadata.height)),
        (SEED, metadata.seed),
        ("steps", metadata.steps),
        ("sampler", metadata.sampler and shown_name(metadata.sampler)),
        ("schedule", metadata.schedule and shown_name(metadata.schedule)),
        ("guidance_scale", guidance),
        ("true_cfg_scale", true_cfg),
        ("strength", metadata.strength),
        ("variation_seed", metadata.variation_seed),
        ("variation_strength", metadata.variation_strength),
    )
    return [_row(key, value) for key, value in said if value is not None]


def file_name(path: str) -> str:
    """Return the last part of a path of any operating system."""
    return PurePosixPath(path.replace("\\", "/")).name or path


def _row(key: str, value: object, none: str = "", used: object = None) -> SettingText:
    name = _names()[key]
    if value is not None:
        return SettingText(key=key, name=name, value=_text(value))
    if used is None:
        return SettingText(key=key, name=name, value=none or translate("Differences", "model default"))
    words = translate("Differences", "{value} (default)").format(value=_text(used))
    return SettingText(key=key, name=name, value=words, used=_text(used))


def _text(value: object) -> str:
    return number_text(value) if isinstance(value, float) else str(value)


def _sampling() -> list[tuple[str, Option]]:
    return [(name, one) for name, one in declared(Sampling).items() if one.label]


def _used(how: Sampling, own: ModelDefaults | None) -> dict[str, object]:
    """Return effective sampling values for unset fields: the model's, or the general defaults."""
    of_models = {one.name for one in fields(ModelDefaults)}
    found = {name: one.unset for name, one in _sampling() if name not in of_models} | {"schedule": "default"}
    if own is not None:
        found |= {"steps": own.steps, "guidance_scale": own.guidance_scale, "sampler": own.sampler}
        if own.schedule and how.sampler is None:
            found["schedule"] = own.schedule
    return {name: _shown(one, found.get(name)) for name, one in _sampling()}


def _shown(option: Option, value: Any) -> object:  # noqa: ANN401  of whatever kind
    if value is None or isinstance(value, float):
        return value
    return shown_name(value) if option.names else option.takes.to_setting(value)


def _names() -> dict[str, str]:
    return {
        PROMPT: translate("Differences", "Prompt"),
        NEGATIVE_PROMPT: translate("Differences", "Negative prompt"),
        MODEL: translate("Differences", "Model"),
        "size": translate("Differences", "Size"),
        SEED: translate("Differences", "Seed"),
        **{name: label(one) for name, one in _sampling()},
        "stages": translate("Differences", "Hires fix and refiner"),
        "loras": translate("Differences", "LoRAs"),
        "embeddings": translate("Differences", "Embeddings"),
        "images": translate("Differences", "Init image"),
        "controls": translate("Differences", "Control images"),
        "regions": translate("Differences", "Regional prompts"),
        "details": translate("Differences", "Detail passes"),
        "references": translate("Differences", "Reference images"),
        "strength": translate("Differences", "Strength"),
        "quantization": translate("Differences", "Quantization"),
    }


def _size(width: int | None, height: int | None) -> str | None:
    return f"{width} × {height}" if width is not None and height is not None else None


def _loras(loras: Sequence[LoraRef]) -> str | None:
    return ", ".join(f"{file_name(one.path)} ({number_text(one.weight)})" for one in loras) or None


def _controls(controls: Sequence[ControlRef]) -> str | None:
    shown = (f"{file_name(one.image)}: {file_name(one.model)} ({number_text(one.weight)})" for one in controls)
    return ", ".join(shown) or None


def _regions(regions: Sequence[RegionRef]) -> str | None:
    return "; ".join(Region().to_setting(one) for one in regions) or None


def _details(details: Sequence[DetailRef]) -> str | None:
    return "; ".join(Detail().to_setting(replace(one, model=None)) for one in details) or None


def _images(request: GenerateRequest, *roles: str) -> str | None:
    return ", ".join(file_name(one.path) for one in request.images if one.role in roles) or None


def later_stages(request: GenerateRequest) -> list[tuple[str, str]]:
    """Return name and settings text of each later stage: hires fix, refiner or conditional refiner."""
    stages = request.cascade.stages  # metadata from elsewhere may name more transitions than stages
    between = zip(stages, stages[1:], request.cascade.transitions, strict=False)
    return [_later_stage(before, stage, transition) for before, stage, transition in between]


def _later_stage(before: Stage, stage: Stage, transition: Transition) -> tuple[str, str]:
    other = stage.model is not None and (before.model is None or stage.model.id != before.model.id)
    words = [stage.model.id] if stage.model is not None and other else []
    if transition.scale != 1:
        words.append(f"{number_text(transition.scale)} ×")
    if transition.refines:
        return translate("Differences", "Refined with"), ", ".join(words)
    if transition.strength is not None:
        strength = translate("Differences", "denoising strength {value}")
        return translate("Differences", "Hires fix"), ", ".join(
            [*words, strength.format(value=number_text(transition.strength))]
        )
    if before.until is not None:
        words.append(translate("Differences", "from {part} of the steps").format(part=f"{before.until:.0%}"))
    return translate("Differences", "Refiner"), ", ".join(words) or translate("Differences", "the same model")


def _later_stages(request: GenerateRequest) -> str | None:
    return "; ".join(f"{name}: {words}" for name, words in later_stages(request)) or None
