"""How images look, in 56 bytes: a perceptual hash and coarse colours, by which similar ones are found. No network."""

import numpy as np
import numpy.typing as npt
from PIL import Image

_SIDE, _KEPT, _CELLS = 32, 8, 4  # of the grey image, of its lowest frequencies, of the colours
BYTES = _KEPT * _KEPT // 8 + _CELLS * _CELLS * 3
_COLOUR = 3.0  # weight of colours, whose differences are small shares of the whole range, against the hash

_angles = (2 * np.arange(_SIDE) + 1) * np.pi / (2 * _SIDE)
_COSINES = np.cos(np.arange(_KEPT)[:, None] * _angles)  # of the DCT-II, (8, 32)


def look_of(image: Image.Image) -> bytes:
    """Return the look of an RGB image.

    The hash has a bit for each of the 8 x 8 lowest frequencies of the discrete cosine transform: above the median or
    not (C. Zauner, Implementation and benchmarking of perceptual image hash functions, 2010).
    """
    grey = np.asarray(image.convert("L").resize((_SIDE, _SIDE), Image.Resampling.LANCZOS), np.float64)
    low = (_COSINES @ grey @ _COSINES.T).ravel()
    bits = np.packbits(low > np.median(low[1:]))  # the first is the mean brightness
    colours = np.asarray(image.convert("RGB").resize((_CELLS, _CELLS), Image.Resampling.BOX))
    return bits.tobytes() + colours.tobytes()


def distances(one: bytes, others: bytes) -> npt.NDArray[np.float64]:
    """Return the distance of a look from each of n concatenated others: 0 is the same, above 1 nothing in common."""
    rows = np.frombuffer(one + others, np.uint8).reshape(-1, BYTES)
    hashes, colours = rows[:, : _KEPT * _KEPT // 8], rows[:, _KEPT * _KEPT // 8 :].astype(np.int16)
    bits = np.bitwise_count(hashes[1:] ^ hashes[0]).sum(axis=1) / (_KEPT * _KEPT)
    found: npt.NDArray[np.float64] = (
        bits + _COLOUR * np.abs(colours[1:] - colours[0]).mean(axis=1, dtype=np.float64) / 255
    )
    return found
