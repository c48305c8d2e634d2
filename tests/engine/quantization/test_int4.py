"""Codes of 4 bits: how they lie in bytes, that they unpack within 8 bits, and that the scales chosen are the best."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from quantized_weights import relative, seeded, weights

from mezzotint.quantization import int4
from mezzotint.quantization.int4 import (
    GROUP,
    INPUT_SHARES,
    LARGEST_GROUP_SCALE,
    clipped_rows,
    pack,
    quantize_int4,
    to_int8,
    unpack,
)


@given(rows=st.integers(1, 30), pairs=st.integers(1, 90), seed=st.integers(0, 999))
def test_what_is_packed_comes_back(rows, pairs, seed):
    random = torch.Generator().manual_seed(seed)
    codes = torch.randint(-8, 8, (rows, 2 * pairs), generator=random).to(torch.int8)
    packed = pack(codes)
    assert packed.dtype == torch.uint8 and packed.shape == (rows, pairs)
    assert unpack(packed).equal(codes)


def test_the_even_column_is_the_low_half_in_twos_complement():
    assert pack(torch.tensor([[1, 2, -1, 7, -7, 0]], dtype=torch.int8)).tolist() == [[0x21, 0x7F, 0x09]]


@given(weights(columns=256, multiple=GROUP))
def test_codes_unpack_to_eight_bits_near_the_weight(weight):
    packed, group_scale, scale = quantize_int4(weight)
    rows, columns = weight.shape
    assert packed.shape == (rows, columns // 2) and scale.shape == (rows, 1)
    assert group_scale.shape == (rows, columns // GROUP) and group_scale.dtype == torch.uint8
    assert int(group_scale.min()) >= 1 and int(group_scale.max()) <= LARGEST_GROUP_SCALE
    whole = to_int8(packed, group_scale)
    wide = unpack(packed).long().view(rows, -1, GROUP) * group_scale.long()[:, :, None]
    assert whole.long().equal(wide.flatten(1)) and int(wide.abs().max()) <= 127
    off = (whole.double() * scale.double() - weight.double()).abs()
    assert (off <= weight.double().abs().amax(dim=1, keepdim=True) * 0.301 + 1e-40).all()


@given(weights(columns=256, multiple=GROUP))
def test_no_group_is_served_better_by_its_whole_range(weight):
    packed, group_scale, scale = quantize_int4(weight)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(int4, "_SHRINKINGS", (1.0,))
        plain, plain_group_scale, _ = quantize_int4(weight)
    groups = (weight.shape[0], -1, GROUP)
    target = (weight / scale).view(groups)
    found, other = to_int8(packed, group_scale).view(groups), to_int8(plain, plain_group_scale).view(groups)
    error, other_error = (found - target).square().sum(dim=2), (other - target).square().sum(dim=2)
    assert (error <= other_error * 1.0001).all()


def test_what_is_lost_of_normal_numbers():
    weight = seeded(256, 1024)
    packed, group_scale, scale = quantize_int4(weight)
    assert relative(to_int8(packed, group_scale) * scale, weight) < 0.115


def test_rows_of_zeros_stay_zero_and_groups_of_zeros_too():
    weight = seeded(3, 128)
    weight[1], weight[2, :64] = 0, 0
    packed, group_scale, scale = quantize_int4(weight)
    whole = to_int8(packed, group_scale) * scale
    assert whole[1].eq(0).all() and whole[2, :64].eq(0).all() and whole[2, 64:].ne(0).any()


@pytest.mark.parametrize(("columns", "plain", "clipped"), [(64, 0.11, 0.1), (3072, 0.155, 0.112)])
def test_rows_clip_what_is_few(columns, plain, clipped):
    """The largest of 3072 normal numbers is farther out than that of 64, so clipping it is worth more."""
    x = seeded(64, columns)
    whole, scale = clipped_rows(x, (1.0,))
    assert relative(whole * scale, x) == pytest.approx(plain, rel=0.05)
    codes, scale = clipped_rows(x)
    assert relative(codes * scale, x) == pytest.approx(clipped, rel=0.05)
    assert int(codes.min()) == -8 and int(codes.max()) == 7


def test_rows_with_a_far_number_clip_nothing():
    x = seeded(8, 256)
    x[:, 3] = 100
    codes, scale = clipped_rows(x, INPUT_SHARES)
    assert torch.allclose(scale, torch.full_like(scale, 100 / 7))
    assert codes[:, 3].eq(7).all()


def test_rows_of_zeros_have_scale_1_and_a_number_that_is_none_shows():
    x = torch.zeros(3, 64)
    x[1, 5] = float("nan")
    codes, scale = clipped_rows(x, INPUT_SHARES)
    assert scale[0] == scale[2] == 1 and scale[1].isnan() and not codes[::2].any()
    assert [each.shape for each in clipped_rows(torch.zeros(2, 0))] == [(2, 0), (2, 1)]
