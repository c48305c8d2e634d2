"""Depth: shared and looped weights, and steps without the last blocks."""

import pytest
import torch
from tiny_variant import variant_inputs, variant_network
from torch._subclasses.fake_tensor import FakeTensorMode

from mezzotint.families.architectures import reversible
from mezzotint.families.architectures.depth import DEPTHS, EXIT_BELOW, blocks_at, dense_block


def calls(network, inputs):
    """Numbers of the blocks that run, in order."""
    found = []
    handles = [
        block.register_forward_pre_hook(lambda *_, number=number: found.append(number))
        for number, block in enumerate(network.transformer_blocks)
    ]
    network(**inputs)
    for handle in handles:
        handle.remove()
    return found


@pytest.mark.parametrize(
    ("kind", "orders"),
    [
        ("unique", [(0,), (0, 1), (0, 1, 2)]),
        ("shared", [(0,), (0, 0), (0, 0, 1), (0, 0, 1, 1)]),
        ("looped", [(0,), (0, 1), (0, 1, 2), (0, 1, 1, 2), (0, 1, 1, 1, 2)]),
    ],
)
def test_orders(kind, orders):
    assert [DEPTHS[kind].order(len(order)) for order in orders] == orders


@pytest.mark.parametrize(("kind", "begins"), [("shared", [0, 2, 4]), ("looped", [0, 2, 5])])
def test_half_of_the_weights_are_used_by_all_blocks(kind, begins):
    network, dense = variant_network(depth=kind), variant_network()
    assert calls(network, variant_inputs()) == list(DEPTHS[kind].order(6))
    count = sum(each.numel() for each in network.transformer_blocks.parameters())
    assert 2 * count == sum(each.numel() for each in dense.transformer_blocks.parameters())
    assert [dense_block(DEPTHS[kind].order(6), weights) for weights in range(3)] == begins


def test_a_shared_weight_gets_the_gradients_of_both_uses():
    network, inputs = variant_network(depth="shared"), variant_inputs()
    plain = variant_network(depth="unique")
    for number, block in enumerate(plain.transformer_blocks):
        block.load_state_dict(network.transformer_blocks[number // 2].state_dict())
    rest = {name: value for name, value in network.state_dict().items() if not name.startswith("transformer_blocks")}
    plain.load_state_dict(rest, strict=False)
    outputs = [each(**inputs).sample for each in (network, plain)]
    assert torch.equal(*outputs)
    for output in outputs:
        output.square().mean().backward()
    both = [plain.transformer_blocks[number].ff.net[2].weight.grad for number in (2, 3)]
    torch.testing.assert_close(network.transformer_blocks[1].ff.net[2].weight.grad, both[0] + both[1])


@pytest.mark.parametrize("kind", ["shared", "looped"])
def test_reversible_blocks_can_share_weights(monkeypatch, kind):
    class Kept:
        def __init__(self, *, draws):
            self.add = reversible._added

        def finish(self, first, second):
            pass

    network, gradients = variant_network(depth=kind, trunk="reversible", feed_forward="mbconv"), []
    for streams in (reversible.Streams, Kept):
        monkeypatch.setattr(reversible, "Streams", streams)
        loss = network(**variant_inputs()).sample.square().mean()
        gradients.append(torch.autograd.grad(loss, list(network.parameters())))
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-5)


def test_steps_at_low_noise_leave_out_the_last_blocks():
    network = variant_network(depth="early_exit")
    low, high = torch.tensor([EXIT_BELOW - 1, 3.0]), torch.tensor([EXIT_BELOW, 700.0])
    assert calls(network, variant_inputs() | {"timestep": low}) == [0, 1, 2, 3]
    assert network.blocks_run == 4
    assert calls(network, variant_inputs() | {"timestep": high}) == [0, 1, 2, 3, 4, 5]
    assert network.blocks_run == 6


def test_rows_of_a_batch_leave_as_they_do_alone():
    network, inputs = variant_network(depth="early_exit"), variant_inputs()
    both = network(**inputs | {"timestep": torch.tensor([3.0, 700.0])}).sample
    for row, timestep in enumerate((3.0, 700.0)):
        own = network(**inputs | {"timestep": torch.tensor([timestep] * 2)}).sample
        torch.testing.assert_close(both[row], own[row])


def test_memory_is_planned_for_all_blocks():
    with FakeTensorMode():
        assert blocks_at(6, torch.zeros(2)) == 6
    assert blocks_at(6, torch.zeros(2)) == 4


def test_with_a_detour_the_blocks_after_it_are_left_out():
    network = variant_network(depth="early_exit", pyramid="merge")
    assert calls(network, variant_inputs() | {"timestep": torch.tensor([3.0, 4.0])}) == [0, 1, 2, 3]
    assert len(calls(network, variant_inputs())) == 6
