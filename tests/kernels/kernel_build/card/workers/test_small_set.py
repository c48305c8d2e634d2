"""A kernel that computes something else shows, whatever a sanitizer says."""

import io

import pytest
from fake_backward import FakeBackward
from fake_kernels import FakeKernels
from fake_products import FakeProducts

from kernel_build.card import stub
from kernel_build.card.protocol import Row, Teller, told
from kernel_build.card.workers import small_set
from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.compiled_backward import CompiledBackward
from mezzotint.quantization.products.compiled import CompiledLinear


@pytest.mark.parametrize(
    ("attention", "backward", "products", "wrong"),
    [
        (FakeKernels("wrong"), FakeBackward(), FakeProducts(), {"attention"}),
        (FakeKernels(), FakeBackward("wrong"), FakeProducts(), {"gradients"}),
        (FakeKernels(), FakeBackward(), FakeProducts("nan"), {"product"}),
        (FakeKernels(), FakeBackward(), FakeProducts(), set()),
    ],
)
def test_what_is_wrong_is_told(monkeypatch, attention, backward, products, wrong):
    monkeypatch.setattr(stub, "attention_backward", lambda: CompiledBackward(backward))
    monkeypatch.setattr(stub, "attention", lambda: CompiledAttention(attention))
    monkeypatch.setattr(stub, "products", lambda: CompiledLinear(products))
    out = io.StringIO()
    small_set.run(Teller((), out), (), True)
    rows = [row for row in map(told, out.getvalue().splitlines()) if isinstance(row, Row)]
    assert {row.item.partition(",")[0] for row in rows if row.outcome == "failed"} == wrong
