"""Every format keeps its word: the tensors it describes, the product of the weight it stands for, what it refuses."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from quantized_weights import relative, seeded, weights
from torch.nn import functional

from mezzotint.errors import ModelRefused
from mezzotint.quantization.codebook4 import Codebook4
from mezzotint.quantization.formats import Int4, Int8, LowRank4, Nf4
from mezzotint.quantization.int4 import INPUT_SHARES, clipped_rows, unpack
from mezzotint.quantization.rotation import rotate
from mezzotint.quantization.svdquant.format import SvdQuant

DYNAMIC = [Int8(dynamic=True), Int8(dynamic=True, group=16), Int8(dynamic=True, group=64)]
STATIC = [
    Int8(dynamic=False),
    Int8(dynamic=False, group=64),
    Nf4(double=False),
    Nf4(double=True),
    LowRank4(rank=5, group=64, dynamic=False),
    Int4(dynamic=False, group=64),
    Codebook4(dynamic=False, group=64),
    SvdQuant(rank=5, group=64, dynamic=False),
]
LOW_RANK = [LowRank4(rank=4), LowRank4(rank=3, group=16), LowRank4(rank=32, group=64)]
INT4 = [Int4(), Int4(group=16), Int4(group=64)]
SVDQUANT = [SvdQuant(rank=4), SvdQuant(rank=32, group=64)]
ALL = [*DYNAMIC, *STATIC, *LOW_RANK, *INT4, *SVDQUANT, Codebook4(), Codebook4(group=64)]
EACH = pytest.mark.parametrize("format_", ALL, ids=str)
ERROR = {"int8": 0.008, "int8-weight": 0.008, "int4": 0.11, "int4-lowrank": 0.115, "int4-rot": 0.125}
ERROR |= {"int4-codebook": 0.08, "svdquant": 0.1}


def whole(format_, tensors, shape):
    return format_.dequantize(tensors, shape, torch.float32)


@EACH
@given(weight=weights(columns=256, multiple=64))
def test_it_makes_the_tensors_that_it_describes(format_, weight):
    tensors, described = format_.quantize(weight), format_.part_specs(tuple(weight.shape))
    assert list(tensors) == list(described)
    for name, tensor in tensors.items():
        assert (tuple(tensor.shape), tensor.dtype) == (described[name].shape, described[name].dtype), name
        assert tensor.nbytes == described[name].bytes and tensor.is_contiguous()
        assert tensor.float().isfinite().all()


@given(n=st.integers(1, 40), k=st.integers(1, 90), double=st.booleans())
def test_nf4_and_plain_int8_take_any_width(n, k, double):
    for format_ in (Nf4(double=double), Int8(dynamic=True), Int8(dynamic=False)):
        assert format_.shape_problem((n, k)) is None
        weight, x = seeded(n, k), seeded(3, k)
        tensors = format_.quantize(weight)
        assert {name: (tuple(each.shape), each.dtype) for name, each in tensors.items()} == {
            name: (each.shape, each.dtype) for name, each in format_.part_specs((n, k)).items()
        }
        assert format_.product(x, tensors, weight.shape).shape == (3, n)


@given(shape=st.tuples(*[st.integers(1, 5)] * 4))
def test_weights_of_convolutions_are_rounded_for_each_output(shape):
    weight, format_ = seeded(*shape), Int8(dynamic=False)
    assert format_.shape_problem(shape) is None
    tensors = format_.quantize(weight)
    assert tensors["weight"].shape == shape and tensors["weight_scale"].shape == (shape[0], 1)
    off = (format_.dequantize(tensors, weight.shape, torch.float32) - weight).abs()
    assert (off <= tensors["weight_scale"][:, :, None, None] * 0.5001).all()


def test_pixels_are_of_3x3_convolutions_that_kernels_take():
    format_ = Int8(dynamic=False, pixels=True)
    assert format_.shape_problem((8, 64, 3, 3)) is None
    for shape in ((8, 64, 1, 1), (12, 64, 3, 3), (8, 48, 3, 3), (8, 64)):
        assert "8-bit pixels need 3x3 convolutions of multiples of 64 to 8 channels" in format_.shape_problem(shape)


@EACH
def test_little_is_lost(format_):
    weight = seeded(128, 512)
    assert relative(whole(format_, format_.quantize(weight), weight.shape), weight) < ERROR[format_.scheme]


@EACH
@given(weight=weights(columns=256, multiple=64), data=st.data())
def test_what_is_turned_back_is_turned_the_same_again(format_, weight, data):
    tensors = format_.quantize(weight)
    found = whole(format_, tensors, weight.shape)
    assert found.shape == weight.shape and found.isfinite().all()
    dtype = data.draw(st.sampled_from([torch.float16, torch.bfloat16]))
    assert format_.dequantize(tensors, weight.shape, dtype).equal(found.to(dtype))
    zeros = weight.eq(0).all(dim=1)
    assert (found[zeros].abs() <= 1e-6 * weight.abs().max()).all()


@pytest.mark.parametrize("format_", STATIC, ids=str)
@given(weight=weights(columns=256, multiple=64), rows=st.integers(1, 64))
def test_products_of_weights_alone_are_those_of_the_weight_turned_back(format_, weight, rows):
    x, tensors = seeded(rows, weight.shape[1], seed=1), format_.quantize(weight)
    wanted = functional.linear(x, whole(format_, tensors, weight.shape))
    assert format_.product(x, tensors, weight.shape).equal(wanted)


@pytest.mark.parametrize("format_", [*DYNAMIC, *LOW_RANK], ids=str)
@given(weight=weights(columns=256, multiple=64), rows=st.integers(1, 64), loud=st.booleans())
def test_products_of_integers_are_off_by_no_more_than_rounding_x_explains(format_, weight, rows, loud):
    x, tensors = seeded(rows, weight.shape[1], seed=1), format_.quantize(weight)
    x[:, 0] *= 300 if loud else 1
    x[rows // 2 + 1 :] = 0
    turned_back = whole(format_, tensors, weight.shape)
    wanted = x.double() @ turned_back.double().T
    rotated = rotate(x, format_.group)
    step = rotated.abs().amax(dim=1, keepdim=True).double() / 127
    thin = tensors["weight_up"].double() @ tensors["weight_down"].double() if "weight_up" in tensors else 0
    rounded = rotate((turned_back - thin).float(), format_.group).double()
    bound = 0.5 * step * rounded.abs().sum(dim=1) * 1.001
    slack = 1e-5 * (x.double().abs() @ turned_back.double().abs().T) + 1e-30
    found = format_.product(x, tensors, weight.shape)
    assert ((found - wanted).abs() <= bound + slack).all()


@EACH
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("leading", [(), (1,), (2, 3), (2, 1, 5)])
def test_products_have_the_shape_and_the_format_of_x(format_, dtype, leading):
    weight = seeded(24, 128)
    x = seeded(*leading, 128).to(dtype)
    y = format_.product(x, format_.quantize(weight), weight.shape)
    assert y.shape == (*leading, 24) and y.dtype == dtype
    assert relative(y.float(), functional.linear(x.float(), weight)) < 0.25


@pytest.mark.parametrize("format_", DYNAMIC[1:], ids=str)
def test_a_rotation_of_sixteen_bits_does_not_overflow(format_):
    weight = seeded(24, 128) / 1000
    x = torch.full((2, 128), 60_000.0, dtype=torch.float16)
    y = format_.product(x, format_.quantize(weight), weight.shape)
    assert relative(y.float(), functional.linear(x.float(), weight)) < 0.02


@EACH
def test_rows_do_not_see_each_other(format_):
    weight, x = seeded(24, 128), seeded(40, 128)
    tensors = format_.quantize(weight)
    together = format_.product(x, tensors, weight.shape)
    alone = torch.cat([format_.product(row, tensors, weight.shape) for row in x.split(1)])
    torch.testing.assert_close(alone, together, rtol=1e-5, atol=3e-5)  # of a branch in float32


@EACH
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 1e30])
def test_numbers_that_cannot_be_are_refused(format_, value):
    weight = seeded(8, 64)
    weight[3, 9] = value
    with pytest.raises(ModelRefused, match="NaN, infinity or values beyond"):
        format_.quantize(weight)


@EACH
@given(weight=weights(columns=256, multiple=64))
def test_the_same_weight_gives_the_same_tensors(format_, weight):
    first, second = format_.quantize(weight), format_.quantize(weight)
    assert all(tensor.equal(second[name]) for name, tensor in first.items())


@pytest.mark.parametrize(
    ("format_", "shape", "why"),
    [
        (Int8(dynamic=True), (8, 4, 3, 3), "has 4 dimensions instead of 2"),
        (Int8(dynamic=False, group=16), (8, 16, 3, 3), "has 4 dimensions"),
        (Int8(dynamic=False), (8,), "has 1 dimensions"),
        (Int8(dynamic=False), (8, 4, 0, 3), "is empty"),
        (Int8(dynamic=True), (0, 4), "is empty"),
        (Int8(dynamic=True, group=64), (8, 96), "96 columns are not a multiple of the rotation's group size 64"),
        (Nf4(), (8, 4, 3, 3), "has 4 dimensions"),
        (Nf4(), (), "has 0 dimensions"),
        (LowRank4(), (8, 4, 3, 3), "has 4 dimensions"),
        (LowRank4(), (8, 96), "96 columns are not a multiple of the block size 64"),
        (LowRank4(group=256), (8, 128), "128 columns are not a multiple of the rotation's group size 256"),
    ],
)
def test_what_does_not_fit_is_said(format_, shape, why):
    assert why in format_.shape_problem(shape)


@EACH
def test_what_fits_is_taken(format_):
    assert format_.shape_problem((320, 1280)) is None


@pytest.mark.parametrize("format_", INT4, ids=str)
def test_products_of_4_bits_are_those_of_both_rounded(format_):
    """As the kernels compute them: exact sums of integers, times the scales of both rows."""
    weight, x = seeded(48, 256), seeded(20, 256, seed=1)
    tensors = format_.quantize(weight)
    codes, scale = clipped_rows(rotate(x, format_.group), INPUT_SHARES)
    sums = codes.double() @ unpack(tensors["weight"]).double().T
    wanted = (sums * scale * tensors["weight_scale"].T).float()
    assert torch.allclose(format_.product(x, tensors, weight.shape), wanted, rtol=1e-5, atol=1e-6)
    assert 0.1 < relative(wanted, x @ weight.T) < 0.2


def test_an_odd_number_of_columns_is_no_whole_number_of_bytes():
    assert Int4().shape_problem((8, 33)) == "33 columns are odd, and two share a byte"
    assert Int4(dynamic=False).shape_problem((8, 34)) is None
