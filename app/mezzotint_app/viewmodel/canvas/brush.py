"""The brush of the canvas."""

from dataclasses import dataclass

SMALLEST, LARGEST = 2.0, 1024.0  # pixels, brush diameter


@dataclass(frozen=True, slots=True, kw_only=True)
class Brush:
    """Brush settings."""

    size: float = 64.0  # pixels, diameter
    hardness: float = 0.8  # 0: soft from the center on; 1: a sharp edge
    erase: bool = False

    def radius(self) -> float:
        """Return the radius, within the limits."""
        return min(max(self.size, SMALLEST), LARGEST) / 2

    def core(self) -> float:
        """Return the fraction of the radius painted at full strength, leaving a pixel for antialiasing."""
        return max(min(self.hardness, 1 - 1 / self.radius()), 0.0)
