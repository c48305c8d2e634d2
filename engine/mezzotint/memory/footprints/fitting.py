"""Laws from points: least squares of relative errors, over the terms that explain them without being negative."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from mezzotint.memory.footprints.footprint import Law

TOLERANCE = 0.02  # by which a law may miss what it was made of
_TERMS = (
    "constant",
    "per_item",
    "per_position",
    "per_position_squared",
    "once_per_position",
    "once_per_position_squared",
)
_SIMPLER = 1e-4  # a worst error that a simpler law may have in addition


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Bytes measured for one size."""

    positions: int
    batch: int
    value: float


def fit(points: Sequence[Point], *, squared: bool = True) -> Law:
    """The law with the fewest terms that comes through the points about as well as any.

    Without `squared` it has no terms that grow with the square of positions: sizes far beyond the points are told well.

    Where even the best misses one by more than the tolerance, it is raised until it says too little of none.
    """
    if not any(point.value for point in points):
        return Law()
    laws = sorted(((worst_error(law, points), law) for law in _candidates(points, squared)), key=lambda pair: pair[0])
    best = laws[0][0]
    error, law = min((pair for pair in laws if pair[0] <= best + _SIMPLER), key=lambda pair: (_size(pair[1]), pair[0]))
    return law if error <= TOLERANCE else _raised(law, points)


def worst_error(law: Law, points: Sequence[Point]) -> float:
    """The largest relative difference to a point."""
    return max(abs(law.at(point.positions, point.batch) / point.value - 1) for point in points if point.value)


def _candidates(points: Sequence[Point], squared: bool) -> Iterator[Law]:
    known = [point for point in points if point.value]
    rows = np.array([[1.0, p.batch, *_powers(p, p.batch), *_powers(p, 1)] for p in known])
    rows /= np.array([[p.value] for p in known])
    terms = [index for index, term in enumerate(_TERMS) if squared or not term.endswith("squared")]
    for count in range(1, len(terms) + 1):
        for chosen in combinations(terms, count):
            factors = _solve(rows[:, list(chosen)])
            if (factors >= 0).all():
                yield Law(**dict(zip((_TERMS[index] for index in chosen), map(float, factors), strict=True)))


def _powers(point: Point, times: int) -> tuple[float, float]:
    return float(times * point.positions), float(times * point.positions**2)


def _solve(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Least squares to ones, columns brought to one size first: positions squared are large numbers."""
    scale = np.abs(rows).max(axis=0)
    factors: NDArray[np.float64] = np.linalg.lstsq(rows / scale, np.ones(len(rows)), rcond=None)[0] / scale
    return factors


def _size(law: Law) -> int:
    return sum(getattr(law, term) > 0 for term in _TERMS)


def _raised(law: Law, points: Sequence[Point]) -> Law:
    by = max(point.value / law.at(point.positions, point.batch) for point in points if point.value)
    return Law(**{term: getattr(law, term) * max(by, 1.0) for term in _TERMS})
