"""8-bit float weights with one scale, as in files of ComfyUI and other programs (arXiv 2209.05433)."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from mezzotint.quantization.formats import PartSpec, Tensors, checked, linear_shape_problem

LARGEST = 448.0  # of e4m3fn


@dataclass(frozen=True, slots=True, kw_only=True)
class Fp8:
    """E4M3 floats with one float32 scale per tensor; products dequantize the weight."""

    @property
    def scheme(self) -> str:
        """Name of the quantization scheme."""
        return "fp8"

    def shape_problem(self, shape: tuple[int, ...]) -> str | None:
        """Return why a weight of this shape cannot be quantized in this format, or None if it can."""
        return linear_shape_problem(shape, group=0)

    def part_specs(self, shape: tuple[int, ...]) -> dict[str, PartSpec]:
        """Return the specs of the tensors that represent a weight of this shape, by name."""
        return {
            "weight": PartSpec(shape=shape, dtype=torch.float8_e4m3fn),
            "weight_scale": PartSpec(shape=(1,), dtype=torch.float32),
        }

    def quantize(self, weight: Tensor, balance: Tensor | None = None) -> dict[str, Tensor]:  # noqa: ARG002  protocol
        """Quantize such that the largest magnitude becomes the largest float."""
        weight = checked(weight)
        scale = (weight.abs().amax() / LARGEST).clamp_min(torch.finfo(torch.float32).tiny)
        return {"weight": (weight / scale).to(torch.float8_e4m3fn), "weight_scale": scale.reshape(1)}

    def dequantize(self, tensors: Tensors, shape: torch.Size, dtype: torch.dtype) -> Tensor:  # noqa: ARG002  protocol
        """Return the dequantized weight."""
        return (tensors["weight"].float() * tensors["weight_scale"]).to(dtype)

    def product(self, x: Tensor, tensors: Tensors, shape: torch.Size) -> Tensor:
        """Return x `(..., k)` times the weight's transpose."""
        return functional.linear(x, self.dequantize(tensors, shape, x.dtype))


def decoded(parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the format's tensors from the file's; a missing scale is 1."""
    scale = parts["weight_scale"].float().reshape(1) if "weight_scale" in parts else torch.ones(1)
    return {"weight": parts["weight"], "weight_scale": scale}
