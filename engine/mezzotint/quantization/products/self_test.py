"""Self-test of the product kernels on a device: a few real layers against torch, in under a second."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from mezzotint.dispatch.library import Activation
from mezzotint.dispatch.self_test import SelfTest, deviation, run_cases
from mezzotint.protocol import Products
from mezzotint.quantization.block_floats import Mxfp8, Nvfp4, rounded_rows
from mezzotint.quantization.codebook4 import Codebook4
from mezzotint.quantization.formats import Format, Int4, Int8, LowRank4, Nf4
from mezzotint.quantization.fp8 import Fp8
from mezzotint.quantization.fusion.around import Around, activated
from mezzotint.quantization.linear import Branch, QuantizedWeight, linear, with_branch
from mezzotint.quantization.products.joined import gated_weight, rows_of
from mezzotint.quantization.products.products import Multiply
from mezzotint.quantization.random_weights import random_quantized_weight
from mezzotint.quantization.svdquant.format import SvdQuant

_TURNED = 0.01  # of the largest output: what a few values rounded the other way may change


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A layer that occurs in models, or a part of one."""

    what: str
    format: Format
    rows: int
    columns: int
    outputs: int
    rank: int = 0  # of a LoRA
    activation: Activation = Activation.NONE

    @property
    def is_gated(self) -> bool:
        """Whether the weight has the rows of value and gate."""
        return self.activation >= Activation.GATED_GELU

    @property
    def name(self) -> str:
        """The scheme, and what it is tested with."""
        return f"{self.format.scheme}: {self.what}"


FLOATS = "fp8: a layer"  # which not all cards multiply
_INTEGERS = (
    Case(what="a layer", format=Int8(dynamic=True, group=64), rows=300, columns=640, outputs=640),
    Case(what="one row", format=Int8(dynamic=True, group=256), rows=1, columns=1280, outputs=320),
    Case(what="a layer with LoRAs", format=Int8(dynamic=True), rows=77, columns=1152, outputs=264, rank=24),
    Case(what="GELU", format=Int8(dynamic=True), rows=100, columns=320, outputs=328, activation=Activation.GELU_TANH),
    Case(
        what="a gated linear unit",
        format=Int8(dynamic=True, group=64),
        rows=300,
        columns=640,
        outputs=328,
        activation=Activation.GATED_SILU,
    ),
    Case(what="a layer", format=LowRank4(group=64), rows=200, columns=640, outputs=328, rank=16),
    Case(what="a layer", format=Codebook4(group=64), rows=200, columns=640, outputs=328),
    Case(what="a layer", format=Int4(group=64), rows=300, columns=640, outputs=640),
    Case(what="a layer", format=SvdQuant(group=64), rows=200, columns=704, outputs=328, rank=16),
    Case(what="a layer", format=Fp8(by_rows=True, inputs="quantized"), rows=300, columns=640, outputs=640),
)
_NF4 = (
    Case(what="a layer", format=Nf4(), rows=300, columns=640, outputs=640),
    Case(what="one row", format=Nf4(), rows=1, columns=1280, outputs=320),
    Case(what="a layer with LoRAs", format=Nf4(double=False), rows=77, columns=1152, outputs=264, rank=24),
)
BLOCK_SCALED = (
    Case(what="a layer", format=Nvfp4(), rows=300, columns=640, outputs=640),
    Case(what="one row", format=Nvfp4(), rows=1, columns=1280, outputs=320),
    Case(what="a layer", format=Mxfp8(), rows=300, columns=640, outputs=328),
    Case(what="a layer with LoRAs", format=Mxfp8(), rows=77, columns=1152, outputs=264, rank=24),
)
CASES: Mapping[Products, tuple[Case, ...]] = {"kernels": _INTEGERS, "bitsandbytes": _NF4}


def run_self_test(
    kernels: Multiply, device: torch.device, dtype: torch.dtype, cases: tuple[Case, ...] = _INTEGERS
) -> SelfTest:
    """Run every case that the device has a kernel for; stops at the first failure."""

    def problem_of(case: Case, seed: int) -> str | None:
        x, weight, bias, branch = operands(case, seed, device, dtype)
        around = Around(activation=case.activation)
        if case.is_gated:
            out = kernels(x, gated_weight(*rows_of((weight, bias), *[case.outputs] * 2)), around=around).float()
        else:
            out = kernels(x, weight, bias, branch, around=around).float()
        y, *gate = torch.split(_exact(x.float(), weight, bias.float(), branch), case.outputs, dim=1)
        exact = activated(y, *gate, activation=case.activation)
        allowed = float(exact.abs().max()) * (2 * torch.finfo(dtype).eps + _TURNED)
        return deviation(out, float((out - exact).abs().max()), allowed, "torch")

    return run_cases(cases, problem_of)


def _exact(x: Tensor, weight: QuantizedWeight, bias: Tensor, branch: Branch | None) -> Tensor:
    """The product in float32, with x rounded where the kernels round it and torch does not."""
    seen = rounded_rows(weight.format, x) if isinstance(weight.format, Mxfp8 | Nvfp4) else x
    return with_branch(linear(seen, weight, bias), x, branch)


def operands(
    case: Case, seed: int, device: torch.device, dtype: torch.dtype
) -> tuple[Tensor, QuantizedWeight, Tensor, Branch | None]:
    """Draw x `(m, k)`, a weight `(n, k)`, its bias `(n)` and a LoRA branch."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*size: int) -> Tensor:
        return torch.randn(size, generator=generator)

    outputs = case.outputs * (2 if case.is_gated else 1)
    drawn = random_quantized_weight(case.format, (outputs, case.columns), generator)
    weight = replace(drawn, tensors={name: tensor.to(device) for name, tensor in drawn.tensors.items()})
    x, bias = draw(case.rows, case.columns).to(device, dtype), draw(outputs).to(device, dtype)
    if not case.rank:
        return x, weight, bias, None
    down, up = draw(case.rank, case.columns) / case.columns**0.5, draw(case.outputs, case.rank)
    return x, weight, bias, Branch(down=down.to(device, dtype), up=up.to(device, dtype))
