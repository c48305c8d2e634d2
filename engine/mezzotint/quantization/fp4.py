"""The 4-bit float of bitsandbytes, stored like its NF4 but with other values for the 16 codes.

The values are those of `get_4bit_type("fp4")` in functional.py of bitsandbytes 0.50.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from mezzotint.quantization.constants import constant
from mezzotint.quantization.formats import Nf4, PartSpec, Tensors, block_magnitudes, checked, magnitudes
from mezzotint.quantization.nf4 import BLOCK, dequantize_codes, pairs_of

_LARGEST = 12.0
_VALUES = (0.0, 0.0625, 8.0, 12.0, 4.0, 6.0, 2.0, 3.0)  # of codes 0 to 7; codes 8 to 15 are their negatives
_TINY = torch.finfo(torch.float32).tiny


@dataclass(frozen=True, slots=True, kw_only=True)
class Fp4:
    """4-bit floats in blocks of 64; `double`: block magnitudes in 8 bits. Products dequantize the weight."""

    double: bool = True

    @property
    def scheme(self) -> str:
        """Name of the quantization scheme."""
        return "fp4"

    def shape_problem(self, shape: tuple[int, ...]) -> str | None:
        """Return why a weight of this shape cannot be quantized in this format, or None if it can."""
        return Nf4(double=self.double).shape_problem(shape)

    def part_specs(self, shape: tuple[int, ...]) -> dict[str, PartSpec]:
        """Return the specs of the tensors that represent a weight of this shape, by name."""
        return Nf4(double=self.double).part_specs(shape)

    def quantize(self, weight: Tensor, balance: Tensor | None = None) -> dict[str, Tensor]:  # noqa: ARG002  protocol
        """Quantize block by block."""
        flat = checked(weight).flatten()
        blocks = functional.pad(flat, (0, -flat.numel() % BLOCK)).view(-1, BLOCK)
        largest = blocks.abs().amax(dim=1)
        relative = (blocks / largest.clamp_min(_TINY)[:, None]).flatten()[: flat.numel() + flat.numel() % 2]
        values, order = constant(fp4_values, device=flat.device)[: len(_VALUES)].sort()
        codes = order[torch.bucketize(relative.abs(), (values[1:] + values[:-1]) / 2)].to(torch.uint8)
        codes |= (relative < 0).to(torch.uint8) << 3
        return {"weight": (codes[0::2] << 4 | codes[1::2]).view(-1, 1), **magnitudes(largest, double=self.double)}

    def dequantize(self, tensors: Tensors, shape: torch.Size, dtype: torch.dtype) -> Tensor:
        """Return the dequantized weight."""
        return dequantize_codes(tensors["weight"], _pairs, block_magnitudes(tensors), shape, dtype)

    def product(self, x: Tensor, tensors: Tensors, shape: torch.Size) -> Tensor:
        """Return x `(..., k)` times the weight's transpose."""
        return functional.linear(x, self.dequantize(tensors, shape, x.dtype))


def fp4_values() -> Tensor:
    """The values of the 16 codes, float32."""
    values = torch.tensor(_VALUES) / _LARGEST
    return torch.cat([values, -values])


def _pairs() -> Tensor:
    return pairs_of(fp4_values())
