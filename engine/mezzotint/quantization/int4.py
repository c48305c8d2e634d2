"""4-bit weights that unpack to 8 bits: codes times a small integer per group times a scale per row.

The two levels of scales (progressive group quantization, QServe, arXiv 2405.04532) allow integer products.
"""

import torch
from torch import Tensor

GROUP = 64  # columns that share an integer scale
SMALLEST_CODE, LARGEST_CODE = -8, 7  # weights with scales by group leave out -8
LARGEST_GROUP_SCALE = 17  # 7 * 17 fits into 8 bits
_SHRINKINGS = (1.0, 0.92, 0.85, 0.78, 0.7)  # of a group's range: clipping its largest may reduce the total error
# Of a whole row's range; the largest of a longer row is farther out. The kernels try as few for x as are worth it.
WEIGHT_SHARES = tuple(1 - step / 20 for step in range(11))
INPUT_SHARES = (1.0, 0.85, 0.7)


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


def clipped_rows(x: Tensor, shares: tuple[float, ...] = WEIGHT_SHARES) -> tuple[Tensor, Tensor]:
    """Quantize rows `(m, k)` to codes `(m, k)` of -8 to 7, int8, and float32 scales `(m, 1)`.

    Each row takes the first of the scales with the least square error, `share` of the one that clips nothing: rounding
    the many finer outweighs clipping the few. A row of zeros has scale 1.
    """
    x = x.float()
    top = x.abs().amax(dim=1, keepdim=True) if x.shape[1] else x.new_zeros((x.shape[0], 1))
    least = torch.full_like(top, torch.inf)
    codes, scale = torch.zeros_like(x, dtype=torch.int8), torch.ones_like(top)
    for share in shares:
        tried = (top * (share / LARGEST_CODE)).clamp_(min=torch.finfo(torch.float32).tiny)
        rounded = (x / tried).round_().clamp_(SMALLEST_CODE, LARGEST_CODE)
        error = (x - rounded * tried).square_().sum(dim=1, keepdim=True)
        better = (error < least) & (top > 0)
        least, scale = torch.where(better, error, least), torch.where(better, tried, scale)
        codes = torch.where(better, rounded.to(torch.int8), codes)
    return codes, torch.where(top.isfinite(), scale, top)  # a number that is none shows in its row


def pack(codes: Tensor) -> Tensor:
    """Pack codes `(n, k)` of -8 to 7 into bytes `(n, k / 2)`, two's complement, even columns in the low half."""
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
