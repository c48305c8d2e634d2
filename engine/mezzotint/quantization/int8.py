"""Rows of numbers as 8-bit integers with a scale for each row, and the products of such rows."""

import torch
from torch import Tensor

LARGEST = 127
_FEWEST_ROWS = 17  # torch's integer product takes no fewer
_STEP = 8  # and columns in multiples of this
_EXACT = 2**24 // LARGEST**2  # products of 8 bits that float32 adds up without a loss


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
    if a.device.type == "mps":
        return _by_parts(a, b)
    rows, columns = a.shape[0], b.shape[0]
    deeper = -a.shape[1] % _STEP
    if deeper:
        a, b = (torch.nn.functional.pad(each, (0, deeper)) for each in (a, b))
    if rows < _FEWEST_ROWS:
        a = torch.nn.functional.pad(a, (0, 0, 0, _FEWEST_ROWS - rows))
    if columns % _STEP:
        b = torch.nn.functional.pad(b, (0, 0, 0, -columns % _STEP))
    return torch._int_mm(a.contiguous(), b.t())[:rows, :columns]


def _by_parts(a: Tensor, b: Tensor) -> Tensor:
    """The same where torch has no product of integers: of float32, so many columns at a time that it is exact."""
    total = torch.zeros((a.shape[0], b.shape[0]), dtype=torch.int32, device=a.device)
    for start in range(0, a.shape[1], _EXACT):
        part = slice(start, start + _EXACT)
        total += (a[:, part].float() @ b[:, part].float().t()).to(torch.int32)
    return total
