"""4-bit weights that unpack to 8 bits through a codebook: the W4A8 of comfy-kitchen (`asym_w4a8_int8`).

A weight is `round(codebook[code] * group scale)`, an 8-bit integer, times its row's scale. The codebook holds the 16
levels of the least square error (Lloyd-Max: S. Lloyd, Least squares quantization in PCM, 1982).
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from mezzotint.quantization.formats import PartSpec, Tensors, checked, integer_product, linear_shape_problem
from mezzotint.quantization.int8 import LARGEST
from mezzotint.quantization.rotation import rotate

GROUP = 16  # columns that share a scale
CODES = 16
_ROUNDS, _REFINEMENTS = 25, 3
_SAMPLES = 2**18  # numbers that the codebook is fitted to
_ROWS_AT_ONCE = 2**22  # numbers whose codes are searched at once: a dozen bytes each
_TINY = torch.finfo(torch.float32).tiny


@dataclass(frozen=True, slots=True, kw_only=True)
class Codebook4:
    """4-bit codes of 16 levels; 16 in a row share an 8-bit float as scale, and a row a float32 scale.

    `dynamic`: x is quantized to 8 bits for an integer product; otherwise the weight is dequantized. `group` columns are
    rotated together before rounding; 0: no rotation.
    """

    group: int = 0
    dynamic: bool = True

    @property
    def scheme(self) -> str:
        """Name of the quantization scheme."""
        return "int4-codebook"

    def shape_problem(self, shape: tuple[int, ...]) -> str | None:
        """Return why a weight of this shape cannot be quantized in this format, or None if it can."""
        why = linear_shape_problem(shape, self.group)
        if why is None and shape[1] % GROUP:
            return f"{shape[1]} columns are not a multiple of the block size {GROUP}"
        return why

    def part_specs(self, shape: tuple[int, ...]) -> dict[str, PartSpec]:
        """Return the specs of the tensors that represent a weight of this shape, by name."""
        n, k = shape
        return {
            "weight": PartSpec(shape=(n, k // 2), dtype=torch.uint8),
            "weight_scale": PartSpec(shape=(n, 1), dtype=torch.float32),
            "weight_group_scale": PartSpec(shape=(n, k // GROUP), dtype=torch.float8_e4m3fn),
            "weight_codebook": PartSpec(shape=(CODES,), dtype=torch.float32),
        }

    def quantize(self, weight: Tensor, balance: Tensor | None = None) -> dict[str, Tensor]:  # noqa: ARG002  protocol
        """Fit a codebook to the whole weight, then code it group by group."""
        rows = rotate(checked(weight), self.group)
        scale = (rows.abs().amax(dim=1, keepdim=True) / LARGEST).clamp_min(_TINY)
        groups = rows.view(rows.shape[0], -1, GROUP)
        codebook = fit_codebook(groups)
        step = max(1, _ROWS_AT_ONCE // rows.shape[1])
        parts = [
            _coded(*each, codebook) for each in zip(torch.split(groups, step), torch.split(scale, step), strict=True)
        ]
        packed, group_scale = (torch.cat(each) for each in zip(*parts, strict=True))
        return {"weight": packed, "weight_scale": scale, "weight_group_scale": group_scale, "weight_codebook": codebook}

    def dequantize(self, tensors: Tensors, shape: torch.Size, dtype: torch.dtype) -> Tensor:  # noqa: ARG002  protocol
        """Return the dequantized weight."""
        return rotate(unpack_levels(tensors).float() * tensors["weight_scale"], self.group).to(dtype)

    def product(self, x: Tensor, tensors: Tensors, shape: torch.Size) -> Tensor:
        """Return x `(..., k)` times the weight's transpose."""
        if not self.dynamic:
            return functional.linear(x, self.dequantize(tensors, shape, x.dtype))
        return integer_product(x, unpack_levels(tensors), tensors["weight_scale"], self.group)


def unpack_levels(tensors: Tensors) -> Tensor:
    """Unpack the codes to 8-bit integers `(n, k)`, each with its group's scale."""
    packed = tensors["weight"]
    codes = torch.stack((packed & 0x0F, packed >> 4), dim=2).flatten(1).to(torch.int32)
    numbers = tensors["weight_codebook"][codes].view(packed.shape[0], -1, GROUP)
    return _rounded(numbers * tensors["weight_group_scale"].float()[:, :, None]).to(torch.int8).flatten(1)


def fit_codebook(groups: Tensor) -> Tensor:
    """The 16 levels `(16)`, ascending, for groups `(n, g, 16)`, each divided by its largest magnitude."""
    relative = _relative(groups).flatten()
    sample, _ = relative[:: max(1, relative.numel() // _SAMPLES)].sort()
    places = ((torch.arange(CODES, device=sample.device) + 0.5) * sample.numel() / CODES).long()
    levels = sample[places]
    sums = functional.pad(sample.double().cumsum(0), (1, 0))
    for _ in range(_ROUNDS):
        ends = torch.searchsorted(sample, (levels[1:] + levels[:-1]) / 2)
        ends = functional.pad(functional.pad(ends, (1, 0)), (0, 1), value=sample.numel())
        count = ends[1:] - ends[:-1]
        means = (sums[ends[1:]] - sums[ends[:-1]]) / count.clamp_min(1)
        levels = torch.where(count > 0, means.float(), levels)
    return levels


def _coded(groups: Tensor, scale: Tensor, codebook: Tensor) -> tuple[Tensor, Tensor]:
    """Packed codes and group scales of groups `(n, g, 16)`: the scales are refined by least squares."""
    relative = groups / scale[:, :, None]
    group_scale = relative.abs().amax(dim=2, keepdim=True)
    for _ in range(_REFINEMENTS):
        levels = codebook[_nearest(relative, codebook * group_scale)]
        fitted = (relative * levels).sum(dim=2, keepdim=True) / levels.square().sum(dim=2, keepdim=True)
        group_scale = torch.where(fitted.isfinite() & (fitted > 0), fitted, group_scale)
    stored = group_scale[:, :, 0].clamp_max(_largest_scale(codebook)).to(torch.float8_e4m3fn)
    codes = _nearest(relative, _rounded(codebook * stored.float()[:, :, None])).flatten(1).to(torch.uint8)
    return codes[:, 0::2] | codes[:, 1::2] << 4, stored


def _nearest(numbers: Tensor, levels: Tensor) -> Tensor:
    """Index of the level `(n, g, 16)`, ascending, nearest to each number of its group `(n, g, 16)`."""
    return torch.searchsorted(((levels[..., 1:] + levels[..., :-1]) / 2).contiguous(), numbers.contiguous())


def _largest_scale(codebook: Tensor) -> float:
    """Above it, whole levels would be clipped."""
    return min(448.0, LARGEST / max(float(codebook.abs().max()), _TINY))


def _relative(groups: Tensor) -> Tensor:
    return groups / groups.abs().amax(dim=2, keepdim=True).clamp_min(_TINY)


def _rounded(numbers: Tensor) -> Tensor:
    return numbers.round().clamp(-LARGEST, LARGEST)
