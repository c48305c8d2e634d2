"""A request as the settings of a job file, and settings in words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QCoreApplication, QLocale

from mezzotint.protocol import GenerateRequest
from mezzotint_app.viewmodel.create.reading import Reading, read_request
from mezzotint_app.viewmodel.create.sampler_choices import shown_name

translate = QCoreApplication.translate


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Settings by their names in a job, and what no setting says."""

    settings: dict[str, Any]
    left_out: tuple[str, ...]  # for people


def said_by(request: GenerateRequest, *, with_pictures: bool = False) -> Said:
    """What a request says of how images are made; its words are no setting."""
    reading = read_request(request)
    found = dict(_walk(request, reading))
    found |= dict(_cascade(reading))
    found |= dict(_machine(request))
    left_out = list(reading.left_out)
    if with_pictures:
        found |= dict(_pictures(request))
        if any(one.role not in ("init", "mask") for one in request.images):
            left_out.append(translate("Create", "reference images"))
    return Said(settings={name: value for name, value in found.items() if value is not None}, left_out=tuple(left_out))


def job_of_request(request: GenerateRequest, folder: str) -> dict[str, Any]:
    """The job that makes the images of the Create page."""
    said = said_by(request, with_pictures=True)
    return {
        "version": 1,
        "settings": said.settings,
        "prompts": {"list": [request.prompt]},
        "output": {"folder": folder},
    }


def _walk(request: GenerateRequest, reading: Reading) -> Iterator[tuple[str, Any]]:
    settings = reading.settings
    yield "model", reading.model
    yield "weights", settings.weights
    yield "negative", request.negative_prompt or None
    if settings.width is not None and settings.height is not None:
        yield "size", f"{settings.width}x{settings.height}"
    yield "seed", request.seed
    yield "count", request.count if request.count != 1 else None
    yield "steps", settings.steps
    yield "guidance", settings.guidance_scale
    yield "guidance-rescale", settings.guidance_rescale
    yield "sampler", settings.sampler
    yield "schedule", settings.schedule
    yield "clip-skip", settings.clip_skip
    yield "prediction-type", settings.prediction_type
    yield "zero-terminal-snr", settings.zero_terminal_snr
    yield "embedding", list(request.embeddings) or None
    yield "lora", [f"{one.path}:{one.weight!r}" for one in request.loras] or None


def _cascade(reading: Reading) -> Iterator[tuple[str, Any]]:
    settings = reading.settings
    if settings.refiner is not None:
        yield "refiner", settings.refiner
        yield "refiner-at", settings.refiner_at
    if settings.second_pass:
        yield "hires", settings.second_scale
        yield "hires-strength", settings.second_strength
        yield "hires-space", settings.second_space
        yield "hires-upscaler", settings.second_upscaler


def _machine(request: GenerateRequest) -> Iterator[tuple[str, Any]]:
    for name, value in (
        ("device", request.device),
        ("dtype", request.dtype),
        ("attention", request.attention),
        ("cuda-graphs", request.cuda_graphs),
        ("quant", request.quantization),
        ("quant-text", request.text_quantization),
        ("memory", request.memory),
    ):
        yield name, value if value != "auto" else None
    yield "vram-limit", request.vram_limit_bytes
    yield "ram-limit", request.ram_limit_bytes
    yield "vae-tile", request.vae_tile
    yield "strict", request.strict or None
    yield "compile", request.compile or None
    yield "fast", request.fast or None


def _pictures(request: GenerateRequest) -> Iterator[tuple[str, Any]]:
    roles = {one.role: one.path for one in request.images}
    yield "init", roles.get("init")
    yield "mask", roles.get("mask")
    if request.images:
        yield "strength", request.strength
    inpaint = request.inpaint
    if inpaint is None:
        return
    margins = (inpaint.left, inpaint.top, inpaint.right, inpaint.bottom)
    if "mask" in roles or any(margins):  # else it says nothing
        yield "inpaint-area", inpaint.area
        yield "inpaint-padding", inpaint.padding
        yield "inpaint-feather", inpaint.feather
        yield "inpaint-fill", inpaint.fill
    if any(margins):
        yield "outpaint", ",".join(map(str, margins))


# ---- in words


def words_of(settings: Mapping[str, Any], strength: float | None = None) -> str:
    """One line: the model and what was set for it."""
    parts = [str(settings.get("model") or translate("Batch", "default model"))]
    for name, words in (
        ("size", "{value}"),
        ("steps", translate("Batch", "{value} steps")),
        ("guidance", translate("Batch", "CFG scale {value}")),
        ("sampler", "{value}"),
        ("count", translate("Batch", "{value} per prompt")),
        ("hires", translate("Batch", "hires fix {value}x")),
        ("refiner", translate("Batch", "refiner {value}")),
        ("seed", translate("Batch", "seed {value}")),
    ):
        if settings.get(name) is not None:
            value = shown_name(str(settings[name])) if name == "sampler" else _shown(settings[name])
            parts.append(words.format(value=value))
    if settings.get("lora"):
        parts.append(translate("Batch", "LoRAs: %n", None, len(settings["lora"])))
    if strength is not None:
        parts.append(translate("Batch", "denoising strength {value}").format(value=_shown(strength)))
    return " · ".join(parts)


def _shown(value: object) -> str:
    return QLocale().toString(value, "g", 6) if isinstance(value, float) else str(value)
