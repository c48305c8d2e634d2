"""Quantization formats: pure functions on named tensors.

A format defines the tensors that represent a weight `(n, k)`, quantizes to them, and multiplies with them. It holds no
tensors itself, so networks can be built empty, and sizes and files planned, before any weight is read.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

from mezzotint.errors import ModelRefused
from mezzotint.quantization.int4 import (
    GROUP,
    INPUT_SHARES,
    LARGEST_GROUP_SCALE,
    clipped_rows,
    pack,
    quantize_int4,
    to_int8,
    unpack,
)
from mezzotint.quantization.int8 import multiply, quantize_rows
from mezzotint.quantization.lowrank import split_low_rank
from mezzotint.quantization.nf4 import BLOCK, NESTED_BLOCK, Nested, dequantize_nf4, nest, quantize_nf4, unnest
from mezzotint.quantization.rotation import rotate
from mezzotint.quantization.shared_quantization import shared_quantize

Tensors = Mapping[str, Tensor]
_PIXEL_OUTPUTS = 8  # of which the outputs of convolutions with 8-bit inputs are a multiple
_LARGEST_NUMBER = 2**24  # far beyond any working model's weights; the branch's factors still fit float16


@dataclass(frozen=True, slots=True, kw_only=True)
class PartSpec:
    """Shape and dtype of one tensor of a format."""

    shape: tuple[int, ...]
    dtype: torch.dtype

    @property
    def bytes(self) -> int:
        """Size in memory."""
        return torch.Size(self.shape).numel() * self.dtype.itemsize


class Format(Protocol):
    """A way of quantizing a layer's weight."""

    @property
    def scheme(self) -> str:
        """Name of the quantization scheme."""

    def shape_problem(self, shape: tuple[int, ...]) -> str | None:
        """Return why a weight of this shape cannot be quantized in this format, or None if it can."""

    def part_specs(self, shape: tuple[int, ...]) -> dict[str, PartSpec]:
        """Return the specs of the tensors that represent a weight of this shape; `weight` holds its codes."""

    def quantize(self, weight: Tensor, balance: Tensor | None = None) -> dict[str, Tensor]:
        """Quantize a weight. `balance` `(k)`: typical magnitudes of the input's columns, for formats that use them.

        Raises ModelRefused, without the layer's name, if the weight holds invalid numbers.
        """

    def dequantize(self, tensors: Tensors, shape: torch.Size, dtype: torch.dtype) -> Tensor:
        """Return the dequantized weight."""

    def product(self, x: Tensor, tensors: Tensors, shape: torch.Size) -> Tensor:
        """Return x `(..., k)` times the weight's transpose, `(..., n)`, in x's dtype."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Int8:
    """8-bit integers with a float32 scale per row.

    `dynamic`: x is also quantized to 8 bits, row by row, for an integer product; otherwise the weight is dequantized.
    `group` columns are rotated together before rounding; 0: no rotation. Weights of convolutions have four dimensions,
    and are never dynamic nor rotated; with `pixels`, those of 3x3, x is quantized to 8 bits pixel by pixel.
    """

    dynamic: bool
    group: int = 0
    pixels: bool = False

    @property
    def scheme(self) -> str:
        """Name of the quantization scheme."""
        return "int8" if self.dynamic or self.pixels else "int8-weight"

    def shape_problem(self, shape: tuple[int, ...]) -> str | None:
        """Return why a weight of this shape cannot be quantized in this format, or None if it can."""
        if self.pixels and (shape[2:] != (3, 3) or shape[0] % _PIXEL_OUTPUTS or shape[1] % GROUP):
            return (
                f"8-bit pixels need 3x3 convolutions of multiples of {GROUP} to {_PIXEL_OUTPUTS} channels, not {shape}"
            )
        if self.dynamic or self.group or len(shape) != 4:
            return linear_shape_problem(shape, self.group)
        return None if all(shape) else "its weight is empty"

    def part_specs(self, shape: tuple[int, ...]) -> dict[str, PartSpec]:
        """Return the specs of the tensors that represent a weight of this shape, by name."""
        return {
            "weight": PartSpec(shape=shape, dtype=torch.int8),
            "weight_scale": PartSpec(shape=(shape[0], 1), dtype=torch.float32),
        }

    def quantize(self, weight: Tensor, balance: Tensor | None = None) -> dict[str, Tensor]:  # noqa: ARG002  protocol
        """Quantize row by row."""
        rows, scale = quantize_rows(rotate(checked(weight).flatten(1), self.group))
        return {"weight": rows.view(weight.shape), "weight_scale": scale}

    def dequantize(self, tensors: Tensors, shape: torch.Size, dtype: torch.dtype) -> Tensor:
        """Return the dequantized weight."""
        rows = tensors["weight"].flatten(1) * tensors["weight_scale"]
        return rotate(rows, self.group).view(shape).to(dtype)

    def product(self, x: Tensor, tensors: Tensors, shape: torch.Size) -> Tensor:
        """Return x `(..., k)` times the weight's transpose."""
        if not self.dynamic:
            return functional.linear(x, self.dequantize(tensors, shape, x.dtype))
        return integer_product(x, tensors["weight"], tensors["weight_scale"], self.group)


@dataclass(frozen=True, slots=True, kw_only=True)
class Int4:
    """4-bit integers of -8 to 7 with a float32 scale per row, two to a byte, the even column in the low half.

    `dynamic`: x is also quantized to 4 bits, row by row, for an integer product; otherwise the weight is dequantized.
    `group` columns are rotated together before rounding; 0: no rotation.
    """

    dynamic: bool = True
    group: int = 0

    @property
    def scheme(self) -> str:
        """Name of the quantization scheme."""
        return "int4-rot"

    def shape_problem(self, shape: tuple[int, ...]) -> str | None:
        """Return why a weight of this shape cannot be quantized in this format, or None if it can."""
        why = linear_shape_problem(shape, self.group)
        if why is None and shape[1] % 2:
            return f"{shape[1]} columns are odd, and two share a byte"
        return why

    def part_specs(self, shape: tuple[int, ...]) -> dict[str, PartSpec]:
        """Return the specs of the tensors that represent a weight of this shape, by name."""
        return {
            "weight": PartSpec(shape=(shape[0], shape[1] // 2), dtype=torch.uint8),
            "weight_scale": PartSpec(shape=(shape[0], 1), dtype=torch.float32),
        }

    def quantize(self, weight: Tensor, balance: Tensor | None = None) -> dict[str, Tensor]:  # noqa: ARG002  protocol
        """Quantize row by row, clipping where that reduces the error."""
        codes, scale = clipped_rows(rotate(checked(weight), self.group))
        return {"weight": pack(codes), "weight_scale": scale}

    def dequantize(self, tensors: Tensors, shape: torch.Size, dtype: torch.dtype) -> Tensor:  # noqa: ARG002  protocol
        """Return the dequantized weight."""
        return rotate(unpack(tensors["weight"]) * tensors["weight_scale"], self.group).to(dtype)

    def product(self, x: Tensor, tensors: Tensors, shape: torch.Size) -> Tensor:
        """Return x `(..., k)` times the weight's transpose."""
        if not self.dynamic:
            return functional.linear(x, self.dequantize(tensors, shape, x.dtype))
        return integer_product(x, unpack(tensors["weight"]), tensors["weight_scale"], self.group, bits=4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Nf4:
    """bitsandbytes' 4-bit NormalFloat; `double`: double quantization, block magnitudes in 8 bits."""

    double: bool = True

    @property
    def scheme(self) -> str:
        """Name of the quantization scheme."""
        return "int4"

    def shape_problem(self, shape: tuple[int, ...]) -> str | None:
        """Return why a weight of this shape cannot be quantized in this format, or None if it can."""
        return linear_shape_problem(shape, group=0)

    def part_specs(self, shape: tuple[int, ...]) -> dict[str, PartSpec]:
        """Return the specs of the tensors that represent a weight of this shape, by name."""
        numbers = torch.Size(shape).numel()
        blocks = -(-numbers // BLOCK)
        tensors = {"weight": PartSpec(shape=((numbers + 1) // 2, 1), dtype=torch.uint8)}
        if not self.double:
            return tensors | {"absmax": PartSpec(shape=(blocks,), dtype=torch.float32)}
        return tensors | {
            "absmax": PartSpec(shape=(blocks,), dtype=torch.uint8),
            "nested_absmax": PartSpec(shape=(-(-blocks // NESTED_BLOCK),), dtype=torch.float32),
            "nested_offset": PartSpec(shape=(), dtype=torch.float32),
        }

    def quantize(self, weight: Tensor, balance: Tensor | None = None) -> dict[str, Tensor]:  # noqa: ARG002  protocol
        """Quantize block by block."""
        packed, largest = quantize_nf4(checked(weight))
        return {"weight": packed, **magnitudes(largest, double=self.double)}

    def dequantize(self, tensors: Tensors, shape: torch.Size, dtype: torch.dtype) -> Tensor:
        """Return the dequantized weight."""
        return dequantize_nf4(tensors["weight"], block_magnitudes(tensors), shape, dtype)

    def product(self, x: Tensor, tensors: Tensors, shape: torch.Size) -> Tensor:
        """Return x `(..., k)` times the weight's transpose."""
        return functional.linear(x, self.dequantize(tensors, shape, x.dtype))


@dataclass(frozen=True, slots=True, kw_only=True)
class LowRank4:
    """4-bit integers that unpack to 8 bits, and a 16-bit low-rank branch for what 4 bits lose.

    `dynamic`: x is quantized to 8 bits for an integer product; otherwise the weight is dequantized.
    """

    rank: int = 32
    group: int = 0
    dynamic: bool = True

    @property
    def scheme(self) -> str:
        """Name of the quantization scheme."""
        return "int4-lowrank"

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
            "weight_group_scale": PartSpec(shape=(n, k // GROUP), dtype=torch.uint8),
            "weight_down": PartSpec(shape=(self.rank, k), dtype=torch.float16),
            "weight_up": PartSpec(shape=(n, self.rank), dtype=torch.float16),
        }

    def quantize(self, weight: Tensor, balance: Tensor | None = None) -> dict[str, Tensor]:
        """Split off the low-rank branch and quantize the residual."""
        weight = checked(weight)
        factors = split_low_rank(weight, self.rank, self._rounded, balance)
        down, up = (factor.half() for factor in factors)
        rest = weight - up.float() @ down.float()
        packed, group_scale, scale = quantize_int4(rotate(rest, self.group))
        return {
            "weight": packed,
            "weight_scale": scale,
            "weight_group_scale": group_scale,
            "weight_down": down.contiguous(),
            "weight_up": up.contiguous(),
        }

    def dequantize(self, tensors: Tensors, shape: torch.Size, dtype: torch.dtype) -> Tensor:  # noqa: ARG002  protocol
        """Return the dequantized weight."""
        rest = to_int8(tensors["weight"], tensors["weight_group_scale"]) * tensors["weight_scale"]
        branch = tensors["weight_up"].float() @ tensors["weight_down"].float()
        return (rotate(rest, self.group) + branch).to(dtype)

    def product(self, x: Tensor, tensors: Tensors, shape: torch.Size) -> Tensor:
        """Return x `(..., k)` times the weight's transpose."""
        if not self.dynamic:
            return functional.linear(x, self.dequantize(tensors, shape, x.dtype))
        whole = to_int8(tensors["weight"], tensors["weight_group_scale"])
        thin = functional.linear(x, tensors["weight_down"].to(x.dtype))
        rest = integer_product(x, whole, tensors["weight_scale"], self.group)
        return rest + functional.linear(thin, tensors["weight_up"].to(x.dtype))

    def _rounded(self, rest: Tensor) -> Tensor:
        packed, group_scale, scale = quantize_int4(rotate(rest, self.group))
        return rotate(to_int8(packed, group_scale) * scale, self.group)


def magnitudes(largest: Tensor, *, double: bool) -> dict[str, Tensor]:
    """Tensors for the magnitudes `(blocks)` of 4-bit blocks, in bitsandbytes' form."""
    if not double:
        return {"absmax": largest}
    nested = nest(largest)
    return {"absmax": nested.codes, "nested_absmax": nested.scales, "nested_offset": nested.offset}


def block_magnitudes(tensors: Tensors) -> Tensor:
    """Block magnitudes `(blocks)`, the inverse of `magnitudes`."""
    if "nested_absmax" not in tensors:
        return tensors["absmax"]
    scales, offset = tensors["nested_absmax"], tensors["nested_offset"]
    return unnest(Nested(codes=tensors["absmax"], scales=scales, offset=offset))


def integer_product(x: Tensor, weight: Tensor, weight_scale: Tensor, group: int, bits: int = 8) -> Tensor:
    """x `(..., k)`, rotated and quantized row by row, times 8-bit weight `(n, k)` with scales `(n, 1)`: `(..., n)`.

    x becomes integers of 8 or 4 bits. The rotation runs in float32: its sums may overflow 16 bits.
    """

    def quantized() -> tuple[Tensor, Tensor]:
        rotated = rotate(x.reshape(-1, x.shape[-1]).float(), group)
        return quantize_rows(rotated) if bits == 8 else clipped_rows(rotated, INPUT_SHARES)

    rows, scale = shared_quantize(x, (group, bits), quantized)
    whole = multiply(rows, weight)
    return (whole * scale * weight_scale.T).to(x.dtype).view(*x.shape[:-1], weight.shape[0])


def linear_shape_problem(shape: tuple[int, ...], group: int) -> str | None:
    """Return why a weight cannot be a linear layer's with columns rotated in groups, or None if it can."""
    if len(shape) != 2:
        return f"its weight has {len(shape)} dimensions instead of 2"
    if not all(shape):
        return "its weight is empty"
    if group and shape[1] % group:
        return f"{shape[1]} columns are not a multiple of the rotation's group size {group}"
    return None


def checked(weight: Tensor) -> Tensor:
    """Return the weight in float32; raises ModelRefused if it holds non-finite or absurdly large numbers."""
    weight = weight.float()
    low, high = (float(end) for end in torch.aminmax(weight))
    if not -_LARGEST_NUMBER <= low <= high <= _LARGEST_NUMBER:  # also catches NaN
        raise ModelRefused(f"a weight contains NaN, infinity or values beyond {_LARGEST_NUMBER}; the file is damaged")
    return weight


assert LARGEST_GROUP_SCALE * 7 <= 127  # noqa: S101  unpacked codes must fit into 8 bits
