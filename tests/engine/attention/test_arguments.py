"""Mistakes of a caller: each names the argument and its value."""

import pytest
import torch

from mezzotint.attention.arguments import check_arguments
from mezzotint.attention.masks import Masks

Q = torch.zeros(2, 4, 5, 8)
K = torch.zeros(2, 2, 3, 8)
META = torch.device("meta")


def ints(*size):
    return torch.zeros(size, dtype=torch.int32)


def bools(*size):
    return torch.ones(size, dtype=torch.bool)


@pytest.mark.parametrize(
    "masks",
    [
        Masks(),
        Masks(causal=True),
        Masks(bias=torch.zeros(2, 4, 5, 3), key_mask=bools(2, 3), key_lengths=ints(2)),
        Masks(bias=torch.zeros(1, 4, 1, 3), key_mask=bools(1, 3)),
        Masks(bias=torch.zeros(1, 1, 5, 1)),
    ],
)
def test_what_has_a_meaning_passes(masks):
    check_arguments(Q, K, K, masks, 1.0)


def test_a_bias_may_be_more_exact_than_the_rest():
    q, k = Q.half(), K.half()
    check_arguments(q, k, k, Masks(bias=torch.zeros(1, 1, 1, 3)), 1.0)
    with pytest.raises(TypeError, match="bias is torch.float64.*float16"):
        check_arguments(q, k, k, Masks(bias=torch.zeros(1, 1, 1, 3, dtype=torch.float64)), 1.0)


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ((Q.int(), K, K), "q is torch.int32"),
        ((Q, K.half(), K), "k is torch.float16 and q is torch.float32"),
        ((Q, K, K.to(META)), "v is on meta and q is on cpu"),
        ((Q[0], K, K), r"q has shape \(4, 5, 8\)"),
        ((Q, K, K[:, :, :2]), r"k has shape \(2, 2, 3, 8\) and v \(2, 2, 2, 8\)"),
        ((Q, K[:1], K[:1]), "batch of 2 and k of 1"),
        ((Q, K[..., :4], K[..., :4]), "head size of 8 and k of 4"),
        ((Q[..., :0], K[..., :0], K[..., :0]), "head size of 0"),
        ((Q[:, :3], K, K), "3 heads and k 2"),
        ((Q, K[:, :0], K[:, :0]), "4 heads and k 0"),
    ],
)
def test_tensors_that_do_not_fit(tensors, message):
    q, k, v = tensors
    with pytest.raises((TypeError, ValueError), match=message):
        check_arguments(q, k, v, Masks(), 1.0)


@pytest.mark.parametrize(
    ("masks", "message"),
    [
        ({"bias": torch.zeros(2, 4, 5, 3).int()}, "bias is torch.int32"),
        ({"bias": torch.zeros(2, 4, 5, 3, device=META)}, "bias is on meta"),
        ({"bias": torch.zeros(5, 3)}, r"bias has shape \(5, 3\); it must be \(2, 4, 5, 3\)"),
        ({"bias": torch.zeros(2, 2, 5, 3)}, r"bias has shape \(2, 2, 5, 3\)"),
        ({"key_mask": ints(2, 3)}, "key_mask is torch.int32; it must be torch.bool"),
        ({"key_mask": bools(2, 3).to(META)}, "key_mask is on meta"),
        ({"key_mask": bools(3)}, r"key_mask has shape \(3,\); it must be \(2, 3\)"),
        ({"key_mask": bools(2, 4)}, r"key_mask has shape \(2, 4\)"),
        ({"key_lengths": ints(2).long()}, "key_lengths is torch.int64"),
        ({"key_lengths": ints(2).to(META)}, "key_lengths is on meta"),
        ({"key_lengths": ints(1)}, r"key_lengths has shape \(1,\); it must be \(2,\)"),
    ],
)
def test_masks_that_do_not_fit(masks, message):
    with pytest.raises((TypeError, ValueError), match=message):
        check_arguments(Q, K, K, Masks(**masks), 1.0)


@pytest.mark.parametrize("scale", [float("nan"), float("inf")])
def test_a_scale_that_is_no_number(scale):
    with pytest.raises(ValueError, match=f"scale is {scale}"):
        check_arguments(Q, K, K, Masks(), scale)
