"""Image sizes: what a model supports, and the nearest to a requested size."""

import math

from mezzotint.errors import UsageError

SMALLEST = 64  # pixels per side
LARGEST_AREA = 64 * 2**20  # pixels
_RATIO = 4.0  # of the sides of an input image that any model keeps


def nearest_multiple(pixels: float, multiple: int) -> int:
    """The multiple nearest to `pixels`, at least one."""
    return max(1, round(pixels / multiple)) * multiple


def check_size(width: int, height: int, multiple: int) -> None:
    """Raise UsageError, naming the nearest size that works, for a size that the model does not support."""
    if max(width, height) > LARGEST_AREA:
        raise UsageError(f"a side of {str(max(width, height))[:20]} pixels is too large")
    fitted = tuple(max(nearest_multiple(side, multiple), _smallest(multiple)) for side in (width, height))
    if min(width, height) < _smallest(multiple):
        raise UsageError(f"size {width}x{height} is too small; the nearest that works is {fitted[0]}x{fitted[1]}")
    if width * height > LARGEST_AREA:
        raise UsageError(f"size {width}x{height} is too large; at most {LARGEST_AREA // 2**20} megapixels are possible")
    if (width, height) != fitted:
        raise UsageError(
            f"size {width}x{height} is not supported: this model needs multiples of {multiple}; "
            f"the nearest is {fitted[0]}x{fitted[1]}"
        )


def _smallest(multiple: int) -> int:
    return math.ceil(SMALLEST / multiple) * multiple


def size_for_image(
    image: tuple[int, int], default: tuple[int, int], multiple: int, *, enlarges: bool = False
) -> tuple[int, int]:
    """The size to generate for an input image: its aspect ratio, at about the model's native area.

    A smaller image is upscaled only with `enlarges`. Of a thin image only the middle is generated: with its aspect
    ratio, a shorter side as small as possible would make the longer one arbitrarily long.
    """
    width, height = _within_ratio(image, max(_RATIO, default[0] * default[1] / _smallest(multiple) ** 2))
    scale = math.sqrt(default[0] * default[1] / (width * height))
    scale = scale if enlarges else min(1.0, scale)
    scale = max(scale, _smallest(multiple) / min(width, height))
    return nearest_multiple(width * scale, multiple), nearest_multiple(height * scale, multiple)


def _within_ratio(image: tuple[int, int], ratio: float) -> tuple[float, float]:
    """The size of the middle of an image whose sides differ by at most this ratio."""
    longest = min(image) * max(1.0, ratio)
    return min(float(image[0]), longest), min(float(image[1]), longest)
