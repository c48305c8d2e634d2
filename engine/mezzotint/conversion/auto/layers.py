"""Layers to choose a format for: what each format takes, loses and speeds up."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from mezzotint.quantization.formats import Format

HALF = 2  # bytes of a 16-bit number
CALIBRATED = ("svdquant",)  # schemes that lose less if they know the magnitudes of inputs
UNQUANTIZED = "16 bits"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A format that a layer could have; `format` None: 16 bits."""

    format: Format | None
    bytes: int
    error: float  # of the layer's output, relative to its norm
    speed: float  # of its product, relative to 16 bits

    @property
    def scheme(self) -> str:
        """Name of the scheme."""
        return UNQUANTIZED if self.format is None else self.format.scheme


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredLayer:
    """A quantizable layer; the first candidate is 16 bits."""

    name: str
    candidates: tuple[Candidate, ...]
    work: float  # operations in one pass of the network
    influence: float  # relative change of the network's output by a relative error of 1 of the layer's
    magnitudes: Tensor | None = field(default=None, compare=False)  # of inputs, which its calibrated formats know

    def change(self, candidate: Candidate) -> float:
        """Expected change of the network's output, relative to its norm."""
        return self.influence * candidate.error


@dataclass(slots=True, kw_only=True)
class Recording:
    """What was seen of one layer while the model made images."""

    rows: list[Tensor] = field(default_factory=list)  # samples (1.., k) of what its weight is multiplied by
    work: float = 0.0  # operations in one pass
    influence: float | None = None  # None: not measured

    @property
    def samples(self) -> Tensor | None:
        """All rows `(m, k)`; None if there are none."""
        return torch.cat(self.rows) if self.rows else None

    @property
    def magnitudes(self) -> Tensor | None:
        """Root mean squares `(k)` of the input's columns, float32; None if there are no rows."""
        samples = self.samples
        return None if samples is None else samples.float().square().mean(dim=0).sqrt()


def unquantized(shape: Sequence[int]) -> Candidate:
    """The candidate that leaves a weight of this shape in 16 bits."""
    return Candidate(format=None, bytes=HALF * math.prod(shape), error=0.0, speed=1.0)


def format_bytes(format_: Format, shape: tuple[int, ...]) -> int:
    """Bytes in memory of a weight of this shape."""
    return sum(spec.bytes for spec in format_.part_specs(shape).values())


def influences(recordings: Mapping[str, Recording]) -> dict[str, float]:
    """The influence of each layer; of one that was not measured, the mean of its kind, or else of all.

    Layers of the same kind have the same name but for the number of their block.
    """
    known = {name: each.influence for name, each in recordings.items() if each.influence is not None}
    kinds: dict[str, list[float]] = {}
    for name, influence in known.items():
        kinds.setdefault(_kind(name), []).append(influence)
    every = list(known.values()) or [1.0]
    return {name: known.get(name, _mean(kinds.get(_kind(name), every))) for name in recordings}


def _kind(name: str) -> str:
    return ".".join(part for part in name.split(".") if not part.isdigit())


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)
