"""LoRAs that distil a model to few steps (Lightning, Hyper-SD, DMD2, TDM, LCM, Turbo): the settings they were made for.

They are told by their names and titles, in whole words: "lightning" and "turbo" alone are common in names of styles.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.checkpoints.plain_text import plain
from mezzotint.parsed import Guess
from mezzotint.protocol import Sampling

if TYPE_CHECKING:
    from mezzotint.families.lora.file import LoraFile

_UNETS = ("sdxl", "sd15")
_MODELS = r"(?:sd|sdxl|sd15|sd3|flux|image|qwen|pixart|large|medium|dev)"
_STEPS = r"(?<!\d)(\d{1,2}) ?steps?(?![a-z])"
_MOST_STEPS = 16
# What a name says, and the kind that it is; the first that fits decides.
_KINDS: tuple[tuple[str, str], ...] = (
    (r"\bdmd2?\b", "DMD2"),
    (r"\btdm\b", "TDM"),
    (r"\blcm\b", "LCM"),
    (rf"\bhyper ?(?:{_MODELS}\w*|\d+ ?steps?)\b", "Hyper-SD"),
    (rf"\b{_MODELS} lightning\b|\blightning\b.*{_STEPS}|{_STEPS}.*\blightning\b", "Lightning"),
    (rf"\b{_MODELS} turbo\b|\bturbo (?:alpha|lora)\b|\bturbo\b.*{_STEPS}|{_STEPS}.*\bturbo\b", "Turbo"),
)
_USUAL_STEPS = {"Hyper-SD": 8}
_FLOW_STEPS = {"Hyper-SD": 8, "Turbo": 8, "Lightning": 8}
_SAMPLERS = {  # of U-Nets: sampler and schedule
    **dict.fromkeys(("DMD2", "TDM", "LCM"), ("lcm", None)),
    **dict.fromkeys(("Hyper-SD", "Lightning"), ("euler", "sgm_uniform")),
    "Turbo": ("euler_a", "sgm_uniform"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FewSteps:
    """The settings for a distilled LoRA; None: as they are otherwise."""

    kind: str
    words: str  # that it was told by
    steps: int | None
    guidance_scale: float | None
    sampler: str | None
    schedule: str | None

    def left_open(self, sampling: Sampling) -> "FewSteps | None":
        """Those that a request leaves open; None if it leaves none."""
        own_sampler = sampling.sampler is not None or sampling.schedule is not None
        found = replace(
            self,
            steps=self.steps if sampling.steps is None else None,
            guidance_scale=self.guidance_scale if sampling.guidance_scale is None else None,
            sampler=None if own_sampler else self.sampler,
            schedule=None if own_sampler else self.schedule,
        )
        return found if found._settings() else None

    def guess(self) -> Guess:
        """What is assumed, for people."""
        settings = self._settings()
        each = (
            f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}" for name, value in settings.items()
        )
        return Guess(
            assumed=f"sampling in few steps ({', '.join(each)})",
            reason=f"its name '{plain(self.words, 80)}', which is that of a LoRA for few steps ({self.kind})",
            option=" or ".join(f"--{name}" for name in settings),
        )

    def _settings(self) -> dict[str, object]:
        """Those that it has, by the names of their options."""
        every = {
            "steps": self.steps,
            "guidance": self.guidance_scale,
            "sampler": self.sampler,
            "schedule": self.schedule,
        }
        return {name: value for name, value in every.items() if value is not None}


def few_steps(file: "LoraFile", family: str, *, embeds_guidance: bool) -> FewSteps | None:
    """The settings that a LoRA was distilled for, by its name and metadata; None for any other.

    `embeds_guidance`: whether the model takes its guidance scale as an input, which distilled LoRAs leave as it is.
    """
    for words in _names(file.path, file.header.metadata):
        flat = re.sub(r"[\W_]+", " ", words.lower())
        kind = next((kind for pattern, kind in _KINDS if re.search(pattern, flat)), None)
        if kind is not None:
            return _settings(kind, words, flat, is_unet=family in _UNETS, embeds_guidance=embeds_guidance)
    return None


def _names(path: Path, metadata: Mapping[str, str]) -> tuple[str, ...]:
    """The file's name, and what its makers call it."""
    said = (metadata.get(name, "") for name in ("modelspec.title", "ss_output_name"))
    return (path.stem, *said)


def _settings(kind: str, words: str, flat: str, *, is_unet: bool, embeds_guidance: bool) -> FewSteps:
    said = re.search(_STEPS, flat)
    steps = int(said[1]) if said and 1 <= int(said[1]) <= _MOST_STEPS else 0
    sampler, schedule = _SAMPLERS[kind] if is_unet else (None, None)
    keeps_guidance = embeds_guidance or re.search(r"\bcfg\b", flat) is not None  # some are made to be guided
    return FewSteps(
        kind=kind,
        words=words,
        steps=steps or (_USUAL_STEPS if is_unet else _FLOW_STEPS).get(kind, 4),
        guidance_scale=None if keeps_guidance else 1.0,
        sampler=sampler,
        schedule=schedule,
    )
