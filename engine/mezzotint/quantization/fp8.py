"""Weights of 8-bit floats with one scale, as ComfyUI's and other programs' files have them (arXiv 2209.05433)."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from mezzotint.quantization.formats import Described, Tensors, checked, misfit

LARGEST = 448.0  # of e4m3fn


@dataclass(frozen=True, slots=True, kw_only=True)
class Fp8:
    """Floats of 4 bits of exponent and 3 of fraction, and one float32 scale; dequantized to multiply."""

    @property
    def scheme(self) -> str:
        """The scheme that it belongs to."""
        return "fp8"

    def fits(self, shape: tuple[int, ...]) -> str | None:
        """Why a weight of that shape cannot be quantized so; None: it can."""
        return misfit(shape, group=0)

    def described(self, shape: tuple[int, ...]) -> dict[str, Described]:
        """The tensors that stand for a weight of that shape."""
        return {
            "weight": Described(shape=shape, dtype=torch.float8_e4m3fn),
            "weight_scale": Described(shape=(1,), dtype=torch.float32),
        }

    def quantize(self, weight: Tensor, balance: Tensor | None = None) -> dict[str, Tensor]:  # noqa: ARG002  as Format has it
        """The largest number becomes the largest float."""
        weight = checked(weight)
        scale = (weight.abs().amax() / LARGEST).clamp_min(torch.finfo(torch.float32).tiny)
        return {"weight": (weight / scale).to(torch.float8_e4m3fn), "weight_scale": scale.reshape(1)}

    def dequantize(self, tensors: Tensors, shape: torch.Size, dtype: torch.dtype) -> Tensor:  # noqa: ARG002  as Format has it
        """The weight that they stand for."""
        return (tensors["weight"].float() * tensors["weight_scale"]).to(dtype)

    def product(self, x: Tensor, tensors: Tensors, shape: torch.Size) -> Tensor:
        """x `(..., k)` times the weight's transpose."""
        return functional.linear(x, self.dequantize(tensors, shape, x.dtype))


def decoded(parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The format's tensors of a file's; a weight without a scale is what it is."""
    scale = parts["weight_scale"].float().reshape(1) if "weight_scale" in parts else torch.ones(1)
    return {"weight": parts["weight"], "weight_scale": scale}
