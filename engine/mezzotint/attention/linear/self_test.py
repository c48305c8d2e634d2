"""Self-test of linear attention's kernels on a device: layers of models against the reference, in under a second."""

from dataclasses import dataclass

import torch
from torch import Tensor

from mezzotint.attention.linear.compiled import CompiledLinearAttention
from mezzotint.attention.linear.features import Efficient, Elu, FeatureMap, PositiveRandom, RandomFourier, Relu
from mezzotint.attention.linear.projections import orthogonal_projections
from mezzotint.attention.linear.reference import linear_reference
from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.dispatch.self_test import SelfTest, deviation, run_cases

_ERROR = 1.0  # relative RMS of the output, in steps of the dtype; roundings cause a quarter of one
_PADDED = (100, 260)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearCase:
    """A layer that occurs in models."""

    name: str
    features: FeatureMap
    head_dim: int
    nk: int = 300
    padded: bool = False


def linear_cases(device: torch.device) -> tuple[LinearCase, ...]:
    """Return every case, with projections on the device."""
    projection = orthogonal_projections(1, 48, 64, seed=0).to(device)
    widths = torch.full((1, 1, 64), 0.3, device=device)
    return (
        LinearCase(name="Sana's relu attention", features=Relu(), head_dim=32, nk=1024),
        LinearCase(name="relu attention, padded", features=Relu(), head_dim=72, padded=True),
        LinearCase(name="Linear Transformer's elu attention", features=Elu(), head_dim=128),
        LinearCase(name="Performer's random features", features=PositiveRandom(projection, 0.125), head_dim=64),
        LinearCase(name="random Fourier features", features=RandomFourier(projection, widths), head_dim=64),
        LinearCase(name="Efficient Attention, padded", features=Efficient(), head_dim=64, padded=True),
    )


def run_linear_self_test(kernels: CompiledLinearAttention, device: torch.device, dtype: torch.dtype) -> SelfTest:
    """Run every case that the device has a kernel for; stops at the first failure."""

    def problem_of(case: LinearCase, seed: int) -> str | None:
        q, k, v, masks = linear_inputs(case, seed, device, dtype)
        out, exact = kernels(q, k, v, case.features, masks).double(), linear_reference(q, k, v, case.features, masks)
        error = float((out - exact).norm() / exact.norm())
        return deviation(out, error, _ERROR * torch.finfo(dtype).eps, "the reference")

    return run_cases(linear_cases(device), problem_of)


def linear_inputs(
    case: LinearCase, seed: int, device: torch.device, dtype: torch.dtype
) -> tuple[Tensor, Tensor, Tensor, Masks]:
    """Draw q, k, v `(2, 2, n, d)` as layers produce them, tokens before heads in memory, and padding lengths."""
    generator = torch.Generator().manual_seed(seed)

    def draw(tokens: int) -> Tensor:
        return torch.randn(2, tokens, 2, case.head_dim, generator=generator).to(device, dtype).transpose(1, 2)

    q, k, v = draw(150), draw(case.nk), draw(case.nk)
    lengths = torch.tensor(_PADDED, dtype=torch.int32, device=device)
    return q, k, v + 1, Masks(key_lengths=lengths) if case.padded else NO_MASKS
