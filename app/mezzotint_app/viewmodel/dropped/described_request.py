"""A request as names and values that people read, so that two can be compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from PySide6.QtCore import QCoreApplication

from mezzotint.option import Option, declared
from mezzotint.protocol import GenerateRequest, ImageMetadata, LoraRef, Sampling, Stage
from mezzotint_app.amounts import number_text
from mezzotint_app.viewmodel.option_texts import label

translate = QCoreApplication.translate

PROMPT, NEGATIVE_PROMPT, SEED, MODEL = "prompt", "negative_prompt", "seed", "model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """One setting."""

    key: str
    name: str  # for people
    value: str  # None and defaults are words, too


def described(request: GenerateRequest) -> list[Described]:
    """All that decides the image, as far as a person sets it."""
    first = request.cascade.stages[0] if request.cascade.stages else Stage()
    how = first.sampling
    return [
        Described(key=PROMPT, name=_names()[PROMPT], value=request.prompt),
        Described(key=NEGATIVE_PROMPT, name=_names()[NEGATIVE_PROMPT], value=request.negative_prompt),
        _row(MODEL, first.model.id if first.model else None),
        _row("size", _size(first.width, first.height)),
        _row(SEED, request.seed, translate("Differences", "random")),
        *(_row(name, _shown(one, getattr(how, name))) for name, one in _sampling()),
        _row("stages", _later_stages(request), translate("Differences", "none")),
        _row("loras", _loras(request.loras), translate("Differences", "none")),
        _row("embeddings", ", ".join(map(file_name, request.embeddings)) or None, translate("Differences", "none")),
        _row("pictures", _pictures(request), translate("Differences", "none")),
        _row("strength", request.strength if request.images else None, translate("Differences", "none")),
        _row("quantization", None if request.quantization == "auto" else request.quantization),
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
        ("sampler", metadata.sampler),
        ("schedule", metadata.schedule),
        ("guidance_scale", metadata.guidance_scale),
        ("strength", metadata.strength),
    )
    return [_row(key, value) for key, value in said if value is not None]


def file_name(path: str) -> str:
    """The last part of a path of any system."""
    return PurePosixPath(path.replace("\\", "/")).name or path


def _row(key: str, value: object, none: str = "") -> Described:
    own = none or translate("Differences", "model default")
    text = own if value is None else (number_text(value) if isinstance(value, float) else str(value))
    return Described(key=key, name=_names()[key], value=text)


def _sampling() -> list[tuple[str, Option]]:
    return [(name, one) for name, one in declared(Sampling).items() if one.label]


def _shown(option: Option, value: Any) -> object:  # noqa: ANN401  of whatever kind
    return value if value is None or isinstance(value, float) else option.takes.written(value)


def _names() -> dict[str, str]:
    return {
        PROMPT: translate("Differences", "Prompt"),
        NEGATIVE_PROMPT: translate("Differences", "Negative prompt"),
        MODEL: translate("Differences", "Model"),
        "size": translate("Differences", "Size"),
        SEED: translate("Differences", "Seed"),
        **{name: label(one) for name, one in _sampling()},
        "stages": translate("Differences", "Later stages"),
        "loras": translate("Differences", "LoRAs"),
        "embeddings": translate("Differences", "Embeddings"),
        "pictures": translate("Differences", "Init image"),
        "strength": translate("Differences", "Strength"),
        "quantization": translate("Differences", "Quantization"),
    }


def _size(width: int | None, height: int | None) -> str | None:
    return f"{width} × {height}" if width is not None and height is not None else None


def _loras(loras: Sequence[LoraRef]) -> str | None:
    return ", ".join(f"{file_name(one.path)} ({number_text(one.weight)})" for one in loras) or None


def _pictures(request: GenerateRequest) -> str | None:
    return ", ".join(file_name(one.path) for one in request.images) or None


def _later_stages(request: GenerateRequest) -> str | None:
    """The refiner, the second pass: each by its model or its scale."""
    words = []
    for number, stage in enumerate(request.cascade.stages[1:]):
        transitions = request.cascade.transitions
        transition = transitions[number] if number < len(transitions) else None
        model = stage.model.id if stage.model is not None else translate("Differences", "the same model")
        scale = f" × {number_text(transition.scale)}" if transition is not None and transition.scale != 1 else ""
        strength = transition.strength if transition is not None else None
        before = request.cascade.stages[number].until
        numbers = [number_text(one) for one in (strength, before) if one is not None]
        words.append(", ".join([f"{model}{scale}", *numbers]))
    return "; ".join(words) or None
