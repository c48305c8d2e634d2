"""Values of the options that trade fidelity for speed. Standard library only."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast, get_args

from mezzotint.values.basic import Kind, Value, plain_number, shown, to_float

TokenMethod = Literal["todo", "merge"]
TokenReduction: TypeAlias = tuple[TokenMethod, float]  # the part of the tokens that is removed, 0 to MAX_TOKEN_RATIO
DeepShrink: TypeAlias = tuple[float, float]  # factor by which features shrink, and until which part of the schedule
SparseKind = Literal["pooled", "window", "topk", "tiles"]
# The density is the part of the image's keys that each query sees; None is the kind's own.
SparseAttention: TypeAlias = tuple[SparseKind, float | None]

DENSITIES: dict[SparseKind, float] = {"pooled": 0.25, "window": 0.25, "topk": 0.5, "tiles": 0.25}
SMALLEST_TILE = 8  # tokens along a side, of the kind `tiles`
MIN_TOKENS = 10_000  # image tokens of a layer from which sparse attention pays; ComfyUI begins at 12,288
# Why not, of those that fail in FLUX.1 without training (arXiv 2412.16112, table 1).
_FAILING = {
    "linear": "the weights were trained with the softmax that it leaves out",
    "linformer": "it needs projections of keys and values that are trained with the model",
    "bigbird": "its random blocks leave out what the weights look for",
    "routing": "it needs clusters that are trained with the model",
    "swin": "its small windows do not overlap, so images show their edges",
}

TOKEN_RATIOS: dict[TokenMethod, float] = {"todo": 0.75, "merge": 0.5}  # as published: every second row and column; half
MAX_TOKEN_RATIO = 0.95
AUTO_CACHE = -1.0  # a step cache's threshold as it suits the kind of network:
CACHE_THRESHOLDS = {"unet": 0.2, "transformer": 0.1}
MAX_SHRINK = 4.0
SHRINK_UNTIL = 0.35


@dataclass(frozen=True, slots=True)
class CacheThreshold(Value):
    """The threshold of a step cache; AUTO_CACHE for auto, 0 for off."""

    metavar: str = "auto|off|THRESHOLD"
    kind: Kind = "text"

    def read(self, value: object) -> float:
        """A number from 0 to 1, or a word."""
        word = _CACHE_WORDS.get(value, value) if isinstance(value, str) else value
        is_number = isinstance(word, str | int | float) and not isinstance(word, bool)
        threshold = to_float(word) if is_number and isinstance(word, str | int | float) else math.nan
        if not (0.0 <= threshold <= 1.0 or threshold == AUTO_CACHE):
            raise ValueError(
                f"{shown(value)} is invalid; expected auto, off, or a number from 0 to 1, such as 0.1: blocks are "
                "skipped below this change"
            )
        return threshold

    def to_setting(self, value: float) -> object:
        """The word, or the number."""
        return next((word for word, number in _CACHE_WORDS.items() if number == value), value)

    def to_arguments(self, value: float) -> list[str]:
        """The word, or the number."""
        return [str(self.to_setting(value))]


_CACHE_WORDS = {"auto": AUTO_CACHE, "off": 0.0}


@dataclass(frozen=True, slots=True)
class TokenReductionValue(Value):
    """A method of token reduction and the part of the tokens that it removes."""

    metavar: str = "todo|merge[:RATIO]"
    kind: Kind = "text"

    def read(self, value: object) -> TokenReduction:
        """Method and ratio, by default as published."""
        name, colon, ratio = value.partition(":") if isinstance(value, str) else ("", "", "")
        part = to_float(ratio.strip() or math.nan) if colon else TOKEN_RATIOS.get(cast(TokenMethod, name.strip()))
        if name.strip() not in get_args(TokenMethod) or part is None or not 0.0 <= part <= MAX_TOKEN_RATIO:
            raise ValueError(
                f"{shown(value)} is invalid; expected todo or merge, and optionally the part of the tokens to remove, "
                f"0 to {MAX_TOKEN_RATIO}, such as todo:0.75"
            )
        return cast(TokenMethod, name.strip()), part

    def to_setting(self, value: TokenReduction) -> str:
        """METHOD:RATIO."""
        return f"{value[0]}:{plain_number(value[1])}"

    def to_arguments(self, value: TokenReduction) -> list[str]:
        """METHOD:RATIO."""
        return [self.to_setting(value)]


@dataclass(frozen=True, slots=True)
class DeepShrinkValue(Value):
    """A factor, and the part of the schedule until which features are shrunk."""

    metavar: str = "FACTOR[:UNTIL]"
    kind: Kind = "text"

    def read(self, value: object) -> DeepShrink:
        """Factor and part of the schedule."""
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        text = str(value) if is_number or isinstance(value, str) else ""
        first, colon, last = text.partition(":")
        factor = to_float(first.strip() or math.nan)
        until = to_float(last.strip() or math.nan) if colon else SHRINK_UNTIL
        if not (1.0 <= factor <= MAX_SHRINK and 0.0 <= until <= 1.0):
            raise ValueError(
                f"{shown(value)} is invalid; expected a factor from 1 to {MAX_SHRINK:g}, and optionally the part of "
                f"the schedule until which it applies, 0 to 1, such as 2:{SHRINK_UNTIL}"
            )
        return factor, until

    def to_setting(self, value: DeepShrink) -> str:
        """FACTOR:UNTIL."""
        return ":".join(map(plain_number, value))

    def to_arguments(self, value: DeepShrink) -> list[str]:
        """FACTOR:UNTIL."""
        return [self.to_setting(value)]


def density_at(how: SparseAttention, tokens: float) -> float:
    """The density in a layer of this many image tokens: 1 (dense) if the kind's own would not pay there."""
    kind, density = how
    if density is not None:
        return density
    return DENSITIES[kind] if tokens >= MIN_TOKENS else 1.0


def tile_counts(density: float, height: float, width: float) -> tuple[int, int]:
    """Rows and columns of nearly square tiles, of which each has at least this part of the tokens."""
    most = int(1 / density + 1e-9)
    rows = min(most, round(math.sqrt(most * height / width)), int(height / SMALLEST_TILE))
    rows = max(1, rows)
    return rows, max(1, min(most // rows, int(width / SMALLEST_TILE)))


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
    "keys that each query sees, above 0 and up to 1, such as pooled:0.25"
)
