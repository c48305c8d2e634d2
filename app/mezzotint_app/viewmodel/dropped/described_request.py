"""A request as names and values that people read, so that two can be compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from PySide6.QtCore import QCoreApplication

from mezzotint.protocol import GenerateRequest, ImageMetadata, LoraRef, ModelDefaults, Stage, Transition
from mezzotint_app.viewmodel.create.sampler_choices import shown_name

translate = QCoreApplication.translate

PROMPT, NEGATIVE_PROMPT, SEED, MODEL = "prompt", "negative_prompt", "seed", "model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """One setting."""

    key: str
    name: str  # for people
    value: str  # None and defaults are words, too
    used: str = ""  # what it comes to, where the value leaves it to the model and that is known

    def is_same(self, other: "Described") -> bool:
        """Whether both come to the same image."""
        return (self.used or self.value) == (other.used or other.value)


def described(request: GenerateRequest, own: ModelDefaults | None = None) -> list[Described]:
    """All that decides the image, as far as a person sets it; `own`: what the model takes where nothing is said."""
    first = request.cascade.stages[0] if request.cascade.stages else Stage()
    how = first.sampling
    sampler = None if own is None or not own.sampler else shown_name(own.sampler)
    schedule = own.schedule if own is not None and own.schedule and how.sampler is None else "default"
    return [
        Described(key=PROMPT, name=_names()[PROMPT], value=request.prompt),
        Described(key=NEGATIVE_PROMPT, name=_names()[NEGATIVE_PROMPT], value=request.negative_prompt),
        _row(MODEL, first.model.id if first.model else None),
        _row("size", _size(first.width, first.height), used=own and _size(own.width, own.height)),
        _row(SEED, request.seed, translate("Differences", "random")),
        _row("steps", how.steps, used=own and own.steps),
        _row("sampler", how.sampler and shown_name(how.sampler), used=sampler),
        _row("schedule", how.schedule and shown_name(how.schedule), used=shown_name(schedule)),
        _row("guidance", how.guidance_scale, used=own and own.guidance_scale),
        _row("guidance_rescale", how.guidance_rescale, used=0.0),
        _row("clip_skip", how.clip_skip, used=0),
        _row("stages", _later_stages(request), translate("Differences", "none")),
        _row("loras", _loras(request.loras), translate("Differences", "none")),
        _row("embeddings", ", ".join(map(file_name, request.embeddings)) or None, translate("Differences", "none")),
        _row("pictures", _pictures(request), translate("Differences", "none")),
        _row("strength", request.strength if request.images else None, translate("Differences", "none")),
        _row("quantization", None if request.quantization == "auto" else request.quantization, used="none"),
    ]


def described_metadata(metadata: ImageMetadata) -> list[Described]:
    """What an image says; of one by another program only what it names."""
    if metadata.request is not None:
        return described(metadata.request)
    said = (
        (PROMPT, metadata.prompt),
        (NEGATIVE_PROMPT, metadata.negative_prompt),
        (MODEL, metadata.model),
        ("size", _size(metadata.width, metadata.height)),
        (SEED, metadata.seed),
        ("steps", metadata.steps),
        ("sampler", metadata.sampler and shown_name(metadata.sampler)),
        ("schedule", metadata.schedule and shown_name(metadata.schedule)),
        ("guidance", metadata.guidance_scale),
        ("strength", metadata.strength),
    )
    return [_row(key, value) for key, value in said if value is not None]


def file_name(path: str) -> str:
    """The last part of a path of any system."""
    return PurePosixPath(path.replace("\\", "/")).name or path


def _row(key: str, value: object, none: str = "", used: object = None) -> Described:
    name = _names()[key]
    if value is not None:
        return Described(key=key, name=name, value=_text(value))
    if used is None:
        return Described(key=key, name=name, value=none or translate("Differences", "model default"))
    words = translate("Differences", "{value} (default)").format(value=_text(used))
    return Described(key=key, name=name, value=words, used=_text(used))


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _names() -> dict[str, str]:
    return {
        PROMPT: translate("Differences", "Prompt"),
        NEGATIVE_PROMPT: translate("Differences", "Negative prompt"),
        MODEL: translate("Differences", "Model"),
        "size": translate("Differences", "Size"),
        SEED: translate("Differences", "Seed"),
        "steps": translate("Differences", "Steps"),
        "sampler": translate("Differences", "Sampler"),
        "schedule": translate("Differences", "Schedule"),
        "guidance": translate("Differences", "CFG scale"),
        "guidance_rescale": translate("Differences", "CFG rescale"),
        "clip_skip": translate("Differences", "Clip skip"),
        "stages": translate("Differences", "Hires fix and refiner"),
        "loras": translate("Differences", "LoRAs"),
        "embeddings": translate("Differences", "Embeddings"),
        "pictures": translate("Differences", "Init image"),
        "strength": translate("Differences", "Strength"),
        "quantization": translate("Differences", "Quantization"),
    }


def _size(width: int | None, height: int | None) -> str | None:
    return f"{width} × {height}" if width is not None and height is not None else None


def _loras(loras: Sequence[LoraRef]) -> str | None:
    return ", ".join(f"{file_name(one.path)} ({one.weight:g})" for one in loras) or None


def _pictures(request: GenerateRequest) -> str | None:
    return ", ".join(file_name(one.path) for one in request.images) or None


def later_stages(request: GenerateRequest) -> list[tuple[str, str]]:
    """The hires fix and the refiner, as many as there are: what each is called, and how it is set."""
    stages = request.cascade.stages  # a stranger's image may name more transitions than go between them
    between = zip(stages, stages[1:], request.cascade.transitions, strict=False)
    return [_later_stage(before, stage, transition) for before, stage, transition in between]


def _later_stage(before: Stage, stage: Stage, transition: Transition) -> tuple[str, str]:
    other = stage.model is not None and (before.model is None or stage.model.id != before.model.id)
    words = [stage.model.id] if stage.model is not None and other else []
    if transition.scale != 1:
        words.append(f"{transition.scale:g} ×")
    if transition.strength is not None:
        strength = translate("Differences", "denoising strength {value}")
        return translate("Differences", "Hires fix"), ", ".join(
            [*words, strength.format(value=f"{transition.strength:g}")]
        )
    if before.until is not None:
        words.append(translate("Differences", "from {part} of the steps").format(part=f"{before.until:.0%}"))
    return translate("Differences", "Refiner"), ", ".join(words) or translate("Differences", "the same model")


def _later_stages(request: GenerateRequest) -> str | None:
    return "; ".join(f"{name}: {words}" for name, words in later_stages(request)) or None
