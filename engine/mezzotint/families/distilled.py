"""Distilled SDXL and SD 1.5 models: detection by name, and the few-step settings they are run with."""

import re
from dataclasses import dataclass
from typing import Literal

LcmUnet = Literal["plain", "embeds_guidance"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The settings a distilled model is run with."""

    variant: str
    steps: int
    guidance_scale: float  # 1: no guidance
    sampler: str | None  # None: that of the checkpoint's scheduler
    schedule: str | None
    side: int | None = None  # pixels; None: the family's default


def recipe_of(words: str, hint: str | None, unet: LcmUnet) -> Recipe | None:
    """The recipe for a model by its name, or else by the variant that its scheduler or network suggests.

    A scheduler that matches the variant is kept; if only the name indicates it, sampler and schedule are set.
    """
    variant = _variant_of(words.lower()) or hint or ("lcm" if unet == "embeds_guidance" else None)
    if variant is None:
        return None
    own = variant == hint
    steps = _steps_of(words.lower())
    match variant:
        case "turbo":
            return Recipe(
                variant="turbo",
                steps=steps or 4,
                guidance_scale=1.0,
                sampler=None if own else "euler_a",
                schedule=None if own else "sgm_uniform",
                side=512 if re.search(r"sd[-_ ]?xl[-_ ]turbo", words.lower()) else None,
            )
        case "lcm":
            # Networks that take the guidance scale as an input were trained on scales from 3 to 15.
            guidance = 8.0 if unet == "embeds_guidance" else 1.0
            return Recipe(
                variant="lcm",
                steps=steps or 4,
                guidance_scale=guidance,
                sampler=None if own else "lcm",
                schedule=None,
            )
    return Recipe(
        variant="lightning",
        steps=steps or (4 if "lightning" in words.lower() else 8),
        guidance_scale=1.0,
        sampler=None if own else "euler",
        schedule=None if own else "sgm_uniform",
    )


def _variant_of(words: str) -> str | None:
    if "lightning" in words:
        return "lightning"
    if "turbo" in words:
        return "turbo"
    if re.search(r"(?<![a-z])(lcm|dmd2?)(?![a-z])", words):
        return "lcm"
    # "Hyper" alone is common in names, so Hyper-SD is recognised by what follows it.
    if re.search(r"(?<![a-z])hyper[-_ ]?(sd|\d+[-_ ]?step)", words):
        return "lightning"
    return None


def _steps_of(words: str) -> int | None:
    match = re.search(r"(?<!\d)(\d{1,2})[-_ ]?steps?(?![a-z])", words)
    steps = int(match[1]) if match else 0
    return steps if 1 <= steps <= 16 else None
