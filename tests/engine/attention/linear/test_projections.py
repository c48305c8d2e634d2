"""Projections are orthogonal, of the lengths of Gaussian vectors, and the same for the same seed."""

import torch

from mezzotint.attention.linear.projections import orthogonal_projections


def test_rows_are_orthogonal_in_groups():
    drawn = orthogonal_projections(3, 20, 8, seed=0).double()
    assert drawn.shape == (3, 20, 8)
    unit = torch.nn.functional.normalize(drawn, dim=-1)
    for first in (0, 8, 16):
        group = unit[:, first : first + 8]
        torch.testing.assert_close(group @ group.mT, torch.eye(group.shape[1]).double().expand(3, -1, -1))


def test_lengths_are_those_of_gaussian_vectors():
    squares = orthogonal_projections(50, 64, 16, seed=1).square().sum(-1)
    assert abs(squares.mean() - 16) < 0.4 and abs(squares.var() - 32) < 3  # chi-squared with 16 degrees of freedom


def test_directions_are_uniform():
    drawn = orthogonal_projections(500, 16, 4, seed=2)
    assert drawn.mean((0, 1)).abs().max() < 0.05
    assert drawn[:, 0].mean(0).abs().max() < 0.15  # the first row of each, which signs of the triangle would favour


def test_seeds():
    one, again, other = (orthogonal_projections(1, 9, 4, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(one, again) and not torch.equal(one, other)


def test_they_are_drawn_also_where_tensors_are_empty():
    with torch.device("meta"):
        assert orthogonal_projections(1, 9, 4, seed=1).device.type == "cpu"
