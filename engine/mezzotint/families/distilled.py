"""Distilled SDXL and SD 1.5 models: detection by name, and the few-step settings they are run with."""

import re
from dataclasses import dataclass, replace
from typing import Literal

from mezzotint.families.name_words import said_in, words_of

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
    guessed: str | None = None  # the words of the name that it rests on alone; None: its files say so


def recipe_of(name: str, hint: str | None, unet: LcmUnet) -> Recipe | None:
    """The recipe for a model by its name, or else by the variant that its scheduler or network suggests.

    A scheduler that matches the variant is kept; if only the name indicates it, sampler and schedule are set.
    """
    words = words_of(name)
    named = _variant_of(words)
    variant = named[0] if named else hint or ("lcm" if unet == "embeds_guidance" else None)
    if variant is None:
        return None
    recipe = _recipe(variant, words, own=variant == hint, unet=unet)
    return replace(recipe, guessed=named[1]) if named and variant != hint else recipe


def _recipe(variant: str, words: str, *, own: bool, unet: LcmUnet) -> Recipe:
    steps = _steps_of(words)
    match variant:
        case "turbo":
            return Recipe(
                variant="turbo",
                steps=steps or 4,
                guidance_scale=1.0,
                sampler=None if own else "euler_a",
                schedule=None if own else "sgm_uniform",
                side=512 if said_in(words, "sd ?xl turbo") else None,
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
        steps=steps or (4 if said_in(words, "lightning") else 8),
        guidance_scale=1.0,
        sampler=None if own else "euler",
        schedule=None if own else "sgm_uniform",
    )


# "Hyper" alone is common in names, so Hyper-SD is recognised by what follows it.
_NAMED = {"lightning": "lightning", "turbo": "turbo", "lcm|dmd": "lcm", r"hyper ?(sd|sdxl|\d+ steps?)": "lightning"}


def _variant_of(words: str) -> tuple[str, str] | None:
    """The variant that a name says, and the words that say so."""
    found = ((variant, said_in(words, pattern)) for pattern, variant in _NAMED.items())
    return next(((variant, said) for variant, said in found if said), None)


def _steps_of(words: str) -> int | None:
    match = re.search(r"\b(\d{1,2}) steps?\b", words)
    steps = int(match[1]) if match else 0
    return steps if 1 <= steps <= 16 else None
