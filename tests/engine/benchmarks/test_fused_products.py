"""What is computed around products, beside a copy or torch; by the stopwatch of the other benchmark."""

from dataclasses import replace

import pytest
import torch
from fake_group_norm import FakeGroupNorm
from fake_products import FakeProducts

from mezzotint.benchmarks import products
from mezzotint.benchmarks.attention import quiet
from mezzotint.benchmarks.fused_products import measure_fused
from mezzotint.benchmarks.product_shapes import CONVOLUTIONS, FUSED, GATED, GROUP_NORMS, JOINED, MODULATED, ProductShape
from mezzotint.normalization.compiled import CompiledGroupNorm
from mezzotint.quantization.products.compiled import CompiledLinear

SMALL: tuple[ProductShape, ...] = (
    replace(MODULATED, rows=20, columns=128),
    replace(GATED, rows=20, columns=128, outputs=64),
    replace(JOINED, rows=20, columns=64, outputs=384),
    replace(GROUP_NORMS[0], rows=32, columns=64),
    replace(CONVOLUTIONS[0], rows=64, columns=64, outputs=64, width=8),
)


def rows_of(monkeypatch, shapes=SMALL, fault=None):
    monkeypatch.setattr(products, "milliseconds", lambda calls, device: [call() for call in calls] and 2.0)
    kernels = CompiledLinear(FakeProducts(fault)), CompiledGroupNorm(FakeGroupNorm(fault))
    with quiet():
        made = measure_fused(torch.device("cpu"), torch.float16, *kernels, lambda *_: True, shapes)
        return {(row.shape, row.implementation): row for row in made}


def test_ours_beside_a_copy_or_torch(monkeypatch):
    rows = rows_of(monkeypatch)
    ours = ["mezzotint rows", "mezzotint int8", "mezzotint int8", "mezzotint group norm", "mezzotint int8 convolution"]
    peers = ["copy", "torch linear", "torch linear", "copy", "torch convolution"]
    assert list(rows) == [(s.name, one) for s, *pair in zip(SMALL, peers, ours, strict=True) for one in pair]
    assert all(row.problem is None and row.milliseconds == 2.0 for row in rows.values())
    assert all(rows[shape.name, name].ratio == 1.0 for shape, name in zip(SMALL, ours, strict=True))
    assert all(0 < rows[shape.name, name].error < 0.02 for shape, name in zip(SMALL[1:], ours[1:], strict=True))
    assert all(rows[shape.name, "torch linear"].error < 1e-3 for shape in SMALL[1:3])


@pytest.mark.parametrize("shape", SMALL[1:], ids=lambda shape: shape.name)
def test_what_is_wrong_has_a_large_error(monkeypatch, shape):
    (row,) = (row for (_, name), row in rows_of(monkeypatch, [shape], "wrong").items() if "mezzotint" in name)
    assert row.error > 0.03


def test_a_row_for_each_shape():
    assert len({shape.name for shape in FUSED}) == len(FUSED) == 8
    assert all(len(shape.name.partition(": ")[1]) == 0 for shape in FUSED)
