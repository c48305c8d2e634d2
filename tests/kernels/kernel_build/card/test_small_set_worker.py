"""A kernel that computes something else shows, whatever a sanitizer says."""

import io

import pytest
from fake_kernels import FakeKernels
from fake_products import FakeProducts

from kernel_build.card import small_set_worker, stub
from kernel_build.card.protocol import Row, Teller, told
from mezzotint.attention.compiled import CompiledAttention
from mezzotint.quantization.products.compiled import CompiledLinear


@pytest.mark.parametrize(
    ("attention", "products", "wrong"),
    [
        (FakeKernels("wrong"), FakeProducts(), {"attention"}),
        (FakeKernels(), FakeProducts("nan"), {"product"}),
        (FakeKernels(), FakeProducts(), set()),
    ],
)
def test_what_is_wrong_is_told(monkeypatch, attention, products, wrong):
    monkeypatch.setattr(stub, "attention", lambda: CompiledAttention(attention))
    monkeypatch.setattr(stub, "products", lambda: CompiledLinear(products))
    out = io.StringIO()
    small_set_worker.run(Teller((), out), (), True)
    rows = [row for row in map(told, out.getvalue().splitlines()) if isinstance(row, Row)]
    assert {row.item.partition(",")[0] for row in rows if row.outcome == "failed"} == wrong
