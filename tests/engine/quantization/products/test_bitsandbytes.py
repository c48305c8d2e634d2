"""bitsandbytes' own product, on the processor, is the plain path's; what it cannot do is left to that, and told."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from quantized_weights import relative, seeded
from skip_rules import skip_module_without
from torch import nn

from mezzotint.dispatch.library import Preparation, Unavailable, Unsupported
from mezzotint.quantization.formats import Int8, Nf4
from mezzotint.quantization.layers import QuantizedLinear
from mezzotint.quantization.linear import Branch, QuantizedWeight, linear
from mezzotint.quantization.products.bitsandbytes import BitsAndBytesLinear, open_bitsandbytes
from mezzotint.quantization.products.selection import ProductBackends
from mezzotint.quantization.products.self_test import CASES, run_self_test

skip_module_without("bitsandbytes")

SELF_TEST = len(CASES["bitsandbytes"])
CPU = torch.device("cpu")
BOTH = [Nf4(), Nf4(double=False)]


class Counting:
    """The package's product, counted."""

    def __init__(self):
        open_bitsandbytes()
        self.calls, self.fault = 0, None

    def __call__(self, *args, **kwargs):
        self.calls += 1
        if self.fault is not None:
            raise self.fault
        return torch.ops.bitsandbytes.gemm_4bit(*args, **kwargs)


@pytest.fixture
def gemm():
    return Counting()


@pytest.fixture
def multiply(gemm):
    return BitsAndBytesLinear(gemm, device_type="cpu")


def weight_of(format_, n=24, k=128):
    return QuantizedWeight(format=format_, tensors=format_.quantize(seeded(n, k, seed=1)), shape=torch.Size((n, k)))


def backends_of(gemm):
    return ProductBackends(device_type="cpu", open_nf4=lambda: BitsAndBytesLinear(gemm, device_type="cpu"))


def layer(format_=BOTH[0], k=128):
    made = QuantizedLinear(format_, (24, k), seeded(24, seed=2).half())
    made.set_tensors(format_.quantize(seeded(24, k, seed=1)))
    return made


@pytest.mark.parametrize("format_", BOTH, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_it_reads_our_tensors_and_gives_the_plain_product(multiply, format_, dtype):
    weight, x, bias = weight_of(format_, 96, 320), seeded(2, 5, 320).to(dtype), seeded(96, seed=2).to(dtype)
    branch = Branch(down=seeded(4, 320, seed=3).to(dtype), up=seeded(96, 4, seed=4).to(dtype))
    plain = linear(x.float(), weight, bias.float(), [Branch(down=branch.down.float(), up=branch.up.float())])
    assert multiply(x, weight, bias, branch).shape == (2, 5, 96)
    assert relative(multiply(x, weight, bias, branch).float(), plain) < 4 * torch.finfo(dtype).eps
    assert relative(multiply(x, weight).float(), linear(x.float(), weight)) < 4 * torch.finfo(dtype).eps


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"weight": weight_of(Int8(dynamic=True))}, "no product for Int8"),
        ({"preparation": Preparation.GEGLU}, "with GEGLU"),
        ({"x": seeded(3, 128).double()}, "x is torch.float64"),
        ({"x": seeded(0, 128)}, r"\(0, 128\)"),
        ({"bias": seeded(24).half()}, "bias is torch.float16 and x torch.float32"),
        ({"x": seeded(3, 128).requires_grad_()}, "gradients"),
    ],
)
def test_what_it_cannot_do_is_refused_before_it_is_called(multiply, gemm, fields, why):
    given = {"x": seeded(3, 128), "weight": weight_of(Nf4())} | fields
    with pytest.raises(Unsupported, match=why):
        multiply(**given)
    assert gemm.calls == 0


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
def test_the_self_test_passes_what_is_right_and_finds_what_is_wrong(multiply, dtype):
    cases = CASES["bitsandbytes"]
    assert run_self_test(multiply, CPU, dtype, cases).passed == tuple(case.name for case in cases)
    wrong = BitsAndBytesLinear(lambda *args, **kwargs: 1.1 * torch.ops.bitsandbytes.gemm_4bit(*args, **kwargs), "cpu")
    assert "error against torch" in run_self_test(wrong, CPU, dtype, cases).problem


def test_a_session_counts_what_it_did_and_what_torch_did(gemm):
    notices, model = [], nn.ModuleList([layer(), layer(k=96), layer(Int8(dynamic=True))])
    session = backends_of(gemm).session("cpu", "float16", [model], lambda *told: notices.append(told))
    with session.multiplying():
        for each in model:
            each(seeded(3, each.in_features).half())
        model[0](seeded(3, 128))  # whose bias is of 16 bits
    assert (session.nf4.ran, session.nf4.calls, gemm.calls) == ("bitsandbytes", 2, SELF_TEST + 2)
    assert session.integers.ran == "torch"
    assert [(fallback.calls, "bias is" in fallback.reason) for fallback in session.fallbacks] == [(1, True)]
    assert [code for code, _ in notices] == ["products_fell_back"]
    assert all(each.products is None for each in model)


def test_what_fails_its_self_test_is_given_up(gemm):
    gemm.fault, notices = RuntimeError("no binary for this card"), []
    session = backends_of(gemm).session("cpu", "float16", [layer()], lambda *told: notices.append(told))
    assert (session.nf4.used, session.nf4.ran) == ("torch", "torch")
    ((_, message),) = notices
    assert "bitsandbytes' kernels" in message and "no binary for this card" in message


def test_without_such_layers_it_is_never_opened():
    def opened():
        raise AssertionError("opened")

    backends = ProductBackends(device_type="cpu", open_nf4=opened)
    session = backends.session("cpu", "float16", [nn.Linear(8, 8)], print)
    assert (session.nf4.ran, session.nf4.calls) == (None, 0)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ImportError("no module"), "cannot be imported (no module): pip install"),
        (OSError("libcudart.so.12"), "cannot be loaded (OSError: libcudart.so.12): pip install"),
    ],
)
def test_a_package_that_cannot_be_loaded_is_told(error, told):
    def load(name):
        raise error

    with pytest.raises(Unavailable) as raised:
        open_bitsandbytes(load)
    assert told in str(raised.value)


def test_an_old_package_is_told(monkeypatch):
    monkeypatch.setattr(torch.ops, "bitsandbytes", SimpleNamespace(), raising=False)
    package: Any = ModuleType("bitsandbytes")
    package.__version__ = "0.49.0"
    with pytest.raises(Unavailable, match=r"0\.49\.0 has no gemm_4bit"):
        open_bitsandbytes(lambda name: package)


def test_an_import_that_waits_is_run(monkeypatch):
    asked = []

    class Waiting(ModuleType):
        def __getattr__(self, name):
            asked.append(name)
            return "1"

    monkeypatch.setitem(sys.modules, "bitsandbytes", Waiting("bitsandbytes"))
    open_bitsandbytes()
    assert asked == ["__version__"]
