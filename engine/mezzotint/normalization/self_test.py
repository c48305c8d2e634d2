"""Self-test of GroupNorm's kernels on a device: layers of models against the reference, in under a second."""

from dataclasses import dataclass

import torch
from torch import Tensor

from mezzotint.dispatch.self_test import SelfTest, deviation, run_cases
from mezzotint.normalization.compiled import CompiledGroupNorm
from mezzotint.normalization.reference import group_norm_reference

_ERROR = 0.5  # relative RMS of the output, in steps of the dtype; its rounding causes a third of one
_EPSILON = 1e-5


@dataclass(frozen=True, slots=True, kw_only=True)
class NormCase:
    """A layer that occurs in models."""

    name: str
    channels: int
    height: int
    width: int
    silu: bool = True
    batch: int = 1
    mean: float = 0.0  # of the input, whose deviation is 1


CASES = (
    NormCase(name="SDXL's first block", channels=320, height=12, width=11, batch=2),
    NormCase(name="SDXL's block of 2560 channels", channels=2560, height=3, width=4),
    NormCase(name="an autoencoder's last block", channels=128, height=20, width=20),
    NormCase(name="a norm without activation", channels=640, height=5, width=7, silu=False),
    NormCase(name="a mean far from 0", channels=512, height=8, width=8, mean=20.0),
)


def run_group_norm_self_test(kernels: CompiledGroupNorm, device: torch.device, dtype: torch.dtype) -> SelfTest:
    """Run every case that the device has a kernel for; stops at the first failure."""

    def problem_of(case: NormCase, seed: int) -> str | None:
        x, weight, bias = norm_inputs(case, seed, device, dtype)
        out = kernels(x, 32, weight, bias, _EPSILON, silu=case.silu).double()
        exact = group_norm_reference(x, 32, weight, bias, _EPSILON, silu=case.silu)
        error = float((out - exact).norm() / exact.norm())
        return deviation(out, error, _ERROR * torch.finfo(dtype).eps, "the reference")

    return run_cases(CASES, problem_of)


def norm_inputs(case: NormCase, seed: int, device: torch.device, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """Draw x `(b, c, h, w)` in channels_last, and weight and bias `(c)`."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(case.batch, case.channels, case.height, case.width, generator=generator) + case.mean
    weight, bias = torch.randn(2, case.channels, generator=generator)
    factors = (each.contiguous().to(device, dtype) for each in (1 + weight / 4, bias / 4))
    return x.to(device, dtype).contiguous(memory_format=torch.channels_last), *factors
