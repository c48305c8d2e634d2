"""Split a weight into a low-rank product and a residual that survives 4 bits (SVDQuant, arXiv 2411.05007)."""

from collections.abc import Callable

import torch
from torch import Tensor

_ROUNDS = 4  # of fitting the branch to what the last rounding lost (LoftQ, arXiv 2310.08659)
_ITERATIONS = 4  # of the power method, for slowly decaying singular values
_OVERSAMPLED = 8  # oversampling columns beyond the rank, dropped afterwards (arXiv 0909.4061)
_SEED = 0


def split_low_rank(
    weight: Tensor, rank: int, rounded: Callable[[Tensor], Tensor], balance: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return down `(rank, k)` and up `(n, rank)` for which `rounded(weight - up down)` loses least, of a few rounds.

    `balance` `(k)`, the typical magnitude of each input column, weights errors by their effect on the output.
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
    """Best low-rank approximation under a column-weighted error."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(_SEED)  # so that the same model gives the same file
        u, s, v = torch.svd_lowrank(matrix * weighting, q=min(rank + _OVERSAMPLED, *matrix.shape), niter=_ITERATIONS)
    down, up = (v[:, :rank] / weighting[:, None]).T, u[:, :rank] * s[:rank]
    evened = (_largest(up, 0) / _largest(down, 1)).sqrt()  # balance the factors so that both fit float16
    down, up = down * evened[:, None], up / evened
    missing = rank - down.shape[0]
    return torch.nn.functional.pad(down, (0, 0, 0, missing)), torch.nn.functional.pad(up, (0, missing))


def _largest(factor: Tensor, dim: int) -> Tensor:
    return factor.abs().amax(dim=dim).clamp(min=torch.finfo(torch.float32).tiny)
