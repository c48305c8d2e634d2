"""The format SvdQuant: weights and inputs in 4 bits with scales by group, and a 16-bit low-rank branch."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from mezzotint.quantization.formats import PartSpec, Tensors, checked, linear_shape_problem
from mezzotint.quantization.int4 import GROUP, pack, unpack
from mezzotint.quantization.lowrank import split_low_rank
from mezzotint.quantization.rotation import rotate
from mezzotint.quantization.shared_quantization import shared_quantize
from mezzotint.quantization.svdquant.groups import (
    quantize_input_groups,
    quantize_weight_groups,
    scaled_groups,
    smoothing_of,
)

SCHEME = "svdquant"
_PIECE = 2**23  # numbers that are dequantized at a time, so that float32 values of a whole weight never exist


@dataclass(frozen=True, slots=True, kw_only=True)
class SvdQuant:
    """4-bit integers of -8 to 7 of both sides, with a scale for each 64 columns of a row, beside a low-rank branch.

    x is multiplied by `weight_smooth` `(k)`, whose inverse the weight has in it, rotated in groups of `group` columns
    (0: not) and quantized; the branch sees x as it is. `dynamic` False: the weight is dequantized, and x keeps 16 bits.
    """

    rank: int = 32
    group: int = 0
    dynamic: bool = True

    @property
    def scheme(self) -> str:
        """Name of the quantization scheme."""
        return SCHEME

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
            "weight_scale": PartSpec(shape=(k // GROUP, n), dtype=torch.float16),
            "weight_smooth": PartSpec(shape=(k,), dtype=torch.float32),
            "weight_down": PartSpec(shape=(self.rank, k), dtype=torch.float16),
            "weight_up": PartSpec(shape=(n, self.rank), dtype=torch.float16),
        }

    def quantize(self, weight: Tensor, balance: Tensor | None = None) -> dict[str, Tensor]:
        """Smooth by `balance`, split off the low-rank branch, and quantize what is left."""
        weight = checked(weight)
        smooth = smoothing_of(weight, balance)
        down, up = split_low_rank(weight / smooth, self.rank, self._rounded)
        even = smooth.mean().sqrt()  # both factors must fit float16
        down, up = (down * (smooth / even)).half().contiguous(), (up * even).half().contiguous()
        rest = (weight - up.float() @ down.float()) / smooth
        codes, scale = quantize_weight_groups(rotate(rest, self.group))
        parts = {"weight": pack(codes), "weight_scale": scale, "weight_smooth": smooth}
        return {**parts, "weight_down": down, "weight_up": up}

    def dequantize(self, tensors: Tensors, shape: torch.Size, dtype: torch.dtype) -> Tensor:
        """Return the dequantized weight; computed in float32, some rows at a time, and rounded once."""
        whole = torch.empty(shape, dtype=dtype, device=tensors["weight"].device)
        step, down = max(1, _PIECE // shape[1]), tensors["weight_down"].float()
        for start in range(0, shape[0], step):
            rows = slice(start, start + step)
            codes, scale = unpack(tensors["weight"][rows]), tensors["weight_scale"][:, rows]
            rest = rotate(scaled_groups(codes, scale), self.group) * tensors["weight_smooth"]
            whole[rows] = rest.addmm_(tensors["weight_up"][rows].float(), down)
        return whole

    def product(self, x: Tensor, tensors: Tensors, shape: torch.Size) -> Tensor:
        """Return x `(..., k)` times the weight's transpose; x's integers are multiplied in float32."""
        if not self.dynamic:
            return functional.linear(x, self.dequantize(tensors, shape, x.dtype))
        smooth = tensors["weight_smooth"]

        def quantized() -> tuple[Tensor, Tensor]:
            rows = x.reshape(-1, x.shape[-1]).float() * smooth
            return quantize_input_groups(rotate(rows, self.group))

        rows = scaled_groups(*shared_quantize(x, (SCHEME, self.group, smooth.data_ptr()), quantized))
        rest = functional.linear(rows, scaled_groups(unpack(tensors["weight"]), tensors["weight_scale"]))
        thin = functional.linear(x, tensors["weight_down"].to(x.dtype))
        branch = functional.linear(thin, tensors["weight_up"].to(x.dtype))
        return rest.view(*x.shape[:-1], shape[0]).to(x.dtype) + branch

    def _rounded(self, rest: Tensor) -> Tensor:
        return rotate(scaled_groups(*quantize_weight_groups(rotate(rest, self.group))), self.group)
