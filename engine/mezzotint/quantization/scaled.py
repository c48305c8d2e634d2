"""Weights of 8 bits times scales of rows and of blocks in them, as other programs write them; dequantized on load."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from mezzotint.errors import ModelRefused
from mezzotint.quantization.formats import PartSpec, Tensors


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledWeight:
    """Numbers of 8 bits, a row of a convolution being one of its outputs; each row's blocks have float32 scales."""

    dtype: torch.dtype  # float8_e4m3fn, float8_e5m2 or int8
    block: int = 0  # columns that share a scale; 0: all of a row

    @property
    def scheme(self) -> str:
        """Name of the quantization scheme."""
        return "int8" if self.dtype == torch.int8 else "fp8"

    def shape_problem(self, shape: tuple[int, ...]) -> str | None:
        """Return why a weight of this shape cannot be in this format, or None if it can."""
        return None if len(shape) >= 2 and all(shape) else f"its weight has the shape {shape}"

    def part_specs(self, shape: tuple[int, ...]) -> dict[str, PartSpec]:
        """Return the specs of the tensors that represent a weight of this shape, by name."""
        blocks = -(-shape[1] // self.block) if self.block else 1
        return {
            "weight": PartSpec(shape=shape, dtype=self.dtype),
            "weight_scale": PartSpec(shape=(shape[0], blocks), dtype=torch.float32),
        }

    def quantize(self, weight: Tensor, balance: Tensor | None = None) -> dict[str, Tensor]:  # noqa: ARG002  protocol
        """Raise ModelRefused: such weights are only read."""
        raise ModelRefused("weights with scales in another program's layout are read, not made; choose fp8 or int8")

    def dequantize(self, tensors: Tensors, shape: torch.Size, dtype: torch.dtype) -> Tensor:
        """Return the dequantized weight."""
        rows, scale = tensors["weight"].float().flatten(1), tensors["weight_scale"]
        if self.block:
            scale = scale.repeat_interleave(self.block, dim=1)[:, : rows.shape[1]]
        return (rows * scale).view(shape).to(dtype)

    def product(self, x: Tensor, tensors: Tensors, shape: torch.Size) -> Tensor:
        """Return x `(..., k)` times the weight's transpose."""
        return functional.linear(x, self.dequantize(tensors, shape, x.dtype))
