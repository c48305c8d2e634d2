"""Fidelity of images at lower precision to exact ones with the same prompts and seeds."""

from dataclasses import dataclass

import numpy as np
import torch
from PIL import Image

from mezzotint.benchmarks.postcards.captions import VALUES, all_attributes
from mezzotint.benchmarks.postcards.judge import Judge, pixels_of
from mezzotint.benchmarks.postcards.measures import NORMAL_95, Array
from mezzotint.benchmarks.postcards.scoring import EvalCase

_SAME = 99.0  # decibels, reported for identical images


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """Paired difference of accuracies between two precisions, with its 95 % interval; below 0 is worse."""

    difference: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fidelity:
    """Result of comparing two sets of images."""

    psnr: float  # decibels, mean over images
    worst_psnr: float
    features: float  # mean relative distance in the judge's features
    accuracy: Paired  # over all attributes
    attributes: dict[str, Paired]
    images: int


class Comparison:
    """Accumulates comparisons of pairs of images."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._psnr: list[float] = []
        self._features: list[float] = []
        self._gains: list[list[int]] = []  # per image and attribute: 1 better, 0 equal, -1 worse

    @property
    def pairs(self) -> int:
        """Number of pairs so far."""
        return len(self._gains)

    @torch.no_grad()
    def add(self, case: EvalCase, exact: Image.Image, made: Image.Image) -> None:
        """Compare an image with the exact one."""
        self._psnr.append(psnr(exact, made))
        features = self._judge.features(pixels_of([exact, made]))
        length = float(features[0].norm())
        self._features.append(float((features[1] - features[0]).norm()) / length if length else 0.0)
        truth = all_attributes(case.scene).indices()
        verdicts = self._judge.verdicts(features)
        right = [(verdicts[name].argmax(dim=1) == truth[name]).int().tolist() for name in VALUES]
        self._gains.append([after - before for before, after in right])

    def result(self) -> Fidelity:
        """Return the result for the pairs so far, at least two."""
        gains = np.array(self._gains, dtype=float)
        return Fidelity(
            psnr=float(np.mean(self._psnr)),
            worst_psnr=min(self._psnr),
            features=float(np.mean(self._features)),
            accuracy=paired(gains.mean(axis=1)),
            attributes={name: paired(gains[:, index]) for index, name in enumerate(VALUES)},
            images=len(self._gains),
        )


def paired(gains: Array) -> Paired:
    """Mean gain per image with its 95 % confidence interval (normal approximation)."""
    mean = float(gains.mean())
    reach = NORMAL_95 * float(gains.std(ddof=1)) / len(gains) ** 0.5
    return Paired(difference=mean, low=mean - reach, high=mean + reach)


def psnr(first: Image.Image, second: Image.Image) -> float:
    """PSNR in decibels of two 8-bit images; 99 if they are identical."""
    one, other = (np.asarray(image.convert("RGB"), dtype=float) for image in (first, second))
    error = float(((one - other) ** 2).mean())
    return _SAME if error == 0 else min(_SAME, 10 * float(np.log10(255**2 / error)))
