"""The rotation is orthogonal, its own inverse, the one that ComfyUI's files are written with."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from quantized_weights import relative, seeded

from mezzotint.quantization.rotation import GROUPS, best_group, hadamard, rotate


@pytest.mark.parametrize("group", GROUPS)
def test_the_matrix_is_symmetric_and_orthogonal_and_every_row_has_the_same_sum(group):
    matrix = hadamard(group)
    assert matrix.equal(matrix.T)
    assert (matrix @ matrix).equal(torch.eye(group))
    assert matrix.abs().unique().tolist() == [group**-0.5]
    assert matrix.sum(dim=1).unique().numel() == 1


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.requires_package("comfy_kitchen")
def test_it_is_comfy_kitchens(group):
    from comfy_kitchen.tensor.int8_utils import _build_hadamard

    assert hadamard(group).equal(_build_hadamard(group))


@pytest.mark.parametrize("group", [-4, 1, 2, 8, 32, 128, 1024])
def test_other_sizes_are_refused(group):
    with pytest.raises(ValueError, match=f"4, 16, 64, 256, not {group}"):
        hadamard(group)


@given(rows=st.integers(1, 64), groups=st.integers(1, 5), group=st.sampled_from([0, *GROUPS]), seed=st.integers(0, 99))
def test_twice_is_the_original_and_products_do_not_change(rows, groups, group, seed):
    x, weight = seeded(rows, groups * max(group, 3), seed=seed), seeded(7, groups * max(group, 3), seed=seed + 1)
    rotated = rotate(x, group)
    assert rotated.shape == x.shape
    assert relative(rotate(rotated, group), x) < 1e-6
    assert relative(rotated.norm(dim=1), x.norm(dim=1)) < 1e-6
    torch.testing.assert_close(rotated @ rotate(weight, group).T, x @ weight.T, rtol=1e-4, atol=1e-4)


def test_an_outlier_is_spread_over_its_group_and_no_further():
    x = torch.zeros(1, 512)
    x[0, 300] = 16.0
    rotated = rotate(x, 256)
    assert rotated[0, :256].eq(0).all()
    assert rotated[0, 256:].abs().eq(1).all()


@pytest.mark.parametrize(
    ("columns", "largest", "group"),
    [(1280, 256, 256), (320, 256, 64), (320, 16, 16), (1152, 256, 64), (48, 256, 16), (20, 256, 0), (77, 256, 0)],
)
def test_the_best_group_is_the_largest_that_divides(columns, largest, group):
    assert best_group(columns, largest) == group
