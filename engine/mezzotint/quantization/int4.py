"""Weights in 4 bits that unpack to 8: codes times a small integer for each group times a scale for each row.

The two levels of scales (progressive group quantization, QServe, arXiv 2405.04532) keep the product one of integers.
"""

import torch
from torch import Tensor

GROUP = 64  # columns that share a small integer
LARGEST_CODE = 7
LARGEST_GROUP_SCALE = 17  # 7 * 17 fits into 8 bits
_SHRINKINGS = (1.0, 0.92, 0.85, 0.78, 0.7)  # of a group's range: cutting its largest may serve the others


def quantize_int4(weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Weight `(n, k)` as packed codes `(n, k / 2)`, group scales `(n, k / 64)` of 1 to 17, float32 scales `(n, 1)`.

    k is a multiple of 64. For each group the small integer with the least square error is taken.
    """
    groups = weight.float().reshape(weight.shape[0], -1, GROUP)
    ideal = groups.abs().amax(dim=2) / LARGEST_CODE
    scale = ideal.amax(dim=1, keepdim=True) / LARGEST_GROUP_SCALE
    scale = torch.where(scale > 0, scale, torch.ones_like(scale))
    whole = groups / scale[:, :, None]
    best = torch.full_like(ideal, torch.inf)
    codes = torch.zeros_like(whole, dtype=torch.int8)
    group_scale = torch.ones_like(ideal, dtype=torch.uint8)
    for shrinking in _SHRINKINGS:
        tried = (ideal / scale * shrinking).round_().clamp_(1, LARGEST_GROUP_SCALE)
        rounded = (whole / tried[:, :, None]).round_().clamp_(-LARGEST_CODE, LARGEST_CODE)
        error = (whole - rounded * tried[:, :, None]).square_().sum(dim=2)
        better = error < best
        best = torch.where(better, error, best)
        group_scale = torch.where(better, tried.to(torch.uint8), group_scale)
        codes = torch.where(better[:, :, None], rounded.to(torch.int8), codes)
    return pack(codes.flatten(1)), group_scale, scale


def pack(codes: Tensor) -> Tensor:
    """Codes of -7 to 7 `(n, k)` two to a byte `(n, k / 2)`, the even column in the low half, in two's complement."""
    halves = codes.view(torch.uint8) & 0x0F
    return halves[:, 0::2] | halves[:, 1::2] << 4


def unpack(packed: Tensor) -> Tensor:
    """The codes `(n, k)`, int8, of packed bytes `(n, k / 2)`."""
    halves = torch.stack((packed & 0x0F, packed >> 4), dim=2).flatten(1).to(torch.int8)
    return torch.where(halves > LARGEST_CODE, halves - 16, halves)


def to_int8(packed: Tensor, group_scale: Tensor) -> Tensor:
    """The 8-bit integers `(n, k)` that packed codes `(n, k / 2)` with their group scales `(n, k / 64)` stand for."""
    groups = unpack(packed).view(packed.shape[0], -1, GROUP)
    return (groups * group_scale.to(torch.int8)[:, :, None]).flatten(1)
