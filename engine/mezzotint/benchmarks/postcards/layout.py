"""Whether an image follows the layout of a drawing whose edges it was given."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from mezzotint.benchmarks.postcards.painting import paint
from mezzotint.benchmarks.postcards.world import Scene
from mezzotint.images.control.canny import canny

OTHERS = 15  # further drawings of the same scene, each with a layout of its own
_TOLERANCE = 64  # an edge may be off by the image's width by this

Mask = NDArray[np.bool_]


def follows_layout(image: Image.Image, scene: Scene) -> bool:
    """Whether the image's edges agree better with those of the scene's drawing than with all others of that scene."""
    edges = _edges(image)
    seeds = [scene.seed ^ number for number in range(OTHERS + 1)]
    drawings = (paint(replace(scene, seed=seed), image.width) for seed in seeds)
    own, *others = (agreement(edges, _edges(drawing)) for drawing in drawings)
    return own > max(others)


def agreement(first: Mask, second: Mask) -> float:
    """The F measure of edges (h, w) that have one of the other's nearby: 0 to 1."""
    near = first.shape[1] // _TOLERANCE
    found = (first & _grown(second, near)).sum() / max(1, first.sum())
    known = (second & _grown(first, near)).sum() / max(1, second.sum())
    return float(2 * found * known / max(found + known, 1e-9))


def _edges(image: Image.Image) -> Mask:
    return canny(np.asarray(image.convert("L"))) > 0


def _grown(mask: Mask, pixels: int) -> Mask:
    return np.asarray(Image.fromarray(mask).convert("L").filter(ImageFilter.MaxFilter(2 * pixels + 1))) > 0
