"""What is known of layers: their sizes and influences."""

import pytest
import torch

from mezzotint.conversion.auto.layers import Recording, format_bytes, influences, unquantized
from mezzotint.quantization.formats import Int8, Nf4


def test_bytes_are_those_of_the_tensors():
    weight = torch.randn(64, 128)
    for chosen in (Int8(dynamic=True), Nf4(), Nf4(double=False)):
        assert format_bytes(chosen, (64, 128)) == sum(each.nbytes for each in chosen.quantize(weight).values())
    assert unquantized((64, 128)).bytes == weight.half().nbytes


def test_a_layer_that_was_not_measured_is_like_those_of_its_kind():
    known = {
        "blocks.0.q": Recording(influence=1.0),
        "blocks.1.q": Recording(influence=3.0),
        "blocks.2.q": Recording(),
        "blocks.0.k": Recording(influence=8.0),
        "head": Recording(),
    }
    found = influences(known)
    assert found == {"blocks.0.q": 1, "blocks.1.q": 3, "blocks.2.q": 2, "blocks.0.k": 8, "head": 4}


def test_without_any_influence_all_are_equal():
    assert influences({"a": Recording(), "b": Recording()}) == {"a": 1.0, "b": 1.0}


def test_rows_of_several_calls_are_one_table():
    assert Recording().samples is None
    recorded = Recording(rows=[torch.zeros(2, 3), torch.ones(1, 3)])
    assert recorded.samples is not None and recorded.samples.shape == (3, 3)
    assert float(recorded.samples.sum()) == pytest.approx(3)


def test_magnitudes_are_the_root_mean_squares_of_columns():
    assert Recording().magnitudes is None
    rows = [torch.tensor([[3.0, 0.0]]), torch.tensor([[4.0, -2.0]])]
    magnitudes = Recording(rows=[each.half() for each in rows]).magnitudes
    assert magnitudes is not None and magnitudes.dtype == torch.float32
    assert magnitudes.tolist() == pytest.approx([12.5**0.5, 2**0.5])
