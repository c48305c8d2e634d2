"""4-bit weights that unpack to 8 bits: codes times a small integer per group times a scale per row.

The two levels of scales (progressive group quantization, QServe, arXiv 2405.04532) allow integer products.
"""

import torch
from torch import Tensor

GROUP = 64  # columns that share an integer scale
LARGEST_CODE = 7
LARGEST_GROUP_SCALE = 17  # 7 * 17 fits into 8 bits
_SHRINKINGS = (1.0, 0.92, 0.85, 0.78, 0.7)  # of a group's range: clipping its largest may reduce the total error


def quantize_int4(weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Quantize weight `(n, k)` to packed codes `(n, k / 2)`, group scales `(n, k / 64)` of 1 to 17, scales `(n, 1)`.

    k is a multiple of 64; the row scales are float32. Each group takes the integer scale with the least square error.
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
    """Pack codes `(n, k)` of -7 to 7 into bytes `(n, k / 2)`, two's complement, even columns in the low half."""
    halves = codes.view(torch.uint8) & 0x0F
    return halves[:, 0::2] | halves[:, 1::2] << 4


def unpack(packed: Tensor) -> Tensor:
    """Unpack bytes `(n, k / 2)` to codes `(n, k)`, int8."""
    halves = torch.stack((packed & 0x0F, packed >> 4), dim=2).flatten(1).to(torch.int8)
    return torch.where(halves > LARGEST_CODE, halves - 16, halves)


def to_int8(packed: Tensor, group_scale: Tensor) -> Tensor:
    """Unpack codes `(n, k / 2)` and multiply them by their group scales `(n, k / 64)`: `(n, k)`, int8."""
    groups = unpack(packed).view(packed.shape[0], -1, GROUP)
    return (groups * group_scale.to(torch.int8)[:, :, None]).flatten(1)
