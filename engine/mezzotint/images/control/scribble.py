"""Thick, simplified lines, as someone would scribble them: of a drawing its own, of a photo its contours."""

import numpy as np
import numpy.typing as npt

from mezzotint.images.control.canny import connected
from mezzotint.images.control.contours import Numbers, blurred

_TONE = 40  # of 255: how far from black, from white and from grey a drawing's pixels are
_SHARE = 0.97  # of its pixels
_WEAK, _STRONG = 0.35, 0.8  # strength of contours
_SMOOTHING, _THICK = 2.5, 0.35  # pixels of about 512 x 512, and what is left of a line's middle


def strokes_of(image: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8] | None:
    """White strokes `(h, w)` on black of a drawing `(h, w, 3)` of dark or light ones; None of anything else."""
    darkest, lightest = image.min(-1), image.max(-1)
    ink, paper = lightest < _TONE, darkest > 255 - _TONE
    two_toned = float((ink | paper).mean()) >= _SHARE and float((lightest - darkest < _TONE).mean()) >= _SHARE
    if not two_toned:
        return None
    strokes: npt.NDArray[np.uint8] = lightest if ink.mean() > paper.mean() else 255 - darkest
    return strokes


def scribbled(contours: Numbers) -> npt.NDArray[np.bool_]:
    """Where thick lines are `(h, w)`, along clear contours; bits of a few pixels are left out."""
    lines = connected(contours > _WEAK, contours > _STRONG)
    return blurred(lines.astype(np.float32), _SMOOTHING) > _THICK
