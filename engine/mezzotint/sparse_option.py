"""Values of the option --sparse-attention: a kind of sparse attention and its density. Standard library only."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast, get_args

from mezzotint.option_values import Kind, Value, plain_number, shown, to_float

SparseKind = Literal["pooled", "window", "topk"]
# The density is the part of the image's blocks of keys that each block of queries sees; None is the kind's own.
SparseAttention: TypeAlias = tuple[SparseKind, float | None]

DENSITIES: dict[SparseKind, float] = {"pooled": 0.25, "window": 0.25, "topk": 0.5}
MIN_TOKENS = 10_000  # image tokens of a layer from which sparse attention pays; ComfyUI begins at 12,288
# Why not, of those that fail in FLUX.1 without training (arXiv 2412.16112, table 1).
_FAILING = {
    "linear": "the weights were trained with the softmax that it leaves out",
    "linformer": "it needs projections of keys and values that are trained with the model",
    "bigbird": "its random blocks leave out what the weights look for",
    "routing": "it needs clusters that are trained with the model",
    "swin": "its windows do not overlap, so images show their edges",
}


def density_at(how: SparseAttention, tokens: float) -> float:
    """The density in a layer of this many image tokens: 1 (dense) if the kind's own would not pay there."""
    kind, density = how
    if density is not None:
        return density
    return DENSITIES[kind] if tokens >= MIN_TOKENS else 1.0


@dataclass(frozen=True, slots=True)
class SparseAttentionValue(Value):
    """A kind of sparse attention, pooled if left out, and a density."""

    metavar: str = "KIND[:DENSITY]"
    kind: Kind = "text"

    def read(self, value: object) -> SparseAttention:
        """Kind and density, None if it is left out."""
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        name, colon, part = (str(value) if is_number or isinstance(value, str) else "").partition(":")
        if not colon and not math.isnan(to_float(name.strip() or math.nan)):
            name, colon, part = "pooled", ":", name
        name = name.strip()
        if name in _FAILING:
            raise ValueError(f"{name} attention fails in models trained without it: {_FAILING[name]}; {_EXPECTED}")
        density = to_float(part.strip() or math.nan) if colon else None
        if name not in get_args(SparseKind) or not (density is None or 0.0 < density <= 1.0):
            raise ValueError(f"{shown(value)} is invalid; {_EXPECTED}")
        return cast(SparseKind, name), density

    def to_setting(self, value: SparseAttention) -> str:
        """KIND or KIND:DENSITY."""
        return value[0] if value[1] is None else f"{value[0]}:{plain_number(value[1])}"

    def to_arguments(self, value: SparseAttention) -> list[str]:
        """KIND or KIND:DENSITY."""
        return [self.to_setting(value)]


_EXPECTED = (
    f"expected {', '.join(get_args(SparseKind)[:-1])} or {get_args(SparseKind)[-1]}, and optionally the part of the "
    "blocks that is computed, above 0 and up to 1, such as pooled:0.25"
)
