"""Image size presets near the model's native size, and aspect ratio arithmetic."""

import math
from dataclasses import dataclass

from mezzotint.protocol import ModelInfo

SMALLEST = 64  # pixels per side
LARGEST_SIDE = 8192
LARGEST_AREA = 64 << 20  # pixels, the engine's limit

_MULTIPLES = {"sdxl": 8, "pixart": 16}
_RATIOS = ((1, 1), (4, 3), (3, 2), (16, 9), (21, 9))
# SDXL's training buckets of about one megapixel; they are not all the arithmetically nearest sizes.
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

    name: str  # such as 16:9
    width: int
    height: int


def multiple_of(info: ModelInfo | None) -> int:
    """Return the number that both sides must be multiples of."""
    return _MULTIPLES.get(info.family, 8) if info is not None else 8


def own_size(info: ModelInfo | None) -> tuple[int, int]:
    """Return the model's native size."""
    if info is None or info.defaults is None:
        return 1024, 1024
    return info.defaults.width, info.defaults.height


def presets(info: ModelInfo | None) -> tuple[SizePreset, ...]:
    """Return landscape sizes from square to wide, then the portrait ones, all near the model's native area."""
    wide = [(ratio, _size(ratio, info)) for ratio in _RATIOS]
    named = [SizePreset(name=f"{r[0]}:{r[1]}", width=w, height=h) for r, (w, h) in wide]
    upright = [SizePreset(name=f"{r[1]}:{r[0]}", width=h, height=w) for r, (w, h) in wide if r[0] != r[1]]
    return (*named, *upright)


def preset_of(info: ModelInfo | None, width: int, height: int) -> SizePreset | None:
    """Return the preset with this size, or None."""
    return next((one for one in presets(info) if (one.width, one.height) == (width, height)), None)


def snapped(pixels: float, multiple: int) -> int:
    """Return the nearest valid side length."""
    smallest = math.ceil(SMALLEST / multiple) * multiple
    largest = LARGEST_SIDE // multiple * multiple
    if not math.isfinite(pixels):
        return largest
    return min(max(round(pixels / multiple) * multiple, smallest), largest)


def other_side(side: int, ratio: float, multiple: int) -> int:
    """Return the side that matches `side`; `ratio` is the result's ratio to `side`."""
    return snapped(side * ratio, multiple)


def shape(width: int, height: int) -> str:
    """Return the aspect ratio in small integers if possible, such as 3:2, otherwise as a decimal to one."""
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
    """Return a sixteenth of the side, as in training buckets, rounded to `multiple`."""
    return max(1, round(side / 16 / multiple)) * multiple
