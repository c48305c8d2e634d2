"""LoRAs that distil a stage's model to few steps: their settings, where the request leaves them open."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import MezzotintError
from mezzotint.families.detected import Detected
from mezzotint.families.lora.distilled import FewSteps, few_steps
from mezzotint.families.lora.file import open_lora
from mezzotint.parsed import Parsed
from mezzotint.protocol import LoraRef, Sampling

_DISTILLED = 10  # steps; models with such a default are distilled themselves


def detected_with(detected: Detected, loras: Sequence[LoraRef], sampling: Sampling) -> Parsed[Detected]:
    """What was detected of a model, with the defaults of the first distilled LoRA for it, if there is one."""
    if detected.variant == "refiner" or detected.defaults.steps <= _DISTILLED:
        return Parsed(detected, source="")
    for ref in loras:
        found = _few_steps(ref, detected, sampling) if ref.weight else None
        if found is not None:
            guidance = detected.defaults.guidance_scale if found.guidance_scale is None else found.guidance_scale
            steps = detected.defaults.steps if found.steps is None else found.steps
            defaults = replace(detected.defaults, steps=steps, guidance_scale=guidance)
            changed = replace(
                detected,
                defaults=defaults,
                sampler=found.sampler or detected.sampler,
                schedule=found.schedule or (detected.schedule if found.sampler is None else None),
            )
            return Parsed(changed, source=plain(ref.path, 200), guesses=(found.guess(),))
    return Parsed(detected, source="")


def _few_steps(ref: LoraRef, detected: Detected, sampling: Sampling) -> FewSteps | None:
    """The settings of a LoRA that are left open; None if none is, or it is not for that model, or for few steps."""
    with suppress(MezzotintError):  # which reading it will tell
        file = open_lora(Path(ref.path))
        if file.base is None or detected.family in file.base.families:
            found = few_steps(file, detected.family, embeds_guidance=detected.guidance == "embedded")
            return None if found is None else found.left_open(sampling)
    return None
