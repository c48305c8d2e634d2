"""Rows of numbers as 8-bit integers with a scale for each row, and the products of such rows."""

import torch
from torch import Tensor

LARGEST = 127
_FEWEST_ROWS = 17  # torch's integer product takes no fewer
_STEP = 8  # and columns in multiples of this


def quantize_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    """x `(..., n)` as integers of the same shape and float32 scales `(..., 1)`: the largest magnitude becomes 127.

    Halves are rounded to the even neighbour. A row of zeros has scale 1.
    """
    largest = x.abs().amax(dim=-1, keepdim=True).float() if x.shape[-1] else x.new_zeros((*x.shape[:-1], 1)).float()
    scale = (largest / LARGEST).clamp(min=torch.finfo(torch.float32).tiny)
    scale = torch.where(largest > 0, scale, torch.ones_like(scale))
    return (x / scale).round_().clamp_(-LARGEST, LARGEST).to(torch.int8), scale


def multiply(a: Tensor, b: Tensor) -> Tensor:
    """The exact 32-bit product `(m, n)` of 8-bit a `(m, k)` and b `(n, k)`; rows and columns are padded with zeros."""
    rows, columns = a.shape[0], b.shape[0]
    deeper = -a.shape[1] % _STEP
    if deeper:
        a, b = (torch.nn.functional.pad(each, (0, deeper)) for each in (a, b))
    if rows < _FEWEST_ROWS:
        a = torch.nn.functional.pad(a, (0, 0, 0, _FEWEST_ROWS - rows))
    if columns % _STEP:
        b = torch.nn.functional.pad(b, (0, 0, 0, -columns % _STEP))
    return torch._int_mm(a.contiguous(), b.t())[:rows, :columns]
