"""The reference of GroupNorm, against its formula."""

import torch

from mezzotint.normalization.reference import group_norm_reference


def test_it_is_the_formula():
    x, weight, bias = torch.randn(2, 6, 3, 4), torch.randn(6), torch.randn(6)
    grouped = x.double().reshape(2, 2, -1)
    deviation = (grouped.var(-1, correction=0, keepdim=True) + 1e-3).sqrt()
    normalized = ((grouped - grouped.mean(-1, keepdim=True)) / deviation).reshape(x.shape)
    affine = normalized * weight.double()[:, None, None] + bias.double()[:, None, None]
    torch.testing.assert_close(group_norm_reference(x, 2, weight, bias, 1e-3, silu=False), affine)
    found = group_norm_reference(x, 2, weight, bias, 1e-3, silu=True)
    torch.testing.assert_close(found, affine / (1 + (-affine).exp()))
    assert found.dtype is torch.float64
