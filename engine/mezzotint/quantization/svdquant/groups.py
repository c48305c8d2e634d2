"""Integers of 4 bits with a scale for each group of 64 columns, and the smoothing that makes them lose less."""

from collections.abc import Callable

import torch
from torch import Tensor

from mezzotint.quantization.int4 import GROUP, INPUT_SHARES, LARGEST_CODE, SMALLEST_CODE, WEIGHT_SHARES

_SMALLEST_SCALE, _LARGEST_SCALE = 2.0**-20, 65504.0  # of weights, in float16
_EVEN = 0.5  # power of both sides' magnitudes: the product of their norms is least
_TINY = 1e-30
_FURTHEST = 1e3  # factor of a column from the geometric mean


def quantize_weight_groups(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Quantize weight `(n, k)` to codes `(n, k)` of -8 to 7, int8, and scales `(k / 64, n)`, float16.

    Each group takes the share of its range with the least square error.
    """

    def storable(scale: Tensor) -> Tensor:
        return scale.clamp(_SMALLEST_SCALE, _LARGEST_SCALE).half().float()

    codes, scale = _clipped_groups(weight, WEIGHT_SHARES, storable)
    return codes, scale.half().t().contiguous()


def quantize_input_groups(x: Tensor) -> tuple[Tensor, Tensor]:
    """Quantize x `(m, k)` to codes `(m, k)` of -8 to 7, int8, and scales `(k / 64, m)`, float32.

    Each group takes the first of the few shares of its range that has the least square error; one of zeros has scale 1.
    A number that is none shows in its group's scale.
    """
    tiny = torch.finfo(torch.float32).tiny
    codes, scale = _clipped_groups(x.float(), INPUT_SHARES, lambda scale: scale.clamp(min=tiny))
    top = x.float().view(x.shape[0], -1, GROUP).abs().amax(dim=2)
    scale = torch.where(top > 0, scale, torch.ones_like(scale))
    return codes, torch.where(top.isfinite(), scale, top).t().contiguous()


def _clipped_groups(
    x: Tensor, shares: tuple[float, ...], storable: Callable[[Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """Codes `(m, k)` and scales `(m, k / 64)`; `storable` makes a scale one that is not 0 and can be stored."""
    groups = x.float().reshape(x.shape[0], -1, GROUP)
    top = groups.abs().amax(dim=2, keepdim=True)
    least = torch.full_like(top, torch.inf)
    codes, scale = torch.zeros_like(groups, dtype=torch.int8), storable(top / LARGEST_CODE)
    for share in shares:
        tried = storable(top * (share / LARGEST_CODE))
        rounded = (groups * tried.reciprocal()).round_().clamp_(SMALLEST_CODE, LARGEST_CODE)  # as the kernels do
        error = (groups - rounded * tried).square_().sum(dim=2, keepdim=True)
        better = error < least
        least, scale = torch.where(better, error, least), torch.where(better, tried, scale)
        codes = torch.where(better, rounded.to(torch.int8), codes)
    return codes.flatten(1), scale[:, :, 0]


def scaled_groups(codes: Tensor, scale: Tensor) -> Tensor:
    """Codes `(n, k)` times their groups' scales `(k / 64, n)`: `(n, k)`, float32."""
    groups = codes.view(codes.shape[0], -1, GROUP).float()
    return (groups * scale.float().t()[:, :, None]).flatten(1)


def smoothing_of(weight: Tensor, balance: Tensor | None) -> Tensor:
    """Factors `(k)`, float32, that x is multiplied by, and the columns of weight `(n, k)` divided by.

    `balance` `(k)`, typical magnitudes of x's columns: x and the weight are then equally uneven; without it, all
    factors are the same. The largest number of what is left of the weight is 1, so that its scales fit float16.
    """
    weight = weight.float()
    factors = torch.ones(weight.shape[1], device=weight.device)
    if balance is not None:
        factors = _evening(weight, balance)
    largest = (weight / factors).abs().max()
    return factors * torch.where(largest > 0, largest.clamp(min=_TINY), torch.ones_like(largest))


def _evening(weight: Tensor, balance: Tensor) -> Tensor:
    columns = weight.square().mean(dim=0).sqrt()
    given = balance.to(columns)
    ratio = (columns.clamp(min=1e-12) / given.clamp(min=1e-12)) ** _EVEN
    known = (columns > 0) & (given > 0) & given.isfinite()
    centre = ratio[known].log().mean().exp() if bool(known.any()) else ratio.new_ones(())
    return torch.where(known, (ratio / centre).clamp(1 / _FURTHEST, _FURTHEST), torch.ones_like(ratio))
