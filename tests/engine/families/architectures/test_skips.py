"""Long skips: which blocks they join, and that they begin as if there were none."""

import torch
from tiny_variant import variant_inputs, variant_network
from torch import nn

from mezzotint.families.architectures.dense_weights import load_dense
from mezzotint.families.architectures.skips import LongSkips


def taking(*, blocks):
    """What each of some blocks takes, where block n adds 10 to the power n, and joined tokens are added."""
    skips, taken = LongSkips(1, blocks), []
    for projection in skips.projections:
        nn.init.ones_(projection.weight)

    def unit(number):
        def run(hidden, **_):
            taken.append(int(hidden))
            return hidden + 10**number

        return run

    hidden = torch.zeros(1, 1, 1)
    for each in skips.between([unit(number) for number in range(blocks)]):
        hidden = each(hidden)
    return taken


def test_the_first_blocks_are_joined_to_the_last():
    # Block 4 takes the result of block 3 and that of block 1, block 5 that of block 4 and that of block 0.
    assert taking(blocks=6) == [0, 1, 11, 111, 1111 + 11, 11122 + 1]
    assert taking(blocks=5) == [0, 1, 11, 111 + 11, 1122 + 1]


def test_two_blocks_have_no_skips():
    assert taking(blocks=2) == [0, 1]
    assert taking(blocks=1) == [0]


def test_new_skips_change_nothing():
    dense, skipping = variant_network(), variant_network(skips="long")
    for projection in skipping.skips.projections:
        nn.init.eye_(projection.weight)
        nn.init.zeros_(projection.bias)
    load_dense(skipping, dense.state_dict())
    assert torch.equal(skipping(**variant_inputs()).sample, dense(**variant_inputs()).sample)
