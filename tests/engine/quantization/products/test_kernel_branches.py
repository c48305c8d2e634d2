"""Branches as the kernels take them."""

import pytest
import torch
from quantized_weights import seeded

from mezzotint.quantization.linear import Branch
from mezzotint.quantization.products.kernel_branches import kernel_branches


def branch(rank, seed=0):
    return Branch(down=seeded(rank, 8, seed=seed), up=seeded(6, rank, seed=seed + 1))


@pytest.mark.parametrize(
    ("ranks", "inside", "outside"),
    [
        ([], None, None),
        ([5], 16, None),
        ([32, 16], 48, None),
        ([250, 7], 256, 7),
        ([300, 7], 16, 300),
        ([16, 300], 16, 300),
    ],
)
def test_what_fits_goes_inside_in_steps_of_16(ranks, inside, outside):
    branches = [branch(rank, seed=2 * rank) for rank in ranks]
    made = kernel_branches(branches, torch.float16)
    parts = [made.inside, made.outside]
    assert [None if each is None else each.down.shape[0] for each in parts] == [inside, outside]
    if branches:
        both = sum(each.up.float() @ each.down.float() for each in parts if each is not None)
        torch.testing.assert_close(both, sum(each.up @ each.down for each in branches), rtol=1e-2, atol=0.1)
        assert all(each.down.dtype == each.up.dtype == torch.float16 for each in parts if each is not None)


@pytest.mark.parametrize("rank", [16, 48, 256, 300])
def test_a_branch_that_lies_as_it_is_read_is_not_copied(rank):
    own = Branch(down=seeded(rank, 8).half(), up=seeded(6, rank).half())
    made = kernel_branches([own], torch.float16)
    found = made.inside or made.outside
    assert found.down.data_ptr() == own.down.data_ptr()
    assert found.up.data_ptr() == own.up.data_ptr()


@pytest.mark.parametrize("skewed", ["down", "up"])
def test_a_factor_that_kernels_cannot_read_as_it_lies_is_copied(skewed):
    factors = {"down": seeded(16, 8).half(), "up": seeded(8, 16).half()}
    memory = torch.empty(129, dtype=torch.float16)
    factors[skewed] = memory[1:].view(factors[skewed].shape).copy_(factors[skewed])
    made = kernel_branches([Branch(**factors)], torch.float16).inside
    for name, factor in factors.items():
        found = getattr(made, name)
        assert found.equal(factor)
        assert found.data_ptr() % 16 == 0
