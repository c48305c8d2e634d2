"""8-bit floats (arXiv 2209.05433): e4m3 with a scale per row, or with one, and what other programs' files hold."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import torch
from torch import Tensor
from torch.nn import functional

from mezzotint.errors import ModelRefused
from mezzotint.quantization.codebook4 import Codebook4
from mezzotint.quantization.formats import (
    Format,
    Int4,
    Int8,
    LowRank4,
    PartSpec,
    Tensors,
    checked,
    linear_shape_problem,
)
from mezzotint.quantization.shared_quantization import shared_quantize
from mezzotint.quantization.svdquant.format import SvdQuant

LARGEST = 448.0  # of e4m3fn
Inputs: TypeAlias = Literal["kept", "quantized", "either"]
INPUTS: tuple[Inputs, ...] = get_args(Inputs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fp8:
    """E4M3 floats with one float32 scale per tensor, or `by_rows` per row.

    `inputs`: x is quantized to such floats, too, row by row, or it is kept, and the weight is dequantized; either: our
    kernels, which multiply floats of 8 bits, quantize it, and torch keeps it.
    """

    by_rows: bool = False
    inputs: Inputs = "kept"

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
            "weight_scale": PartSpec(shape=(shape[0], 1) if self.by_rows else (1,), dtype=torch.float32),
        }

    def quantize(self, weight: Tensor, balance: Tensor | None = None) -> dict[str, Tensor]:  # noqa: ARG002  protocol
        """Quantize such that the largest magnitude, of each row or of all, becomes the largest float."""
        weight = checked(weight)
        if self.by_rows:
            rows, scales = quantize_fp8_rows(weight)
            return {"weight": rows, "weight_scale": scales}
        scale = (weight.abs().amax() / LARGEST).clamp_min(torch.finfo(torch.float32).tiny)
        return {"weight": (weight / scale).to(torch.float8_e4m3fn), "weight_scale": scale.reshape(1)}

    def dequantize(self, tensors: Tensors, shape: torch.Size, dtype: torch.dtype) -> Tensor:  # noqa: ARG002  protocol
        """Return the dequantized weight."""
        return (tensors["weight"].float() * tensors["weight_scale"]).to(dtype)

    def product(self, x: Tensor, tensors: Tensors, shape: torch.Size) -> Tensor:
        """Return x `(..., k)` times the weight's transpose."""
        if self.inputs == "quantized":
            rows, scale = shared_quantize(x, "fp8", lambda: quantize_fp8_rows(x.float()))
            x = (rows.float() * scale).to(x.dtype)
        return functional.linear(x, self.dequantize(tensors, shape, x.dtype))


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


def quantizes_inputs(format_: Format) -> bool:
    """Whether x is quantized too, by kernels at least."""
    if isinstance(format_, Fp8):
        return format_.inputs != "kept"
    return isinstance(format_, Int8 | Int4 | Codebook4 | LowRank4 | SvdQuant) and format_.dynamic


def quantize_fp8_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    """Quantize float32 x `(..., n)` to e4m3 and scales `(..., 1)`: the largest magnitude becomes 448.

    Numbers times the scale's inverse are rounded half to even, as by the kernels. A row of zeros has scale 1.
    """
    largest = x.abs().amax(dim=-1, keepdim=True) if x.shape[-1] else x.new_zeros((*x.shape[:-1], 1))
    scale = (largest / LARGEST).clamp(min=torch.finfo(torch.float32).tiny)
    scale = torch.where(largest == 0, torch.ones_like(scale), scale)
    return (x * (1 / scale)).clamp_(-LARGEST, LARGEST).to(torch.float8_e4m3fn), scale


def decoded(parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors of a format with one scale from the file's; a missing scale is 1."""
    scale = parts["weight_scale"].float().reshape(1) if "weight_scale" in parts else torch.ones(1)
    return {"weight": parts["weight"], "weight_scale": scale}
