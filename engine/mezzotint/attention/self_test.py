"""Self-test of the attention kernels on a device: a few real shapes against the reference, in under a second."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import torch
from torch import Tensor

from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.compiled_backward import Attended, CompiledBackward
from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.attention.reference import attention_gradients, attention_reference
from mezzotint.dispatch.library import Unsupported
from mezzotint.dispatch.self_test import SelfTest, deviation, run_cases

_Attend: TypeAlias = Callable[..., tuple[Tensor, Any]]  # of q, k, v and masks
_INT8_ERROR = 0.05  # relative RMS of the output; rounded scores cause a tenth of it, values a quarter, as floats more
_HALF_SUMS_ERROR = 2e-3  # relative RMS beside half a step of the dtype; sums in float16 cause a quarter of it
_GRADIENT_ERROR = 2.0  # relative RMS of gradients, in steps of the dtype; roundings cause a third of one


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An attention shape that occurs in models."""

    name: str
    batch: int
    heads: int
    nq: int
    nk: int
    head_dim: int
    padded: bool = False
    grouped: bool = False  # all heads share one of keys, and masking is causal


CASES = (
    Case(name="a U-Net's self-attention", batch=1, heads=4, nq=1024, nk=1024, head_dim=64),
    Case(name="a U-Net's cross-attention, 77 tokens", batch=2, heads=4, nq=1024, nk=77, head_dim=64),
    Case(name="PixArt's self-attention", batch=1, heads=4, nq=512, nk=512, head_dim=72),
    Case(name="PixArt's cross-attention, padded", batch=2, heads=4, nq=512, nk=300, head_dim=72, padded=True),
    Case(name="a transformer's joint attention", batch=1, heads=2, nq=589, nk=589, head_dim=128),
    Case(name="few queries of many tokens, padded", batch=2, heads=2, nq=80, nk=2304, head_dim=128, padded=True),
    Case(name="a wide head's self-attention", batch=1, heads=2, nq=400, nk=400, head_dim=256),
    Case(name="an autoencoder's attention", batch=1, heads=1, nq=1024, nk=1024, head_dim=512),
)

GROUPED = Case(name="a text encoder's grouped attention", batch=1, heads=4, nq=512, nk=512, head_dim=128, grouped=True)


def run_self_test(
    kernels: CompiledAttention,
    device: torch.device,
    dtype: torch.dtype,
    *,
    int8: bool,
    int8_values: bool = False,
    fp8_values: bool = False,
) -> SelfTest:
    """Run every case that the device has a kernel for; stops at the first failure.

    Calls without a kernel of `fp8_values` take 8-bit scores, as in a job.
    """

    def problem_of(out: Tensor, exact: Tensor) -> str | None:
        if int8 or int8_values:
            return deviation(out, float((out - exact).norm() / exact.norm()), _INT8_ERROR, "the reference")
        return deviation(out, float((out - exact).abs().max()), _allowed(exact, dtype), "the reference")

    asked = partial(kernels, int8=int8, int8_values=int8_values, fp8_values=fp8_values)
    return _run(asked, partial(kernels, int8=int8) if fp8_values else None, device, dtype, problem_of)


def run_flash_self_test(kernels: CompiledAttention, device: torch.device, dtype: torch.dtype) -> SelfTest:
    """Run the cases in 16 bits; if they only pass without the kernels of Hopper's own, leave these out for good."""
    test = run_self_test(kernels, device, dtype, int8=False)
    if test.problem is None or test.has_no_kernels:
        return test
    kernels.leave_out_hopper()
    again = run_self_test(kernels, device, dtype, int8=False)
    return test if again.problem else replace(again, left_out=f"Hopper's own kernels, since {test.problem}")


def run_half_sums_self_test(kernels: CompiledAttention, device: torch.device, dtype: torch.dtype) -> SelfTest:
    """Likewise with sums in float16; calls without such a kernel take 16 bits, as in a job."""

    def problem_of(out: Tensor, exact: Tensor) -> str | None:
        allowed = _HALF_SUMS_ERROR + torch.finfo(dtype).eps / 2
        return deviation(out, float((out - exact).norm() / exact.norm()), allowed, "the reference")

    return _run(partial(kernels, half_sums=True), kernels, device, dtype, problem_of)


def _run(
    asked: _Attend,
    otherwise: _Attend | None,
    device: torch.device,
    dtype: torch.dtype,
    problem_with: Callable[[Tensor, Tensor], str | None],
) -> SelfTest:
    """Run every case by the kernels asked for, or else by the others; `problem_with` compares float32 outputs."""
    by_others: list[str] = []

    def problem_of(case: Case, seed: int) -> str | None:
        q, k, v, masks = inputs(case, seed, device, dtype)
        try:
            out = asked(q, k, v, masks)[0]
        except Unsupported:
            if otherwise is None:
                raise
            out = otherwise(q, k, v, masks)[0]
            by_others.append(case.name)
        return problem_with(out.float(), attention_reference(q.float(), k.float(), v.float(), masks)[0])

    test = run_cases(CASES, problem_of)
    return replace(test, by_others=tuple(each for each in by_others if each in test.passed))


def run_backward_self_test(kernels: CompiledBackward, device: torch.device, dtype: torch.dtype) -> SelfTest:
    """Likewise for the gradients of every case, and of one with a group of heads and causal masking."""

    def problem_of(case: Case, seed: int) -> str | None:
        q, k, v, masks = inputs(case, seed, device, dtype)
        gradient = torch.randn(q.shape, generator=torch.Generator().manual_seed(seed)).to(device, dtype)
        if case.grouped:
            k, v, masks = k[:, :1], v[:, :1], Masks(causal=True)
        scale = q.shape[3] ** -0.5
        out, lse = attention_reference(q, k, v, masks, scale)
        found = kernels(
            Attended(q=q, k=k, v=v, masks=masks, scale=scale, out=out, lse=lse), gradient, torch.zeros_like(lse)
        )
        exact = attention_gradients(gradient.float(), None, q.float(), k.float(), v.float(), masks, scale)[:3]
        pairs = list(zip(found, exact, strict=True))
        error = max(float((ours.float() - right).norm() / right.norm()) for ours, right in pairs)
        whole = torch.cat([each.flatten() for each in found])
        return deviation(whole, error, _GRADIENT_ERROR * torch.finfo(dtype).eps, "the reference")

    return run_cases((*CASES, GROUPED), problem_of)


def _allowed(exact: Tensor, dtype: torch.dtype) -> float:
    """Allowed deviation: rounding of softmax weights and output, half a step each, with a safety factor of 2."""
    return 2 * torch.finfo(dtype).eps * float(exact.abs().max())


def inputs(case: Case, seed: int, device: torch.device, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor, Masks]:
    """Draw q, k, v `(b, h, n, d)` as layers produce them, tokens before heads in memory, and padding lengths."""
    generator = torch.Generator().manual_seed(seed)

    def draw(tokens: int) -> Tensor:
        size = (case.batch, tokens, case.heads, case.head_dim)
        return torch.randn(size, generator=generator).to(device, dtype).transpose(1, 2)

    q, k, v = draw(case.nq), draw(case.nk), draw(case.nk)
    if not case.padded:
        return q, k, v, NO_MASKS
    lengths = [max(1, case.nk * (row + 1) // (case.batch + 1)) for row in range(case.batch)]
    return q, k, v, Masks(key_lengths=torch.tensor(lengths, dtype=torch.int32, device=device))
