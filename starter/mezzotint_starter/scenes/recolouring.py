"""Pictures in another colour: what has the prevailing hue takes the new colour, and keeps its light and shade."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mezzotint.benchmarks.postcards.palette import PAINT

COLOURS = tuple(PAINT)
_HUES = 36  # bins in which the prevailing hue is looked for
_REACH = 0.12  # turns of hue on both sides that count as the same
_LEAST_SATURATION = 0.28

Values = NDArray[np.float32]


def recoloured(image: Image.Image, colour: str) -> Image.Image:
    """Return an RGBA image in one of COLOURS."""
    pixels = np.asarray(image, dtype=np.float32) / np.float32(255)
    share = _of_prevailing_hue(pixels)[..., None]
    painted = _shaded(pixels[..., :3], np.asarray(PAINT[colour], dtype=np.float32) / np.float32(255), share[..., 0])
    pixels = np.concatenate([pixels[..., :3] + share * (painted - pixels[..., :3]), pixels[..., 3:]], axis=-1)
    return Image.fromarray((pixels * 255).round().clip(0, 255).astype(np.uint8))


def _of_prevailing_hue(pixels: Values) -> Values:
    """Return how far each pixel (h, w) has the picture's prevailing hue: 0 to 1."""
    hue, saturation = _hue_and_saturation(pixels[..., :3])
    weight = pixels[..., 3] * saturation * (saturation > _LEAST_SATURATION)
    votes = np.bincount((hue * _HUES).astype(np.int64).ravel() % _HUES, weight.ravel(), _HUES)
    smooth = votes + np.roll(votes, 1) + np.roll(votes, -1)
    distance = np.abs(hue - (int(smooth.argmax()) + 0.5) / _HUES)
    distance = np.minimum(distance, 1 - distance)
    near = np.clip((_REACH - distance) / 0.03, 0, 1)
    return np.asarray(near * np.clip((saturation - 0.16) / 0.14, 0, 1), dtype=np.float32)


def _hue_and_saturation(colours: Values) -> tuple[Values, Values]:
    high, low = colours.max(axis=-1), colours.min(axis=-1)
    spread = np.maximum(high - low, 1e-6)
    red, green, blue = (colours[..., channel] for channel in range(3))
    turn = np.where(
        high == red,
        (green - blue) / spread % 6,
        np.where(high == green, (blue - red) / spread + 2, (red - green) / spread + 4),
    )
    return np.asarray(turn / 6, dtype=np.float32), np.asarray((high - low) / np.maximum(high, 1e-6), dtype=np.float32)


def _shaded(colours: Values, target: Values, share: Values) -> Values:
    light = colours @ np.asarray((0.3, 0.55, 0.15), dtype=np.float32)
    middle = float((light * share).sum() / max(float(share.sum()), 1e-6))
    ratio = light / max(middle, 1e-3)
    darker = target * np.minimum(ratio, 1)[..., None]
    lighter = np.clip((ratio - 1) * 0.6, 0, 1)[..., None]
    return np.asarray(darker + lighter * (1 - darker), dtype=np.float32)
