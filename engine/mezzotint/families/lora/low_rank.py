"""Low-rank approximations: of a LoRA by one of a smaller rank, and of a difference of weights by a LoRA."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from mezzotint.families.lora.factors import LoraFactors

_WHOLE = 64  # rows or columns up to which a matrix is decomposed completely
_MORE = 16  # directions beyond twice the rank, and
_ROUNDS = 4  # power iterations of the randomized decomposition
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Approximation:
    """Factors, whose alpha is their rank, and the energy (sum of squares) of the update and of what is kept of it."""

    factors: LoraFactors
    energy: float
    kept: float


def truncated(factors: LoraFactors, *, rank: int | None = None, keep: float = 1.0) -> Approximation:
    """The best approximation of at most that rank; without a rank, of the lowest with that share of the energy.

    The singular values of up down are those of an `(r, r)` matrix, by QR decompositions of both factors, so that the
    `(n, k)` product is never built. Computed in float64.
    """
    up, down = factors.up.double().flatten(1), factors.down.double().flatten(1)
    left, left_rest = torch.linalg.qr(up)
    right, right_rest = torch.linalg.qr(down.T)
    core = (left_rest @ right_rest.T) * factors.scale
    u, values, v = torch.linalg.svd(core, full_matrices=False)
    count = _count(values, rank, keep)
    found = _balanced(left @ u[:, :count], values[:count], v[:count] @ right.T)
    energy, kept = float(values.square().sum()), float(values[:count].square().sum())
    return Approximation(factors=_shaped(found, factors.down.shape, factors.up.shape), energy=energy, kept=kept)


def approximated(update: Tensor, rank: int) -> Approximation:
    """The LoRA of a rank for an update `(n, k)` or `(n, c, kh, kw)`.

    Large updates are decomposed in random directions, refined by power iterations (arXiv 0909.4061, algorithms 4.4 and
    5.1): the same for the same update, and exact if its rank is not above that asked for.
    """
    flat = update.float().flatten(1)
    rank = min(rank, *flat.shape)
    basis = None if min(flat.shape) <= max(_WHOLE, 2 * rank + _MORE) else _range(flat, 2 * rank + _MORE)
    u, values, v = torch.linalg.svd(flat if basis is None else basis.T @ flat, full_matrices=False)
    left = u[:, :rank] if basis is None else basis @ u[:, :rank]
    found = _balanced(left, values[:rank], v[:rank])
    window = (1,) * (update.ndim - 2)
    shaped = _shaped(found, (rank, *update.shape[1:]), (update.shape[0], rank, *window))
    energy, kept = (float(each.square().sum(dtype=torch.float64)) for each in (flat, values[:rank]))
    return Approximation(factors=shaped, energy=energy, kept=min(kept, energy))


def concatenated(parts: list[tuple[LoraFactors, float]]) -> LoraFactors:
    """The weighted sum of LoRAs of one layer, with their ranks stacked: exactly what they add together.

    The scale is the largest of all, so that nothing is rounded where all have the same.
    """
    used = [(each, each.scale * weight) for each, weight in parts if each.scale * weight]
    if not used:
        first = parts[0][0]
        return LoraFactors(down=first.down, up=torch.zeros_like(first.up), alpha=float(first.rank))
    shape, scale = used[0][0], max((own for _, own in used), key=abs)
    downs = [each.down.reshape(each.rank, *shape.down.shape[1:]) for each, _ in used]
    ups = [
        (each.up if own == scale else each.up.float() * (own / scale)).reshape(-1, each.rank, *shape.up.shape[2:])
        for each, own in used
    ]
    down = torch.cat(downs)
    return LoraFactors(down=down, up=torch.cat(ups, dim=1), alpha=scale * len(down))


def _range(flat: Tensor, directions: int) -> Tensor:
    """An orthonormal basis `(n, q)` of about the largest directions that `flat` `(n, k)` maps to."""
    generator = torch.Generator(device="cpu").manual_seed(0)
    random = torch.randn(flat.shape[1], directions, generator=generator).to(flat.device)
    basis: Tensor = torch.linalg.qr(flat @ random)[0]
    for _ in range(_ROUNDS):
        back = torch.linalg.qr(flat.T @ basis)[0]
        basis = torch.linalg.qr(flat @ back)[0]
    return basis


def _count(values: Tensor, rank: int | None, keep: float) -> int:
    """Number of singular values to keep, at least one."""
    if rank is not None:
        return min(rank, len(values))
    sums = values.square().cumsum(0)
    wanted = float(sums[-1]) * keep * (1 - _ROUNDING)
    return min(len(values), int((sums < wanted).sum()) + 1)


def _balanced(left: Tensor, values: Tensor, right: Tensor) -> LoraFactors:
    """Factors of equal norm: a square root of each singular value in both."""
    roots = values.sqrt()
    return LoraFactors(down=(roots[:, None] * right).float(), up=(left * roots).float(), alpha=float(len(values)))


def _shaped(factors: LoraFactors, down: tuple[int, ...], up: tuple[int, ...]) -> LoraFactors:
    """The factors with the axes of others."""
    rank = factors.rank
    return LoraFactors(
        down=factors.down.reshape(rank, *down[1:]).contiguous(),
        up=factors.up.reshape(up[0], rank, *up[2:]).contiguous(),
        alpha=factors.alpha,
    )


def share(kept: float, energy: float) -> float:
    """The share of the energy that is kept; nothing of nothing is all."""
    return kept / energy if energy and math.isfinite(energy) else 1.0
