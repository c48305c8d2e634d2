"""A weight as the product of two thin matrices and a rest that 4 bits can bear (SVDQuant, arXiv 2411.05007)."""

from collections.abc import Callable

import torch
from torch import Tensor

_ROUNDS = 4  # of splitting off what the last rounding lost (LoftQ, arXiv 2310.08659)
_ITERATIONS = 4  # of the power method, for singular values that fall slowly
_OVERSAMPLED = 8  # columns beyond the rank, which are then dropped (arXiv 0909.4061)
_SEED = 0


def split_low_rank(
    weight: Tensor, rank: int, rounded: Callable[[Tensor], Tensor], balance: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Factors down `(rank, k)` and up `(n, rank)` with which `rounded(weight - up down)` loses least, of a few tried.

    `balance` `(k)`, the usual magnitude of each column's input, makes errors count as they will be heard.
    """
    weight = weight.float()
    weighting = (
        torch.ones(weight.shape[1], device=weight.device) if balance is None else balance.float().clamp(min=1e-6)
    )
    best_error, best = torch.inf, (weight.new_zeros(rank, weight.shape[1]), weight.new_zeros(weight.shape[0], rank))
    rest = torch.zeros_like(weight)
    for _ in range(_ROUNDS):
        down, up = _leading(weight - rest, rank, weighting)
        rest = rounded(weight - up @ down)
        error = float(((weight - up @ down - rest) * weighting).norm())
        if error < best_error:
            best_error, best = error, (down, up)
    return best


def _leading(matrix: Tensor, rank: int, weighting: Tensor) -> tuple[Tensor, Tensor]:
    """The best approximation of a rank, where the error's columns are weighted."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(_SEED)  # the same file for the same model
        u, s, v = torch.svd_lowrank(matrix * weighting, q=min(rank + _OVERSAMPLED, *matrix.shape), niter=_ITERATIONS)
    down, up = (v[:, :rank] / weighting[:, None]).T, u[:, :rank] * s[:rank]
    evened = (_largest(up, 0) / _largest(down, 1)).sqrt()  # so that 16 bits hold both
    down, up = down * evened[:, None], up / evened
    missing = rank - down.shape[0]
    return torch.nn.functional.pad(down, (0, 0, 0, missing)), torch.nn.functional.pad(up, (0, missing))


def _largest(factor: Tensor, dim: int) -> Tensor:
    return factor.abs().amax(dim=dim).clamp(min=torch.finfo(torch.float32).tiny)
