"""Blocks of GGUF files stand for the numbers that the gguf package says, to the bit; in pieces, by rows, compiled."""

import numpy as np
import pytest
import torch
from gguf_blocks import HALVES, dequantized_by_gguf, packed_rows
from quantized_weights import seeded
from skip_rules import skip_module_without

from mezzotint.dispatch.library import Preparation
from mezzotint.errors import ModelRefused
from mezzotint.families.loading.original_names import THIRDS, Rows
from mezzotint.families.loading.stored_layers import WholeLayer, rows_of
from mezzotint.quantization import gguf_blocks
from mezzotint.quantization.gguf_blocks import KINDS, GgufBlocks
from mezzotint.quantization.linear import QuantizedWeight
from mezzotint.quantization.products.operation import compiled_product

skip_module_without("gguf")

SHAPE = (24, 512)
EACH = pytest.mark.parametrize("kind", KINDS)


def tensors(kind, shape=SHAPE):
    return {"weight": torch.from_numpy(packed_rows(kind, shape))}


def wanted(kind, shape=SHAPE):
    return torch.from_numpy(dequantized_by_gguf(kind, packed_rows(kind, shape)).copy())


def test_every_kind_that_a_header_takes_is_tested():
    assert set(KINDS) == set(HALVES)


@EACH
def test_numbers_are_those_of_the_package(kind):
    format_ = GgufBlocks(kind=kind)
    found = format_.dequantize(tensors(kind), torch.Size(SHAPE), torch.float32)
    assert found.equal(wanted(kind))
    assert format_.part_specs(SHAPE)["weight"].shape == tuple(tensors(kind)["weight"].shape)
    half = format_.dequantize(tensors(kind), torch.Size(SHAPE), torch.bfloat16)
    assert half.equal(wanted(kind).bfloat16())


@EACH
def test_pieces_make_the_same_weight(kind, monkeypatch):
    monkeypatch.setattr(gguf_blocks, "_PIECE", 1024)
    assert GgufBlocks(kind=kind).dequantize(tensors(kind), torch.Size(SHAPE), torch.float32).equal(wanted(kind))


@EACH
def test_products_eager_and_compiled(kind):
    format_, x = GgufBlocks(kind=kind), seeded(3, SHAPE[1])
    found = format_.product(x, tensors(kind), torch.Size(SHAPE))
    torch.testing.assert_close(found, x @ wanted(kind).T)
    weight = QuantizedWeight(format=format_, tensors=tensors(kind), shape=torch.Size(SHAPE))
    with torch.inference_mode():
        assert torch.equal(compiled_product(x, weight, None, None, Preparation.AS_IT_IS), found)


@pytest.mark.parametrize("kind", ["Q8_0", "Q4_K"])
def test_rows_of_a_layer_are_rows_of_its_weight(kind):
    format_ = GgufBlocks(kind=kind)
    whole = WholeLayer(weight_name="qkv.weight", format=format_, shape=SHAPE, tensors=tensors(kind), bytes=100)
    for number, part in enumerate(THIRDS):
        found = rows_of(whole, part)
        back = format_.dequantize(found.tensors, torch.Size(found.shape), torch.float32)
        assert back.equal(wanted(kind)[8 * number : 8 * (number + 1)])
    with pytest.raises(ModelRefused, match="cannot be taken apart"):
        rows_of(whole, Rows(first=0, count=1, of=5))


@pytest.mark.parametrize(
    ("kind", "shape", "why"),
    [
        ("Q8_0", (4, 48), "48 columns are not a multiple of the block size 32"),
        ("Q4_K", (4, 128), "multiple of the block size 256"),
        ("Q8_0", (4,), ""),
    ],
)
def test_shapes_that_cannot_be_packed(kind, shape, why):
    assert (
        why in str(GgufBlocks(kind=kind).shape_problem(shape))
        and GgufBlocks(kind=kind).shape_problem(shape) is not None
    )
    assert GgufBlocks(kind=kind).shape_problem((4, 512)) is None


def test_it_is_read_and_not_made():
    with pytest.raises(ModelRefused, match="cannot be made"):
        GgufBlocks(kind="Q8_0").quantize(torch.ones(4, 32))
    assert np.array_equal(packed_rows("Q8_0", (2, 64)), packed_rows("Q8_0", (2, 64)))
