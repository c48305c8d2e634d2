"""Branches as the kernels take them."""

import gc

import pytest
import torch
from quantized_weights import seeded

from mezzotint.quantization.kernel_branches import BranchCache
from mezzotint.quantization.linear import Branch


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
    made = BranchCache().of(branches, torch.float16)
    parts = [made.inside, made.outside]
    assert [None if each is None else each.down.shape[0] for each in parts] == [inside, outside]
    if branches:
        both = sum(each.up.float() @ each.down.float() for each in parts if each is not None)
        torch.testing.assert_close(both, sum(each.up @ each.down for each in branches), rtol=1e-2, atol=0.1)
        assert all(each.down.dtype == each.up.dtype == torch.float16 for each in parts if each is not None)


def test_what_was_made_is_remembered_while_its_tensors_live():
    cache, one, other = BranchCache(), branch(3), branch(4)
    made = cache.of([one], torch.float16)
    assert cache.of([one], torch.float16) is made
    assert cache.of([one], torch.bfloat16) is not made and cache.of([one, other], torch.float16) is not made
    assert len(cache) == 3
    del one
    gc.collect()
    assert len(cache) == 0
