"""Styles that a whole picture can have besides that of its things."""

import numpy as np
from PIL import Image, ImageFilter

_PAPER, _WASH = 252.0, 0.3


def ink(image: Image.Image) -> Image.Image:
    """Return an RGB image as a line drawing: dark lines along its edges over a light wash of its colours."""
    smooth = np.asarray(image.filter(ImageFilter.GaussianBlur(0.7)), dtype=np.float32)
    across = np.zeros(smooth.shape[:2], np.float32)
    across[:, 1:-1] = np.abs(smooth[:, 2:] - smooth[:, :-2]).max(axis=-1)
    down = np.zeros_like(across)
    down[1:-1] = np.abs(smooth[2:] - smooth[:-2]).max(axis=-1)
    line = np.clip((np.hypot(across, down) - 14) / 50, 0, 1)[..., None] * 0.86
    washed = _PAPER - (_PAPER - smooth) * _WASH
    return Image.fromarray((washed * (1 - line) + 30 * line).round().clip(0, 255).astype(np.uint8))
