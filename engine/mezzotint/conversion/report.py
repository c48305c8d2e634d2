"""Reports of a conversion, layer by layer."""

from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerReport:
    """A quantized layer."""

    component: str
    name: str
    scheme: str
    bytes_before: int
    bytes_after: int
    error: float  # norm of the weight's error over norm of the weight; 0 for a weight of zeros


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentReport:
    """A component of the model."""

    name: str
    bytes_before: int
    bytes_after: int
    layers: tuple[LayerReport, ...]  # empty: it was copied unchanged

    @property
    def schemes(self) -> dict[str, int]:
        """Number of layers per scheme."""
        return dict(Counter(layer.scheme for layer in self.layers))

    @property
    def error(self) -> float:
        """Mean error of the layers."""
        return sum(layer.error for layer in self.layers) / len(self.layers) if self.layers else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversionReport:
    """The report of a conversion."""

    output: str
    scheme: str
    components: tuple[ComponentReport, ...]

    @property
    def bytes_before(self) -> int:
        """Bytes of all weights in the original."""
        return sum(component.bytes_before for component in self.components)

    @property
    def bytes_after(self) -> int:
        """Bytes of all weights in the copy."""
        return sum(component.bytes_after for component in self.components)
