"""A kernel that computes something else shows, whatever a sanitizer says."""

import io

import pytest
from fake_backward import FakeBackward
from fake_kernels import FakeKernels
from fake_linear_attention import FakeLinearAttention
from fake_products import FakeProducts

from kernel_build.card import stub
from kernel_build.card.protocol import Row, Teller, told
from kernel_build.card.workers import small_set
from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.compiled_backward import CompiledBackward
from mezzotint.attention.linear.compiled import CompiledLinearAttention
from mezzotint.quantization.products.compiled import CompiledLinear


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(
    ("attention", "backward", "linear", "products", "wrong"),
    [
        (FakeKernels("wrong"), FakeBackward(), FakeLinearAttention(), FakeProducts(), {"attention"}),
        (FakeKernels(), FakeBackward("wrong"), FakeLinearAttention(), FakeProducts(), {"gradients"}),
        (FakeKernels(), FakeBackward(), FakeLinearAttention("wrong"), FakeProducts(), {"linear attention"}),
        (FakeKernels(), FakeBackward(), FakeLinearAttention(), FakeProducts("nan"), {"product"}),
        (FakeKernels(), FakeBackward(), FakeLinearAttention(), FakeProducts(), set()),
    ],
)
def test_what_is_wrong_is_told(monkeypatch, attention, backward, linear, products, wrong):
    monkeypatch.setattr(stub, "linear_attention", lambda: CompiledLinearAttention(linear))
    monkeypatch.setattr(stub, "attention_backward", lambda: CompiledBackward(backward))
    monkeypatch.setattr(stub, "attention", lambda: CompiledAttention(attention))
    monkeypatch.setattr(stub, "products", lambda: CompiledLinear(products))
    out = io.StringIO()
    small_set.run(Teller((), out), (), True)
    rows = [row for row in map(told, out.getvalue().splitlines()) if isinstance(row, Row)]
    assert {row.item.partition(",")[0] for row in rows if row.outcome == "failed"} == wrong
