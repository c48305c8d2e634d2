"""Networks without numbers get no first values; others do."""

import torch
from torch import nn

from mezzotint.families.loading.skip_init import SkipInit


def test_a_tensor_without_numbers_is_left_as_it_is():
    weight = torch.empty(2, 2, device="meta")
    with SkipInit():
        assert nn.init.normal_(weight) is weight and nn.init.kaiming_uniform_(weight) is weight
        assert weight.uniform_() is weight


def test_others_get_the_same_values_as_ever():
    drawn = []
    for context in (torch.no_grad(), SkipInit()):
        torch.manual_seed(1)
        with context:
            drawn.append(nn.Linear(3, 3).weight.detach().clone())
    assert drawn[0].equal(drawn[1])
