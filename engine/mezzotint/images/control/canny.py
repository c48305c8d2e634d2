"""Edges of an image (Canny, A Computational Approach to Edge Detection, 1986)."""

from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageFilter

Grey = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.floating[Any]]

SIGMA = 1.4  # pixels, of the blur
LOW, HIGH = 100, 200  # of the gradient's L1 norm by Sobel's operator, of pixels from 0 to 255
_TAN = np.tan(np.pi / 8)  # half of the angle between the four directions


def canny(grey: Grey, *, sigma: float = SIGMA, low: float = LOW, high: float = HIGH) -> Grey:
    """White edges `(h, w)` on black: ridges of the gradient above `high`, and what is above `low` along them."""
    blurred = np.asarray(Image.fromarray(grey).filter(ImageFilter.GaussianBlur(sigma))) if sigma else grey
    across, down = _sobel(blurred.astype(np.float32))
    strength = np.abs(across) + np.abs(down)
    ridges = np.where(_is_ridge(strength, across, down), strength, 0)
    return np.where(connected(ridges > low, ridges > high), 255, 0).astype(np.uint8)


def _sobel(values: Numbers) -> tuple[Numbers, Numbers]:
    """The derivatives across and down; beyond the image its edge pixels are repeated."""
    padded = np.pad(values, 1, mode="edge")
    rows = padded[:-2] + 2 * padded[1:-1] + padded[2:]
    columns = padded[:, :-2] + 2 * padded[:, 1:-1] + padded[:, 2:]
    return rows[:, 2:] - rows[:, :-2], columns[2:] - columns[:-2]


def _is_ridge(strength: Numbers, across: Numbers, down: Numbers) -> npt.NDArray[np.bool_]:
    """Where the gradient is strongest of three in its direction, one of four; of equal ones the first is."""
    padded = np.pad(strength, 1)
    height, width = strength.shape

    def neighbour(rows: int, columns: int) -> Numbers:
        return padded[1 + rows : 1 + rows + height, 1 + columns : 1 + columns + width]

    flat, steep = np.abs(down) <= _TAN * np.abs(across), np.abs(across) <= _TAN * np.abs(down)
    falling = across * down > 0  # in rows that count downwards
    choices = [(flat, 0, 1), (steep, 1, 0), (falling, 1, 1), (~falling, 1, -1)]
    before = np.select([where for where, *_ in choices], [neighbour(-rows, -columns) for _, rows, columns in choices])
    after = np.select([where for where, *_ in choices], [neighbour(rows, columns) for _, rows, columns in choices])
    return (strength > before) & (strength >= after)


def connected(weak: npt.NDArray[np.bool_], strong: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """What is weak or strong and connected to something strong, diagonally, too."""
    height, width = weak.shape
    found = np.pad(strong, 1)
    candidates = np.pad(weak | strong, 1)
    waiting = list(np.flatnonzero(found))
    step = width + 2
    around = [rows * step + columns for rows in (-1, 0, 1) for columns in (-1, 0, 1) if (rows, columns) != (0, 0)]
    reached, possible = found.ravel(), candidates.ravel()
    while waiting:
        place = waiting.pop()
        for offset in around:
            if possible[place + offset] and not reached[place + offset]:
                reached[place + offset] = True
                waiting.append(place + offset)
    return reached.reshape(height + 2, width + 2)[1:-1, 1:-1]
