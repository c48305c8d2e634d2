"""The 4-bit float of bitsandbytes."""

import pytest
import torch
from quantized_weights import relative, seeded
from skip_rules import skip_module_without

from mezzotint.families.loading.original_names import THIRDS
from mezzotint.families.loading.stored_layers import WholeLayer, rows_of
from mezzotint.quantization.formats import Nf4
from mezzotint.quantization.fp4 import Fp4, fp4_values

skip_module_without("bitsandbytes")

TWICE = pytest.mark.parametrize("double", [False, True])


def test_codes_stand_for_what_they_do_in_bitsandbytes():
    from bitsandbytes.functional import get_4bit_type

    assert fp4_values().equal(get_4bit_type("fp4", device="cpu"))


@TWICE
def test_each_number_is_the_nearest(double):
    weight = seeded(24, 64)
    tensors = Fp4(double=double).quantize(weight)
    back = Fp4(double=double).dequantize(tensors, weight.shape, torch.float32)
    assert relative(back, weight) < 0.2
    largest = weight.abs().amax(dim=1, keepdim=True)
    nearest = (weight[..., None] - largest[..., None] * fp4_values()).abs().amin(dim=2)
    assert float(((back - weight).abs() - nearest).max()) < (0.05 if double else 1e-6)
    x = seeded(3, 64, seed=1)
    torch.testing.assert_close(Fp4(double=double).product(x, tensors, weight.shape), x @ back.T)


@TWICE
@pytest.mark.parametrize("kind", [Nf4, Fp4])
def test_rows_of_whole_blocks_can_be_taken_apart(kind, double):
    weight, format_ = seeded(12, 128), kind(double=double)
    tensors = format_.quantize(weight)
    whole = WholeLayer(weight_name="qkv.weight", format=format_, shape=(12, 128), tensors=tensors, bytes=100)
    parts = [rows_of(whole, part) for part in THIRDS]
    assert [part.format for part in parts] == [kind(double=False)] * 3
    back = [part.format.dequantize(part.tensors, torch.Size(part.shape), torch.float32) for part in parts]
    assert torch.equal(torch.cat(back), format_.dequantize(tensors, weight.shape, torch.float32))
