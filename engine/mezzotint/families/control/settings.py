"""How a control image is used in a stage."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlSettings:
    """One control image and its network."""

    component: str  # of the model
    tensor: str  # name of the image in the conditioning: (rows, 3, h, w) pixels, 0 to 1
    weight: float
    start: float  # part of the stage's steps, 0 to 1
    end: float
    mode: int | None = None  # of a union ControlNet; None for others

    def at_step(self, index: int, steps: int) -> "ControlSettings":
        """Same for a step; its weight is 0 outside the interval, in whole steps as in diffusers' pipelines."""
        used = index / steps >= self.start and (index + 1) / steps <= self.end
        return self if used else replace(self, weight=0.0)
