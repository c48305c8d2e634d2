"""Image metrics: confidence intervals of proportions, Frechet distance, sharpness of detail."""

import math

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Array = NDArray[np.float64]

NORMAL_95 = 1.959963984540054  # the two-sided 95 % point of the unit normal


def wilson_interval(right: int, asked: int, z: float = NORMAL_95) -> tuple[float, float]:
    """Wilson score interval of a proportion with `right` successes in `asked` trials.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927), 209-212.
    """
    share, weight = right / asked, z * z / asked
    middle = (share + weight / 2) / (1 + weight)
    half = z / (1 + weight) * math.sqrt(share * (1 - share) / asked + weight / (4 * asked))
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return (0.0 if right == 0 else low), (1.0 if right == asked else high)


def frechet_distance(first: Array, second: Array) -> float:
    """|m1 - m2|^2 + tr(C1 + C2 - 2 (C1^1/2 C2 C1^1/2)^1/2) for features (n, d) and (m, d), assumed to be normal.

    D. C. Dowson and B. V. Landau, "The Frechet distance between multivariate normal distributions", J. Multivariate
    Analysis 12 (1982), eq. 4; squared, as in the FID of Heusel et al. (arXiv 1706.08500, eq. 6).
    """
    apart = first.mean(axis=0) - second.mean(axis=0)
    one, other = covariance(first), covariance(second)
    root = symmetric_root(one)
    shared = symmetric_root(root @ other @ root)
    distance = apart @ apart + np.trace(one) + np.trace(other) - 2 * np.trace(shared)
    return max(0.0, float(distance))


def covariance(features: Array) -> Array:
    """The unbiased covariance (d, d) of features (n, d), n at least 2."""
    centred = features - features.mean(axis=0)
    spread: Array = centred.T @ centred / (len(features) - 1)
    return spread


def symmetric_root(matrix: Array) -> Array:
    """Symmetric square root (d, d) of a positive semidefinite matrix; clips negative eigenvalues from rounding."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    root: Array = (vectors * np.sqrt(values.clip(min=0))) @ vectors.T
    return root


def detail(image: Image.Image) -> float:
    """Mean absolute Laplacian of the luminance (BT.601, 0 to 255): four times a pixel minus its four neighbours."""
    luminance = np.asarray(image.convert("L"), dtype=np.float64)
    middle = luminance[1:-1, 1:-1]
    around = luminance[:-2, 1:-1] + luminance[2:, 1:-1] + luminance[1:-1, :-2] + luminance[1:-1, 2:]
    return float(np.abs(4 * middle - around).mean())
