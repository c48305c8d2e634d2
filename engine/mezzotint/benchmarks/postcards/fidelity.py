"""How near images come to those that they should be: the same prompts and seeds, another precision."""

from dataclasses import dataclass

import numpy as np
import torch
from PIL import Image

from mezzotint.benchmarks.postcards.captions import VALUES, full_told
from mezzotint.benchmarks.postcards.judge import Judge, pixels_of
from mezzotint.benchmarks.postcards.measures import NORMAL_95, Array
from mezzotint.benchmarks.postcards.scoring import Question

_SAME = 99.0  # decibels, said of images without a difference


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """A difference of accuracies, of the same images in two precisions, with its 95 % interval; below 0 is worse."""

    difference: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fidelity:
    """What is said of one set of images beside another."""

    psnr: float  # decibels, the mean over images
    worst_psnr: float
    features: float  # the distance in the judge's features, by the length of the exact image's; the mean
    accuracy: Paired  # of all attributes
    attributes: dict[str, Paired]
    images: int


class Comparison:
    """Pairs of images as they come in."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._psnr: list[float] = []
        self._features: list[float] = []
        self._gains: list[list[int]] = []  # of each image, by attribute: 1 better, 0 as before, -1 worse

    @torch.no_grad()
    def add(self, question: Question, exact: Image.Image, made: Image.Image) -> None:
        """Compare one image with the one that it should be."""
        self._psnr.append(psnr(exact, made))
        features = self._judge.features(pixels_of([exact, made]))
        length = float(features[0].norm())
        self._features.append(float((features[1] - features[0]).norm()) / length if length else 0.0)
        truth = full_told(question.scene).indices()
        verdicts = self._judge.verdicts(features)
        right = [(verdicts[name].argmax(dim=1) == truth[name]).int().tolist() for name in VALUES]
        self._gains.append([after - before for before, after in right])

    def result(self) -> Fidelity:
        """What is to be said of the pairs so far, of which there must be two or more."""
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
    """The mean of each image's gain, and where it would lie in 95 of 100 such sets (normal approximation)."""
    mean = float(gains.mean())
    reach = NORMAL_95 * float(gains.std(ddof=1)) / len(gains) ** 0.5
    return Paired(difference=mean, low=mean - reach, high=mean + reach)


def psnr(first: Image.Image, second: Image.Image) -> float:
    """Decibels between two images of 8 bits; 99 where they are the same."""
    one, other = (np.asarray(image.convert("RGB"), dtype=float) for image in (first, second))
    error = float(((one - other) ** 2).mean())
    return _SAME if error == 0 else min(_SAME, 10 * float(np.log10(255**2 / error)))
