"""NF4 is bitsandbytes' NF4: the same codes, magnitudes and nested magnitudes, bit for bit."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from quantized_weights import seeded, weights

from mezzotint.quantization.formats import Nf4
from mezzotint.quantization.nf4 import (
    BLOCK,
    NESTED_BLOCK,
    dequantize_nf4,
    dynamic_values,
    nest,
    nf4_values,
    quantize_nf4,
    unnest,
)

_WIDEST = float((nf4_values()[1:] - nf4_values()[:-1]).max()) / 2
_LOOKED_UP = 2**-15  # how finely bitsandbytes' own search on a CPU looks at numbers from -1 to 1


def hard(rows, columns, dtype=torch.float32):
    weight = seeded(rows, columns)
    weight[0, 0] = 40
    weight[rows // 2 :, : columns // 2] *= 1e-3
    weight[-1] = 0
    return weight.to(dtype)


@given(weights())
def test_every_number_becomes_the_nearest_of_sixteen(weight):
    packed, largest = quantize_nf4(weight)
    numbers = weight.numel()
    assert packed.dtype == torch.uint8 and packed.shape == (math.ceil(numbers / 2), 1)
    assert largest.shape == (math.ceil(numbers / BLOCK),)
    found = dequantize_nf4(packed, largest, weight.shape, torch.float32)
    of_each = largest.double().repeat_interleave(BLOCK)[:numbers].view(weight.shape)
    normal = (of_each > 1e-37) | (weight == 0)
    assert ((found.double() - weight.double()).abs() <= of_each * _WIDEST * 1.0001)[normal].all()
    assert found[weight.eq(0)].eq(0).all()


@given(st.integers(1, 700), st.sampled_from([0.0, 1.0, 1e-3, 1e4]), st.integers(0, 99))
def test_magnitudes_are_nested_to_a_hundredth_of_their_range(blocks, spread, seed):
    largest = (5 + spread * seeded(blocks, seed=seed)).abs()
    nested = nest(largest)
    assert nested.codes.shape == (blocks,) and nested.scales.shape == (math.ceil(blocks / NESTED_BLOCK),)
    range_ = nested.scales.repeat_interleave(NESTED_BLOCK)[:blocks]
    assert ((unnest(nested) - largest).abs() <= range_ * 0.0071 + 1e-6 * largest.max()).all()


def test_the_values_are_ascending_and_hold_zero_and_one():
    for values in (nf4_values(), dynamic_values()):
        assert values.diff().gt(0).all() and 0 in values and values[-1] == 1
    assert dynamic_values().shape == (256,)


@pytest.mark.requires_package("bitsandbytes")
def test_the_values_are_bitsandbytes_own():
    from bitsandbytes.functional import create_dynamic_map, get_4bit_type

    assert nf4_values().equal(get_4bit_type("nf4", device="cpu"))
    assert dynamic_values().equal(create_dynamic_map())


@pytest.mark.requires_package("bitsandbytes")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("shape", [(640, 1280), (7, 64), (32, 2), (33, 192)])
def test_codes_and_magnitudes_are_bitsandbytes_own(shape, dtype):
    from bitsandbytes.functional import dequantize_4bit, quantize_4bit

    weight = hard(shape[0], shape[1], dtype)
    theirs, state = quantize_4bit(weight, quant_type="nf4")
    packed, largest = quantize_nf4(weight)
    assert packed.equal(theirs) and largest.equal(state.absmax)
    found = dequantize_nf4(packed, largest, weight.shape, dtype)
    assert found.equal(dequantize_4bit(theirs, state))


@pytest.mark.requires_package("bitsandbytes")
@pytest.mark.parametrize("shape", [(33, 65), (3, 5), (1, 1), (9, 63)])
def test_so_are_those_of_weights_that_end_amid_a_block(shape):
    from bitsandbytes.functional import quantize_4bit

    weight = seeded(*shape)
    theirs, state = quantize_4bit(weight, quant_type="nf4")
    packed, largest = quantize_nf4(weight)
    assert packed.equal(theirs) and largest.equal(state.absmax)


@pytest.mark.requires_package("bitsandbytes")
@pytest.mark.parametrize("shape", [(640, 1280), (33, 192), (3, 64), (1, 1)])
def test_nested_magnitudes_are_those_of_bitsandbytes_plain_arithmetic(shape):
    from bitsandbytes.functional import quantize_4bit

    weight = seeded(*shape) * torch.logspace(-2, 1, shape[0])[:, None]
    _, state = quantize_4bit(weight, quant_type="nf4", compress_statistics=True)
    _, largest = quantize_nf4(weight)
    ours = nest(largest)
    assert ours.offset == state.offset.item()
    assert ours.scales.equal(state.state2.absmax)
    # For numbers of 64 bits it has no fast path, which looks values up in a table and takes a second nearest at times.
    plain = torch.ops.bitsandbytes.quantize_blockwise.default
    theirs, _ = plain((largest - ours.offset).double(), dynamic_values(), NESTED_BLOCK)
    whole = largest.numel() - largest.numel() % NESTED_BLOCK
    assert ours.codes[:whole].equal(theirs[:whole])
    assert int((ours.codes[whole:] != theirs[whole:]).sum()) <= 1  # the last block is divided there, not multiplied


@pytest.mark.requires_package("bitsandbytes")
def test_where_its_fast_path_differs_the_number_lies_between_two_values():
    from bitsandbytes.functional import quantize_4bit

    weight = hard(1000, 1280)
    _, state = quantize_4bit(weight, quant_type="nf4", compress_statistics=True)
    tensors = Nf4(double=True).quantize(weight)
    other = tensors["absmax"] != state.absmax
    assert 0 <= int(other.sum()) <= 0.01 * other.numel()
    ours, theirs = tensors["absmax"][other].long(), state.absmax[other].long()
    assert (ours - theirs).abs().eq(1).all()
    _, largest = quantize_nf4(weight)
    scales = tensors["nested_absmax"].repeat_interleave(NESTED_BLOCK)[: largest.numel()]
    number = ((largest - tensors["nested_offset"]) / scales)[other]
    values = dynamic_values()
    nearer, farther = (values[ours] - number).abs(), (values[theirs] - number).abs()
    assert (nearer <= farther).all() and (farther - nearer <= _LOOKED_UP).all()


@pytest.mark.requires_package("bitsandbytes")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_its_doubly_quantized_weights_are_turned_back_as_it_does(dtype):
    from bitsandbytes.functional import dequantize_4bit, quantize_4bit

    weight = hard(320, 640, dtype)
    packed, state = quantize_4bit(weight, quant_type="nf4", compress_statistics=True)
    tensors = {
        "weight": packed,
        "absmax": state.absmax,
        "nested_absmax": state.state2.absmax,
        "nested_offset": state.offset,
    }
    assert Nf4(double=True).dequantize(tensors, weight.shape, dtype).equal(dequantize_4bit(packed, state))
