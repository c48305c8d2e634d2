"""Weights in the block formats of GGUF files, kept packed in memory and dequantized for each product.

Layouts: https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h. A row of a weight is a sequence of blocks of 32
or 256 numbers; each block has its own scale in float16, and those of 256 numbers have scales of 16 or 32 numbers in it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from mezzotint.checkpoints.gguf_header import TYPES
from mezzotint.errors import ModelRefused
from mezzotint.quantization.formats import PartSpec, Tensors, linear_shape_problem

_SIZES = {name: (block, block_bytes) for name, block, block_bytes in TYPES.values() if block > 1}
KINDS = tuple(_SIZES)
_PIECE = 2**23  # numbers that are dequantized at a time, so that float32 values of a whole weight never exist
_NIBBLES, _PAIRS, _BITS = 4, 2, 1  # bits of a code: how far the codes of a byte are apart


@dataclass(frozen=True, slots=True, kw_only=True)
class GgufBlocks:
    """Rows `(n, k)` of blocks of one kind, as bytes `(n, k / block * bytes of a block)`."""

    kind: str  # of `KINDS`

    @property
    def scheme(self) -> str:
        """The scheme that it belongs to."""
        return self.kind.lower()

    def shape_problem(self, shape: tuple[int, ...]) -> str | None:
        """Return why a weight of this shape cannot be packed, or None if it can."""
        why, (block, _) = linear_shape_problem(shape, group=0), _SIZES[self.kind]
        return (
            f"{shape[1]} columns are not a multiple of the block size {block}"
            if why is None and shape[1] % block
            else why
        )

    def part_specs(self, shape: tuple[int, ...]) -> dict[str, PartSpec]:
        """The bytes of a weight of this shape."""
        block, block_bytes = _SIZES[self.kind]
        return {"weight": PartSpec(shape=(shape[0], shape[1] // block * block_bytes), dtype=torch.uint8)}

    def quantize(self, weight: Tensor, balance: Tensor | None = None) -> dict[str, Tensor]:  # noqa: ARG002  protocol
        """Raises ModelRefused: weights of this format come from files only."""
        raise ModelRefused(f"{self.kind} is read from GGUF files and cannot be made; use int8 or int4")

    def dequantize(self, tensors: Tensors, shape: torch.Size, dtype: torch.dtype) -> Tensor:
        """The weight `(n, k)`; computed in float32 and rounded once."""
        block, block_bytes = _SIZES[self.kind]
        blocks = tensors["weight"].reshape(-1, block_bytes)
        whole = torch.empty(len(blocks), block, dtype=dtype, device=blocks.device)
        step = max(1, _PIECE // block)
        for start in range(0, len(blocks), step):
            whole[start : start + step] = _VALUES[self.kind](blocks[start : start + step])
        return whole.view(shape)

    def product(self, x: Tensor, tensors: Tensors, shape: torch.Size) -> Tensor:
        """x `(..., k)` times the weight's transpose."""
        return functional.linear(x, self.dequantize(tensors, shape, x.dtype))


def _halves(blocks: Tensor, at: int) -> Tensor:
    """The float16 at a byte of each block, `(blocks, 1)`, as float32."""
    return blocks[:, at : at + 2].contiguous().view(torch.float16).float()


def _spread(data: Tensor, step: int, mask: int, width: int) -> Tensor:
    """Bits of bytes `(blocks, bytes)`: for each `width` bytes, the masked bits at each shift, side by side."""
    by = torch.arange(0, 8, step, dtype=torch.uint8, device=data.device).view(1, 1, -1, 1)  # no copy from the host
    return ((data.reshape(len(data), -1, 1, width) >> by) & mask).flatten(1)


def _high_bits(blocks: Tensor, at: int) -> Tensor:
    """The 32 bits at a byte of each block, the lowest first, `(blocks, 32)`."""
    by = torch.arange(8, dtype=torch.uint8, device=blocks.device)
    return ((blocks[:, at : at + 4, None] >> by) & 1).flatten(1)


def _q4_0(blocks: Tensor) -> Tensor:
    return _halves(blocks, 0) * (_spread(blocks[:, 2:], _NIBBLES, 15, 16).float() - 8)


def _q4_1(blocks: Tensor) -> Tensor:
    return _halves(blocks, 0) * _spread(blocks[:, 4:], _NIBBLES, 15, 16).float() + _halves(blocks, 2)


def _q5_0(blocks: Tensor) -> Tensor:
    codes = _spread(blocks[:, 6:], _NIBBLES, 15, 16) | _high_bits(blocks, 2) << 4
    return _halves(blocks, 0) * (codes.float() - 16)


def _q5_1(blocks: Tensor) -> Tensor:
    codes = _spread(blocks[:, 8:], _NIBBLES, 15, 16) | _high_bits(blocks, 4) << 4
    return _halves(blocks, 0) * codes.float() + _halves(blocks, 2)


def _q8_0(blocks: Tensor) -> Tensor:
    return _halves(blocks, 0) * blocks[:, 2:].contiguous().view(torch.int8).float()


def _grouped(codes: Tensor, scale: Tensor, least: Tensor | None = None) -> Tensor:
    """Codes `(blocks, 256)` times scales `(blocks, groups)`, less the groups' minima."""
    values = codes.view(len(codes), scale.shape[1], -1) * scale[..., None]
    return (values if least is None else values - least[..., None]).flatten(1)


def _six_bits(scales: Tensor) -> tuple[Tensor, Tensor]:
    """Eight scales and eight minima of 6 bits each, from 12 bytes."""
    low, least, high = scales[:, 0:4], scales[:, 4:8], scales[:, 8:12]
    return (
        torch.cat([low & 63, (high & 15) | (low >> 2 & 48)], dim=1).float(),
        torch.cat([least & 63, (high >> 4) | (least >> 2 & 48)], dim=1).float(),
    )


def _q2_k(blocks: Tensor) -> Tensor:
    scales = blocks[:, :16]
    scale, least = _halves(blocks, 80) * (scales & 15).float(), _halves(blocks, 82) * (scales >> 4).float()
    return _grouped(_spread(blocks[:, 16:80], _PAIRS, 3, 32).float(), scale, least)


def _q3_k(blocks: Tensor) -> Tensor:
    low, high = _spread(blocks[:, 96:104], _NIBBLES, 15, 8), _spread(blocks[:, 104:108], _PAIRS, 3, 4)
    scale = _halves(blocks, 108) * ((low | high << 4).float() - 32)
    missing = _spread(blocks[:, :32], _BITS, 1, 32) ^ 1  # where the third bit is not set, 4 is subtracted
    return _grouped(_spread(blocks[:, 32:96], _PAIRS, 3, 32).float() - (missing << 2).float(), scale)


def _q4_k(blocks: Tensor) -> Tensor:
    scale, least = _six_bits(blocks[:, 4:16])
    codes = _spread(blocks[:, 16:], _NIBBLES, 15, 32)
    return _grouped(codes.float(), _halves(blocks, 0) * scale, _halves(blocks, 2) * least)


def _q5_k(blocks: Tensor) -> Tensor:
    scale, least = _six_bits(blocks[:, 4:16])
    codes = _spread(blocks[:, 48:], _NIBBLES, 15, 32) | _spread(blocks[:, 16:48], _BITS, 1, 32) << 4
    return _grouped(codes.float(), _halves(blocks, 0) * scale, _halves(blocks, 2) * least)


def _q6_k(blocks: Tensor) -> Tensor:
    codes = _spread(blocks[:, :128], _NIBBLES, 15, 64) | _spread(blocks[:, 128:192], _PAIRS, 3, 32) << 4
    scale = _halves(blocks, 208) * blocks[:, 192:208].contiguous().view(torch.int8).float()
    return _grouped(codes.float() - 32, scale)


_VALUES: Mapping[str, Callable[[Tensor], Tensor]] = {
    "Q4_0": _q4_0,
    "Q4_1": _q4_1,
    "Q5_0": _q5_0,
    "Q5_1": _q5_1,
    "Q8_0": _q8_0,
    "Q2_K": _q2_k,
    "Q3_K": _q3_k,
    "Q4_K": _q4_k,
    "Q5_K": _q5_k,
    "Q6_K": _q6_k,
}
