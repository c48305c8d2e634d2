"""What a conversion did, layer by layer."""

from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerReport:
    """A layer that was quantized."""

    component: str
    name: str
    scheme: str
    bytes_before: int
    bytes_after: int
    error: float  # of the weight: the norm of the difference by that of the weight; 0 for a weight of zeros


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentReport:
    """A part of the model."""

    name: str
    bytes_before: int
    bytes_after: int
    layers: tuple[LayerReport, ...]  # none: it was copied as it is

    @property
    def schemes(self) -> dict[str, int]:
        """How many layers each scheme has."""
        return dict(Counter(layer.scheme for layer in self.layers))

    @property
    def error(self) -> float:
        """The mean of its layers' errors."""
        return sum(layer.error for layer in self.layers) / len(self.layers) if self.layers else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversionReport:
    """The report of a conversion."""

    output: str
    scheme: str
    components: tuple[ComponentReport, ...]

    @property
    def bytes_before(self) -> int:
        """Bytes of all weights."""
        return sum(component.bytes_before for component in self.components)

    @property
    def bytes_after(self) -> int:
        """Bytes of all weights."""
        return sum(component.bytes_after for component in self.components)
