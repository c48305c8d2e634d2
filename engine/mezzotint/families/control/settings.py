"""How a control image is used in a stage."""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

# controlnet: asked before each call of the denoiser; ip-adapter: asked once, and attended to.
ControlKind: TypeAlias = Literal["controlnet", "ip-adapter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlSettings:
    """One control image and its network."""

    component: str  # of the model
    # Name of what is in the conditioning: pixels (rows, 3, h, w) from 0 to 1; of an IP-Adapter, its keys and values.
    tensor: str
    weight: float
    start: float  # part of the stage's steps, 0 to 1
    end: float
    mode: int | None = None  # of a union ControlNet; None for others
    kind: ControlKind = "controlnet"

    @property
    def is_asked_each_step(self) -> bool:
        """Whether its network works while the denoiser does."""
        return self.kind != "ip-adapter"

    def at_step(self, index: int, steps: int) -> "ControlSettings":
        """Same for a step; its weight is 0 outside the interval, in whole steps as in diffusers' pipelines."""
        used = index / steps >= self.start and (index + 1) / steps <= self.end
        return self if used else replace(self, weight=0.0)
