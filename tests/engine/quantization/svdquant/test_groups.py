"""Numbers of 4 bits with scales by group, and smoothing: each group is as exact as it can be."""

import pytest
import torch
from quantized_weights import seeded

from mezzotint.quantization.int4 import INPUT_SHARES, clipped_rows
from mezzotint.quantization.svdquant.groups import (
    quantize_input_groups,
    quantize_weight_groups,
    scaled_groups,
    smoothing_of,
)


def test_a_group_s_integers_are_those_of_a_row_of_its_own():
    x = seeded(5, 192)
    codes, scale = quantize_input_groups(x)
    rows_codes, rows_scale = clipped_rows(x.view(15, 64), INPUT_SHARES)
    assert codes.equal(rows_codes.view(5, 192)) and scale.equal(rows_scale.view(5, 3).t())


def test_a_far_number_spoils_its_own_group_only():
    x, far = seeded(4, 256), 150
    for quantize in (quantize_input_groups, quantize_weight_groups):
        before = scaled_groups(*quantize(x))
        moved = x.clone()
        moved[:, far] = 1000
        after = scaled_groups(*quantize(moved))
        same = [column for column in range(256) if column // 64 != far // 64]
        assert after[:, same].equal(before[:, same])
        assert not after[:, 128:192].equal(before[:, 128:192])


def test_groups_of_zeros_stay_zeros():
    x = seeded(3, 128)
    x[:, 64:] = 0
    for quantize in (quantize_input_groups, quantize_weight_groups):
        codes, scale = quantize(x)
        assert not codes[:, 64:].any() and (scale > 0).all()


@pytest.mark.parametrize("broken", [float("nan"), float("inf")], ids=str)
def test_a_number_that_is_none_shows_in_its_group_s_scale(broken):
    x = seeded(3, 192)
    x[1, 70] = broken
    scale = quantize_input_groups(x)[1]
    assert torch.nonzero(~scale.isfinite()).tolist() == [[1, 1]]


def test_smoothing_makes_both_sides_equally_uneven():
    uneven = torch.logspace(-1, 1, 128)
    weight, balance = seeded(64, 128), uneven
    smooth = smoothing_of(weight, balance)
    left = (weight / smooth).square().mean(dim=0).sqrt()
    right = balance * smooth
    ratio = left / right
    assert torch.allclose(ratio, ratio.mean().expand(128), rtol=1e-3)
    assert float((weight / smooth).abs().max()) == pytest.approx(1)


@pytest.mark.parametrize("wrong", [0.0, float("nan"), float("inf")], ids=str)
def test_columns_without_a_known_magnitude_are_left_alone(wrong):
    weight, balance = seeded(64, 128), torch.full((128,), 3.0)
    balance[5] = wrong
    smooth = smoothing_of(weight, balance)
    even = smoothing_of(weight[:, :5], None)
    assert smooth.isfinite().all() and (smooth > 0).all() and even.unique().numel() == 1
    weight[:, 9] = 0
    assert smoothing_of(weight, balance).isfinite().all()
    assert smoothing_of(torch.zeros(4, 64), None).equal(torch.ones(64))
