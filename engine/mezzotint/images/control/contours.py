"""Soft contours of an image, as the detectors trained on people's drawings find them: without texture.

The gradient of all colours at once (Di Zenzo, A note on the gradient of a multi-image, 1986) at several scales, from
each of which what surrounds it is subtracted, so that texture cancels out (Grigorescu, Petkov and Westenberg, Contour
detection based on nonclassical receptive field inhibition, 2003).
"""

from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.floating[Any]]

_SCALES = (1.0, 2.0, 4.0)  # pixels: deviations of the blurs, for images of about 512 x 512 pixels
_SURROUND = 4.0  # times a scale: deviation of the wider of both Gaussians, whose difference is the surround
_INHIBITION = 2.0  # how much of the surround is subtracted
_STRONG = 0.9  # quantile of the contours that are shown at full strength, among those that are clear
_CLEAR = 0.02  # strength from which on a contour is one, of a step from black to white


def contours(image: npt.NDArray[np.uint8]) -> Numbers:
    """Strength of the contours `(h, w)`, 0 to 1, of an image `(h, w, 3)`."""
    colours = image.astype(np.float32) / 255
    found = np.mean([_at_scale(colours, scale) for scale in _SCALES], axis=0)
    clear = found[found > _CLEAR]
    if not clear.size:
        return np.zeros_like(found)
    shown: Numbers = np.clip(found / np.quantile(clear, _STRONG), 0, 1)
    return shown


def blurred(values: Numbers, sigma: float) -> Numbers:
    """Values `(h, w, ...)` blurred by a Gaussian; beyond the edges they are repeated."""
    radius = max(1, round(3 * sigma))
    weights = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    weights /= weights.sum()
    return _along(_along(values, weights, 0), weights, 1)


def _along(values: Numbers, weights: Numbers, axis: int) -> Numbers:
    radius, length = len(weights) // 2, values.shape[axis]
    width = [(radius, radius) if each == axis else (0, 0) for each in range(values.ndim)]
    padded = np.moveaxis(np.pad(values, width, mode="edge"), axis, 0)
    total = np.zeros((length, *padded.shape[1:]), np.float32)
    for place, weight in enumerate(weights):
        total += np.float32(weight) * padded[place : place + length]
    return np.moveaxis(total, 0, axis)


def _at_scale(colours: Numbers, sigma: float) -> Numbers:
    """The gradient's strength at a scale, as high at a step for each, without its surround."""
    smooth = blurred(colours, sigma)
    strength = _gradient(smooth) * (sigma * np.sqrt(2 * np.pi))
    inner, outer = blurred(strength, sigma), blurred(strength, sigma * _SURROUND)
    surround = np.maximum(outer - inner, 0)
    around = blurred(surround, sigma)
    found: Numbers = np.maximum(strength - _INHIBITION * around, 0)
    return found


def _gradient(colours: Numbers) -> Numbers:
    """The largest rate of change `(h, w)` in any direction, of all colours together."""
    down, across = np.gradient(colours, axis=(0, 1))
    xx, yy, xy = (across**2).sum(-1), (down**2).sum(-1), (across * down).sum(-1)
    largest: Numbers = np.sqrt((xx + yy + np.sqrt((xx - yy) ** 2 + 4 * xy**2)) / 2 / colours.shape[-1])
    return largest
