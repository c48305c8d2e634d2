"""Low-rank changes: where they are, that they alone are trained, and what merging makes of them."""

import torch
from torch import nn

from mezzotint_starter.variants.low_rank import add_low_rank, merge_low_rank


def small_network():
    torch.manual_seed(0)
    return nn.ModuleDict({"first": nn.Linear(6, 5), "second": nn.Conv2d(4, 6, 1), "other": nn.Linear(3, 3)})


def test_changes_are_trained_and_become_the_weights():
    network = small_network()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    for parameter in network.parameters():
        parameter.requires_grad_(False)
    add_low_rank(network, "first|second", 2)
    image = torch.randn(2, 4, 3, 3)
    expected = nn.functional.conv2d(image, before["second.weight"], before["second.bias"])
    assert torch.equal(network["second"](image), expected)
    learning = [value for value in network.parameters() if value.requires_grad]
    assert sorted(tuple(value.shape) for value in learning) == [(2, 4), (2, 6), (5, 2), (6, 2)]
    with torch.no_grad():
        for value in learning:
            value.add_(1.0)
    changes = merge_low_rank(network)
    assert set(changes) == {"first.weight", "second.weight"}
    after = network.state_dict()
    assert set(after) == set(before)
    for name, value in before.items():
        added = torch.matmul(*changes[name]).view_as(value) if name in changes else 0.0
        torch.testing.assert_close(after[name], value + added)
    assert not torch.equal(after["first.weight"], before["first.weight"])


def test_a_rank_is_no_more_than_the_weight_has():
    network = small_network()
    add_low_rank(network, "other", 16)
    assert merge_low_rank(network)["other.weight"][1].shape == (3, 3)
