"""How a control image is used in a stage."""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

# ControlNets and T2I-Adapters are asked before each call of the denoiser; IP-Adapters once, and attended to. Some of
# FLUX.1's transformers take the image themselves.
ControlKind: TypeAlias = Literal[
    "controlnet",
    "t2i-adapter",
    "ip-adapter",
    "flux-controlnet",
    "qwen-controlnet",
    "z-image-controlnet",
    "flux-control",
    "redux",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlSettings:
    """One control image and its network."""

    component: str  # of the model; of its denoiser if that takes the image itself
    # Name in the conditioning of pixels (rows, 3 or 1, h, w) from 0 to 1, of latents for transformers, or of an
    # IP-Adapter's keys and values.
    tensor: str
    weight: float
    start: float  # part of the stage's steps, 0 to 1
    end: float
    mode: int | None = None  # of a union ControlNet; None for others
    kind: ControlKind = "controlnet"
    mask: str | None = None  # name in the conditioning of where an image prompt applies, (rows, 1, h, w), 0 or 1

    @property
    def is_image_prompt(self) -> bool:
        """Whether its network works once, before denoising."""
        return self.kind in ("ip-adapter", "redux")

    @property
    def is_asked_each_step(self) -> bool:
        """Whether its network works while the denoiser does."""
        return not self.is_image_prompt and self.kind != "flux-control"

    @property
    def is_shown_each_step(self) -> bool:
        """Whether the image, or its latents, is among the tensors."""
        return not self.is_image_prompt

    @property
    def takes_latents(self) -> bool:
        """Whether latents of the image are seen, as by transformers and their ControlNets."""
        return self.kind in ("flux-controlnet", "qwen-controlnet", "z-image-controlnet", "flux-control")

    @property
    def is_of_both_halves(self) -> bool:
        """Whether it is asked for the negative prompt, too; others of transformers only for the prompt."""
        return self.kind == "z-image-controlnet"

    @property
    def draws_latents(self) -> bool:
        """Whether those latents are drawn with noise of the image's seed; otherwise they are the most likely ones."""
        return self.kind != "z-image-controlnet"

    def at_step(self, index: int, steps: int) -> "ControlSettings":
        """Same for a step; its weight is 0 outside the interval, in whole steps as in diffusers' pipelines."""
        used = index / steps >= self.start and (index + 1) / steps <= self.end
        return self if used else replace(self, weight=0.0)
