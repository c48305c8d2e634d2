"""Sizes to choose from, by what a model is best at, and sides that keep their ratio."""

import math
from dataclasses import dataclass

from mezzotint.protocol import ModelInfo

SMALLEST = 64  # pixels of a side
LARGEST_SIDE = 8192
LARGEST_AREA = 64 << 20  # pixels that the engine takes

_MULTIPLES = {"sdxl": 8, "pixart": 16}
_RATIOS = ((1, 1), (4, 3), (3, 2), (16, 9), (21, 9))
# SDXL was trained on these sizes of about a million pixels; the nearest by arithmetic are not all among them.
_SDXL_BUCKETS = {
    (1, 1): (1024, 1024),
    (4, 3): (1152, 896),
    (3, 2): (1216, 832),
    (16, 9): (1344, 768),
    (21, 9): (1536, 640),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SizePreset:
    """A named size."""

    name: str  # 16:9
    width: int
    height: int


def multiple_of(info: ModelInfo | None) -> int:
    """What both sides are multiples of."""
    return _MULTIPLES.get(info.family, 8) if info is not None else 8


def own_size(info: ModelInfo | None) -> tuple[int, int]:
    """What the model is best at."""
    if info is None or info.defaults is None:
        return 1024, 1024
    return info.defaults.width, info.defaults.height


def presets(info: ModelInfo | None) -> tuple[SizePreset, ...]:
    """Landscape sizes from square to wide, then the same upright, all of about the area of the model default."""
    wide = [(ratio, _size(ratio, info)) for ratio in _RATIOS]
    named = [SizePreset(name=f"{r[0]}:{r[1]}", width=w, height=h) for r, (w, h) in wide]
    upright = [SizePreset(name=f"{r[1]}:{r[0]}", width=h, height=w) for r, (w, h) in wide if r[0] != r[1]]
    return (*named, *upright)


def preset_of(info: ModelInfo | None, width: int, height: int) -> SizePreset | None:
    """The preset that a size is, if it is one."""
    return next((one for one in presets(info) if (one.width, one.height) == (width, height)), None)


def snapped(pixels: float, multiple: int) -> int:
    """The nearest side that can be made."""
    smallest = math.ceil(SMALLEST / multiple) * multiple
    largest = LARGEST_SIDE // multiple * multiple
    if not math.isfinite(pixels):
        return largest
    return min(max(round(pixels / multiple) * multiple, smallest), largest)


def other_side(side: int, ratio: float, multiple: int) -> int:
    """The side that goes with another; `ratio` is that of the other to this one."""
    return snapped(side * ratio, multiple)


def shape(width: int, height: int) -> str:
    """A ratio in small numbers where there is one, such as 3:2; else as a decimal number to one."""
    if width <= 0 or height <= 0:
        return ""
    divisor = math.gcd(width, height)
    small = width // divisor, height // divisor
    if max(small) <= 32:
        return f"{small[0]}:{small[1]}"
    return f"{width / height:.2f}:1"


def _size(ratio: tuple[int, int], info: ModelInfo | None) -> tuple[int, int]:
    own = own_size(info)
    multiple = multiple_of(info)
    if own == (1024, 1024) and (info is None or info.family == "sdxl"):
        return _SDXL_BUCKETS[ratio]
    if ratio == (1, 1) and own[0] == own[1]:
        return own
    area = own[0] * own[1]
    step = _step(math.sqrt(area), multiple)
    width = math.sqrt(area * ratio[0] / ratio[1])
    return snapped(width, step), snapped(area / width, step)


def _step(side: float, multiple: int) -> int:
    """A sixteenth of the side, as in the buckets that models are trained on."""
    return max(1, round(side / 16 / multiple)) * multiple
