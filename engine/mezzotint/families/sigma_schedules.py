"""Schedules by name: the sigmas of n steps, from the noise levels that a model was trained on, as in ComfyUI.

Formulas: karras: arXiv 2206.00364, equation 5, rho 7. exponential: k-diffusion. beta: arXiv 2407.12173, with alpha and
beta 0.6. kl_optimal: arXiv 2404.14507, equation 23. The others: equally spaced timesteps.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Sigmas = NDArray[np.float64]

_RHO = 7.0
_ALPHA = 0.6  # both parameters of the beta distribution
_TERMS = 64  # of its power series, each at most half of the one before
_HALVINGS = 60  # of the interval that contains a quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedLevels:
    """A model's noise levels: all sigmas `(T,)`, ascending, and the sigma at any timestep from `first` to `last`."""

    table: Sigmas
    first: float
    last: float
    at: Callable[[Sigmas], Sigmas]


def table_levels(sigmas: Sigmas) -> TrainedLevels:
    """The levels of a model with a table of betas: log sigma is linear between timesteps, as in k-diffusion."""
    logs, steps = np.log(sigmas), np.arange(len(sigmas))
    return TrainedLevels(
        table=sigmas, first=0.0, last=len(sigmas) - 1.0, at=lambda timesteps: np.exp(np.interp(timesteps, steps, logs))
    )


def flow_levels(shift: float, count: int) -> TrainedLevels:
    """The levels of a flow model: k t / (1 + (k - 1) t) for a shift k and t from 1 / count to 1 (arXiv 2403.03206)."""

    def at(times: Sigmas) -> Sigmas:
        return shift * times / (1 + (shift - 1) * times)

    table = at(np.arange(1, count + 1) / count)
    # Timesteps range over the shifted levels, and are shifted once more: what ComfyUI does, and diffusers.
    return TrainedLevels(table=table, first=float(table[0]), last=float(table[-1]), at=at)


def named_sigmas(schedule: str, levels: TrainedLevels, steps: int) -> Sigmas:
    """Sigmas `(steps,)` at which the steps of a schedule begin, descending; ValueError if some would coincide."""
    sigmas: Sigmas = _FORMULAS[schedule](levels, steps)
    if not bool(np.all(np.diff(sigmas) < 0)):
        raise ValueError("its levels would coincide")
    return sigmas


def _normal(levels: TrainedLevels, steps: int) -> Sigmas:
    return levels.at(np.linspace(levels.last, levels.first, steps))


def _sgm_uniform(levels: TrainedLevels, steps: int) -> Sigmas:
    return levels.at(np.linspace(levels.last, levels.first, steps + 1)[:-1])


def _simple(levels: TrainedLevels, steps: int) -> Sigmas:
    count = len(levels.table)
    return levels.table[[count - 1 - i * count // steps for i in range(steps)]]


def _karras(levels: TrainedLevels, steps: int) -> Sigmas:
    low, high = levels.table[0] ** (1 / _RHO), levels.table[-1] ** (1 / _RHO)
    return np.asarray(np.linspace(high, low, steps) ** _RHO)


def _exponential(levels: TrainedLevels, steps: int) -> Sigmas:
    return np.exp(np.linspace(np.log(levels.table[-1]), np.log(levels.table[0]), steps))


def _kl_optimal(levels: TrainedLevels, steps: int) -> Sigmas:
    return np.tan(np.linspace(np.arctan(levels.table[-1]), np.arctan(levels.table[0]), steps))


def _beta(levels: TrainedLevels, steps: int) -> Sigmas:
    """Levels at quantiles; rounded to trained timesteps like ComfyUI's, which drops those that coincide."""
    places = beta_quantiles(1 - np.arange(steps) / steps) * (len(levels.table) - 1)
    rounded = np.rint(places).astype(int)
    if len(set(rounded.tolist())) == steps:
        return np.asarray(levels.table[rounded])
    return np.exp(np.interp(places, np.arange(len(levels.table)), np.log(levels.table)))


def beta_quantiles(shares: Sigmas) -> Sigmas:
    """Quantiles of the beta distribution with both parameters 0.6, by bisection; each below 0.5 or mirrored."""
    mirrored = shares > 0.5  # the distribution is symmetrical
    wanted = np.where(mirrored, 1 - shares, shares)
    low, high = np.zeros_like(wanted), np.full_like(wanted, 0.5)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = _beta_share(middle) < wanted
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(np.where(mirrored, 1 - low, low))


def _beta_share(places: Sigmas) -> Sigmas:
    """The regularized incomplete beta function up to 0.5, by its power series (DLMF 8.17.7 and 15.2.1)."""
    return _beta_integral(places) / (2 * _beta_integral(np.array(0.5)))


def _beta_integral(places: Sigmas) -> Sigmas:
    total, factor = np.zeros_like(places), np.ones_like(places)
    for k in range(_TERMS):
        total = total + factor / (_ALPHA + k)
        factor = factor * places * (1 - _ALPHA + k) / (1 + k)
    return np.asarray(places**_ALPHA * total)


_FORMULAS: Mapping[str, Callable[[TrainedLevels, int], Any]] = {
    "normal": _normal,
    "karras": _karras,
    "exponential": _exponential,
    "sgm_uniform": _sgm_uniform,
    "simple": _simple,
    "beta": _beta,
    "kl_optimal": _kl_optimal,
}
