"""Random quantized weights for tests and benchmarks, where quantizing a real weight would take too long."""

import torch
from torch import Tensor

from mezzotint.quantization.formats import Format
from mezzotint.quantization.linear import QuantizedWeight


def random_quantized_weight(format_: Format, shape: tuple[int, int], generator: torch.Generator) -> QuantizedWeight:
    """Draw an 8-bit or 4-bit weight `(n, k)` on the generator's device; its products are about as large as x."""
    specs = format_.part_specs(shape).items()
    tensors = {name: _random(name, each.shape, each.dtype, shape[1], generator) for name, each in specs}
    return QuantizedWeight(format=format_, tensors=tensors, shape=torch.Size(shape))


def _random(name: str, shape: tuple[int, ...], dtype: torch.dtype, columns: int, generator: torch.Generator) -> Tensor:
    where = generator.device
    if dtype == torch.float8_e4m3fn and name == "weight":
        return (torch.randn(shape, generator=generator, device=where) * 70).clamp(-448, 448).to(dtype)
    if dtype.is_floating_point:
        numbers = torch.randn(shape, generator=generator, device=where) / columns**0.5
        if name == "weight_codebook":
            return torch.linspace(-1, 1, *shape, device=where)
        if name == "weight_group_scale":  # of a codebook's levels
            return (torch.rand(shape, generator=generator, device=where) * 80 + 40).to(dtype)
        if name == "weight_smooth":
            factors: Tensor = (numbers * columns**0.5 / 3).exp()
            return factors
        scaled: Tensor = (numbers.abs() + 0.01) / 50 if name == "weight_scale" else numbers
        return scaled.to(dtype)
    if name == "weight_group_scale":
        return torch.randint(1, 18, shape, generator=generator, device=where).to(dtype)
    if name == "weight_exponent":
        return torch.randint(124, 129, shape, generator=generator, device=where).to(dtype)
    if dtype is torch.uint8:  # two numbers of -7 to 7
        codes: Tensor = torch.randint(-7, 8, (*shape, 2), generator=generator, device=where) & 15
        packed: Tensor = codes[..., 0] | codes[..., 1] << 4
        return packed.to(dtype)
    return torch.randint(-127, 128, shape, generator=generator, device=where, dtype=dtype)
