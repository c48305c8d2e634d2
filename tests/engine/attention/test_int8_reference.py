"""Attention with 8-bit products in torch: how far it is from the exact one, and what of it is exact."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.attention.int8_reference import (
    half_sums_reference,
    int8_all_reference,
    int8_fp8_reference,
    int8_scores_reference,
    rotated,
    rounded_weights,
)
from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.attention.reference import attention_reference

HEAD_DIMS = (64, 72, 80, 96, 112, 128)
ALLOWED = 0.02  # relative RMS error
EVERY = [half_sums_reference, int8_scores_reference, int8_all_reference, int8_fp8_reference]


def drawn(head_dim, seed=0, nq=130, nk=300, heads=2, kv_heads=2):
    generator = torch.Generator().manual_seed(seed)
    sizes = ((heads, nq), (kv_heads, nk), (kv_heads, nk))
    return [torch.randn(1, *size, head_dim, generator=generator, dtype=torch.float64) for size in sizes]


def outlier_channels_in_keys(q, k, v):
    """Two channels 6 times as large, whose queries are small, as projections learn it."""
    k[..., [3, 40]] *= 6
    q[..., [3, 40]] /= 6


def a_common_offset_in_keys(q, k, v):
    k += 50 * torch.randn(k.shape[3], generator=torch.Generator().manual_seed(1), dtype=k.dtype)


def outlier_channels_in_values(q, k, v):
    v[..., [0, 17, -1]] *= 100


def values_beyond_float16(q, k, v):
    v *= 1e5


def nothing(q, k, v):
    pass


CHANGES = (
    nothing,
    outlier_channels_in_keys,
    a_common_offset_in_keys,
    outlier_channels_in_values,
    values_beyond_float16,
)


def error(attend, q, k, v, masks=NO_MASKS, scale=None):
    """Relative RMS of what is off in each channel: large ones do not hide small ones."""
    exact = attention_reference(q, k, v, masks, scale)[0]
    off = attend(q, k, v, masks, scale)[0] - exact
    by = exact.pow(2).mean(dim=(0, 1, 2)).sqrt()
    return float((off / by).pow(2).mean().sqrt())


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("head_dim", HEAD_DIMS)
def test_the_error_is_small(head_dim, change):
    q, k, v = drawn(head_dim)
    change(q, k, v)
    assert error(int8_all_reference, q, k, v) <= ALLOWED


@pytest.mark.parametrize("change", CHANGES)
def test_the_error_of_8_bit_floats_is_that_of_3_bits_behind_the_first(change):
    q, k, v = drawn(64)
    change(q, k, v)
    assert ALLOWED < error(int8_fp8_reference, q, k, v) <= 2 * ALLOWED


def test_floats_keep_the_values_beside_a_token_that_stands_out():
    q, k, v = drawn(64)
    v[:, :, 5] *= 50
    assert error(int8_fp8_reference, q, k, v) < 0.75 * error(int8_all_reference, q, k, v)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("by", [1.0, 1e-6, 1e6])
def test_the_error_of_sums_in_float16_is_smaller_by_far(by, change):
    q, k, v = drawn(64)
    change(q, k, v)
    v *= by
    assert 1e-4 < error(half_sums_reference, q, k, v) <= 2e-3


@pytest.mark.parametrize("change", [nothing, a_common_offset_in_keys, outlier_channels_in_values])
def test_the_error_of_scores_alone_is_smaller(change):
    q, k, v = drawn(64)
    change(q, k, v)
    assert error(int8_scores_reference, q, k, v) < error(int8_all_reference, q, k, v)


@pytest.mark.parametrize("head_dim", HEAD_DIMS)
def test_the_rotation_keeps_what_outlier_channels_would_hide(head_dim):
    q, k, v = drawn(head_dim)
    outlier_channels_in_keys(q, k, v)
    assert error(int8_all_reference, q, k, v) < 0.75 * error(int8_scores_reference, q, k, v)


@given(seed=st.integers(0, 10**6), nq=st.integers(1, 40), nk=st.integers(1, 200), heads=st.sampled_from([1, 2, 4]))
def test_any_normal_numbers(seed, nq, nk, heads):
    q, k, v = drawn(64, seed, nq, nk, heads, kv_heads=1)
    exact = attention_reference(q, k, v)[0]
    assert (int8_all_reference(q, k, v)[0] - exact).norm() / exact.norm() <= 1.5 * ALLOWED  # of few numbers, too


@pytest.mark.parametrize("head_dim", [8, 40, *HEAD_DIMS, 512])
def test_a_rotation_is_its_own_inverse_and_keeps_products(head_dim):
    q, k, _ = drawn(head_dim, nq=5, nk=7)
    torch.testing.assert_close(rotated(rotated(q)), q)
    torch.testing.assert_close(rotated(q) @ rotated(k).mT, q @ k.mT)
    assert rotated(torch.eye(64, dtype=torch.float64).view(1, 1, 64, 64)).abs().allclose(torch.tensor(0.125).double())


def test_the_rest_of_a_head_is_rotated_for_itself():
    x = torch.zeros(1, 1, 1, 72, dtype=torch.float64)
    x[..., 70] = 1
    assert rotated(x)[..., :64].abs().max() == 0
    assert rotated(x)[..., 64:].abs().allclose(torch.tensor(8**-0.5).double())


@pytest.mark.parametrize("attend", EVERY)
def test_masks_hold_and_a_row_without_keys_is_zero(attend):
    q, k, v = drawn(64, nq=150, nk=100)
    masks = Masks(key_lengths=torch.tensor([70]), causal=True)
    wanted, sums = attention_reference(q, k, v, masks)
    out, lse = attend(q, k, v, masks)
    assert (out[:, :, :50] == 0).all() and lse[:, :, :50].isneginf().all()
    assert (out - wanted).norm() / wanted.norm() <= ALLOWED * (2 if attend is int8_fp8_reference else 1)
    torch.testing.assert_close(lse[:, :, 50:], sums[:, :, 50:], rtol=0.01, atol=0.02)


@pytest.mark.parametrize("attend", EVERY)
def test_padding_has_no_part_in_anything(attend):
    q, k, v = drawn(64)
    masks = Masks(key_lengths=torch.tensor([70]))
    before = attend(q, k, v, masks)[0]
    k[:, :, 70:], v[:, :, 70:] = 1e6, 1e6
    torch.testing.assert_close(attend(q, k, v, masks)[0], before)


def test_equal_values_come_out_exactly():
    """Row sums are those of the rounded weights."""
    q, k, v = drawn(64)
    v[:] = v[:, :, :1].clone()
    torch.testing.assert_close(int8_all_reference(3 * q, k, v)[0], v[:, :, :1].expand_as(q))


def test_weights_are_255ths_of_the_largest_of_their_tile():
    scores = torch.full((1, 1, 1, 130), -20.0, dtype=torch.float64)
    scores[..., 0], scores[..., 64:128] = 0.0, torch.linspace(-10, -9, 64)
    weights, top = rounded_weights(scores)
    assert top.item() == 0 and weights[..., 0].item() == 1 and (weights[..., 1:64] == 0).all()
    second = weights[..., 64:128] / torch.exp(torch.tensor(-9.0).double()) * 255
    torch.testing.assert_close(second, second.round())
    assert second.min() > 90 and weights[..., 128:].min() > 0


def test_the_dtype_is_that_of_queries():
    q, k, v = (each.bfloat16() for each in drawn(64))
    out, lse = int8_all_reference(q, k, v)
    assert (out.dtype, lse.dtype) == (torch.bfloat16, torch.float32)
