"""Converts a request to the settings of a job file, and describes settings as text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QCoreApplication

from mezzotint.options import OPTIONS, options_of, to_settings
from mezzotint.protocol import GenerateRequest
from mezzotint_app.amounts import number_text
from mezzotint_app.plurals import Plurals
from mezzotint_app.viewmodel.create.reading import read_request
from mezzotint_app.viewmodel.create.sampler_choices import shown_name

translate = QCoreApplication.translate

# About the images of a request; a batch has its own.
_INPAINTING = (one.field for one in OPTIONS.values() if one.group == "inpainting and outpainting")
_OF_IMAGES = ("init", "reference", "control", "strength", *_INPAINTING)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSettings:
    """Settings under their names in a job file, and what has no setting."""

    settings: dict[str, Any]
    left_out: tuple[str, ...]  # displayed


def settings_of_request(request: GenerateRequest, *, with_images: bool = False) -> JobSettings:
    """Return the generation settings of a request, without its prompt."""
    options = options_of(request)
    left_out = read_request(request).left_out
    if not with_images:
        options = options.replace(**dict.fromkeys(_OF_IMAGES))
    return JobSettings(settings=to_settings(options), left_out=left_out)


def job_of_request(request: GenerateRequest, folder: str) -> dict[str, Any]:
    """Return the job that generates the Create page's images."""
    found = settings_of_request(request, with_images=True)
    return {
        "version": 1,
        "settings": found.settings,
        "prompts": {"list": [request.prompt]},
        "output": {"folder": folder},
    }


# ---- text


class SettingsCounts(Plurals):
    """Translated plurals in a batch's settings."""


def words_of(settings: Mapping[str, Any], strength: float | None = None) -> str:
    """Return the model and its settings as one line."""
    parts = [str(settings.get("model") or translate("Batch", "default model"))]
    for name, words in (
        ("size", "{value}"),
        ("steps", SettingsCounts.tr("%n steps", "", int(settings.get("steps") or 0))),
        ("guidance", translate("Batch", "CFG scale {value}")),
        ("sampler", "{value}"),
        ("count", translate("Batch", "{value} per prompt")),
        ("hires", translate("Batch", "hires fix {value}x")),
        ("refiner", translate("Batch", "refiner {value}")),
        ("refine-with", translate("Batch", "refined with {value}")),
        ("seed", translate("Batch", "seed {value}")),
    ):
        if settings.get(name) is not None:
            value = shown_name(str(settings[name])) if name == "sampler" else _shown(settings[name])
            parts.append(words.format(value=value))
    if settings.get("style"):
        parts.append(", ".join(map(str, settings["style"])))
    if settings.get("lora"):
        parts.append(SettingsCounts.tr("LoRAs: %n", "", len(settings["lora"])))
    if strength is not None:
        parts.append(translate("Batch", "denoising strength {value}").format(value=_shown(strength)))
    return " · ".join(parts)


def _shown(value: object) -> str:
    return number_text(value) if isinstance(value, float) else str(value)
