"""Row-wise quantization to 8-bit integers, and integer products."""

import torch
from torch import Tensor

LARGEST = 127
_FEWEST_ROWS = 17  # minimum of torch._int_mm
_STEP = 8  # torch._int_mm needs columns in multiples of this
_EXACT = 2**24 // LARGEST**2  # 8-bit products that float32 can sum exactly


def quantize_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    """Quantize x `(..., n)` to int8 of the same shape and float32 scales `(..., 1)`: the largest magnitude becomes 127.

    Rounds half to even. A row of zeros has scale 1.
    """
    largest = x.abs().amax(dim=-1, keepdim=True).float() if x.shape[-1] else x.new_zeros((*x.shape[:-1], 1)).float()
    scale = (largest / LARGEST).clamp(min=torch.finfo(torch.float32).tiny)
    scale = torch.where(largest > 0, scale, torch.ones_like(scale))
    return (x / scale).round_().clamp_(-LARGEST, LARGEST).to(torch.int8), scale


def multiply(a: Tensor, b: Tensor) -> Tensor:
    """Exact int32 product `(m, n)` of int8 a `(m, k)` and b `(n, k)`, zero-padded to the sizes that torch supports."""
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
    """Integer product where torch has none: in float32, over few enough columns at a time to be exact."""
    total = torch.zeros((a.shape[0], b.shape[0]), dtype=torch.int32, device=a.device)
    for start in range(0, a.shape[1], _EXACT):
        part = slice(start, start + _EXACT)
        total += (a[:, part].float() @ b[:, part].float().t()).to(torch.int32)
    return total
