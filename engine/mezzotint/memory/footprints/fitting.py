"""Fit laws to points: least squares of relative errors, over subsets of terms with non-negative coefficients."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from mezzotint.memory.footprints.footprint import ScalingLaw

TOLERANCE = 0.02  # relative error of a fit that is accepted
_TERMS = (
    "constant",
    "per_item",
    "per_position",
    "per_position_squared",
    "once_per_position",
    "once_per_position_squared",
)
_SIMPLER = 1e-4  # additional worst error accepted for a law with fewer terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A value measured at one size."""

    positions: int
    batch: int
    value: float


def fit(points: Sequence[Point], *, squared: bool = True) -> ScalingLaw:
    """Return the law with the fewest terms that fits about as well as the best.

    Without `squared` it has no quadratic terms in positions, so it extrapolates well to much larger sizes.

    If even the best misses a point by more than the tolerance, it is scaled up until it underestimates none.
    """
    if not any(point.value for point in points):
        return ScalingLaw()
    laws = sorted(((worst_error(law, points), law) for law in _candidates(points, squared)), key=lambda pair: pair[0])
    best = laws[0][0]
    error, law = min((pair for pair in laws if pair[0] <= best + _SIMPLER), key=lambda pair: (_size(pair[1]), pair[0]))
    return law if error <= TOLERANCE else _raised(law, points)


def worst_error(law: ScalingLaw, points: Sequence[Point]) -> float:
    """Largest relative error at any point."""
    return max(abs(law.at(point.positions, point.batch) / point.value - 1) for point in points if point.value)


def _candidates(points: Sequence[Point], squared: bool) -> Iterator[ScalingLaw]:
    known = [point for point in points if point.value]
    rows = np.array([[1.0, p.batch, *_powers(p, p.batch), *_powers(p, 1)] for p in known])
    rows /= np.array([[p.value] for p in known])
    terms = [index for index, term in enumerate(_TERMS) if squared or not term.endswith("squared")]
    for count in range(1, len(terms) + 1):
        for chosen in combinations(terms, count):
            factors = _solve(rows[:, list(chosen)])
            if (factors >= 0).all():
                yield ScalingLaw(**dict(zip((_TERMS[index] for index in chosen), map(float, factors), strict=True)))


def _powers(point: Point, times: int) -> tuple[float, float]:
    return float(times * point.positions), float(times * point.positions**2)


def _solve(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Least squares to ones, with columns normalized first, because squared positions are large."""
    scale = np.abs(rows).max(axis=0)
    factors: NDArray[np.float64] = np.linalg.lstsq(rows / scale, np.ones(len(rows)), rcond=None)[0] / scale
    return factors


def _size(law: ScalingLaw) -> int:
    return sum(getattr(law, term) > 0 for term in _TERMS)


def _raised(law: ScalingLaw, points: Sequence[Point]) -> ScalingLaw:
    by = max(point.value / law.at(point.positions, point.batch) for point in points if point.value)
    return ScalingLaw(**{term: getattr(law, term) * max(by, 1.0) for term in _TERMS})
