"""Rows are rounded to the nearest, products are exact, and both are what ComfyUI's own library gives."""

import pytest
import torch
from fake_card.install import fake_card
from hypothesis import given
from hypothesis import strategies as st
from quantized_weights import relative, seeded, weights

from mezzotint.quantization.formats import integer_product
from mezzotint.quantization.int8 import multiply, quantize_rows
from mezzotint.quantization.rotation import rotate


@given(weights())
def test_no_number_is_off_by_more_than_half_a_step(x):
    rows, scale = quantize_rows(x)
    assert rows.dtype == torch.int8 and rows.shape == x.shape and scale.shape == (x.shape[0], 1)
    off = (rows.double() * scale.double() - x.double()).abs()
    assert (off <= scale.double() * 0.5001).all()


@given(weights())
def test_the_largest_of_a_row_becomes_127_and_zeros_have_scale_1(x):
    rows, scale = quantize_rows(x)
    normal = x.abs().amax(dim=1) > 1e-35
    assert rows[normal].abs().amax(dim=1).eq(127).all()
    zeros = x.eq(0).all(dim=1)
    assert rows[zeros].eq(0).all() and scale[zeros].eq(1).all()


def test_halves_go_to_the_even_neighbour():
    rows, scale = quantize_rows(torch.tensor([[127.0, 0.5, 1.5, 2.5, -0.5, -1.5, 126.5]]))
    assert scale.item() == 1
    assert rows.tolist() == [[127, 0, 2, 2, 0, -2, 126]]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_sixteen_bits_are_rounded_as_if_they_were_32(dtype):
    x = (seeded(9, 130) * 50).to(dtype)
    rows, scale = quantize_rows(x)
    wanted, wanted_scale = quantize_rows(x.float())
    assert rows.equal(wanted) and scale.equal(wanted_scale) and scale.dtype == torch.float32


def test_rows_of_nothing():
    rows, scale = quantize_rows(torch.zeros(3, 0))
    assert rows.shape == (3, 0) and scale.tolist() == [[1], [1], [1]]


@given(m=st.integers(1, 64), n=st.integers(1, 70), k=st.integers(1, 300), seed=st.integers(0, 2**16))
def test_products_are_those_of_64_bit_integers(m, n, k, seed):
    random = torch.Generator().manual_seed(seed)
    a = torch.randint(-128, 128, (m, k), generator=random).to(torch.int8)
    b = torch.randint(-128, 128, (n, k), generator=random).to(torch.int8)
    product = multiply(a, b)
    assert product.dtype == torch.int32
    assert product.long().equal(a.long() @ b.long().T)


@pytest.mark.parametrize("value", [-128, 127])
def test_the_largest_products_do_not_overflow(value):
    a, b = torch.full((3, 10_240), value, dtype=torch.int8), torch.full((5, 10_240), -128, dtype=torch.int8)
    assert multiply(a, b).unique().tolist() == [value * -128 * 10_240]


def test_columns_of_a_larger_tensor_are_multiplied_as_they_are():
    whole = torch.randint(-128, 128, (40, 96), generator=torch.Generator().manual_seed(1)).to(torch.int8)
    a, b = whole[:, :50], whole.T[:24, :].T[:, :24]
    assert multiply(a[:, :24], b).long().equal(a[:, :24].long() @ b.long().T)


@pytest.mark.requires_package("comfy_kitchen")
@pytest.mark.parametrize("group", [0, 16, 64, 256])
def test_weights_are_rounded_as_comfy_kitchen_rounds_them(group):
    from comfy_kitchen.backends.eager.quantization import quantize_int8_convrot_weight, quantize_int8_rowwise

    weight = seeded(640, 1280) * torch.logspace(-3, 2, 640)[:, None]
    weight[5, 7], weight[9] = 900.0, 0
    theirs, their_scale = quantize_int8_convrot_weight(weight, group) if group else quantize_int8_rowwise(weight)
    ours, scale = quantize_rows(rotate(weight, group))
    off = (ours.int() - theirs.int()).abs()
    assert off.max() <= 1
    assert off.sum() <= 1e-4 * off.numel()
    kept = weight.ne(0).any(dim=1)
    torch.testing.assert_close(scale[kept], their_scale[kept], rtol=1e-6, atol=0)


@pytest.mark.requires_package("comfy_kitchen")
@given(
    m=st.integers(1, 64),
    n=st.integers(1, 48),
    groups=st.integers(1, 6),
    group=st.sampled_from([0, 16, 64]),
    loud=st.booleans(),
)
def test_products_are_comfy_kitchens(m, n, groups, group, loud):
    from comfy_kitchen.backends.eager.quantization import int8_linear

    x, weight = seeded(2, m, groups * max(group, 8)), seeded(n, groups * max(group, 8), seed=1)
    x[..., 3] *= 500 if loud else 1
    rows, scale = quantize_rows(rotate(weight, group))
    convrot = {"convrot": True, "convrot_groupsize": group} if group else {}
    theirs = int8_linear(x, rows, scale, None, torch.float32, **convrot)
    assert relative(integer_product(x, rows, scale, group), theirs) < 1e-3


def test_where_torch_has_no_product_of_integers_that_of_float32_is_exact():
    a, b = (torch.full((rows, 2101), value, dtype=torch.int8) for rows, value in ((5, 127), (3, -127)))
    with fake_card(2**24, device_type="mps"), torch.inference_mode():
        found = multiply(a.to("mps"), b.to("mps")).cpu()
    assert found.equal(multiply(a, b)) and found.dtype == torch.int32
    assert found[0, 0] == -(127**2) * 2101
