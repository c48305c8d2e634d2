"""Detours of the middle blocks: merged, pooled and selected tokens."""

import pytest
import torch
from tiny_variant import variant_inputs, variant_network
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from mezzotint.families.architectures.detours import MergedTokens, PooledTokens, SelectedTokens, through


def doubled(tokens, grid):
    return 2 * tokens


@pytest.mark.parametrize("kind", [MergedTokens, PooledTokens])
@pytest.mark.parametrize("grid", [(4, 6), (3, 5), (1, 1)])
def test_what_is_added_to_the_mean_of_four_tokens_is_added_to_each(kind, grid):
    tokens, seen = torch.randn(2, grid[0] * grid[1], 3), []

    def run(few, layout):
        seen.append((few, layout))
        return few + torch.arange(few.shape[1])[None, :, None]

    out = kind(3)(tokens, grid, run)
    ((few, layout),) = seen
    assert layout == (-(-grid[0] // 2), -(-grid[1] // 2))
    below, right = min(1, grid[0] - 1), min(1, grid[1] - 1)  # in the last row and column, the same token again
    four = tokens[:, [0, right, below * grid[1], below * grid[1] + right]]
    torch.testing.assert_close(few[:, 0], four.mean(dim=1))
    numbers = torch.arange(layout[0] * layout[1]).view(layout)
    spread = numbers.repeat_interleave(2, 0).repeat_interleave(2, 1)[: grid[0], : grid[1]].flatten()
    torch.testing.assert_close(out - tokens, spread[None, :, None].expand_as(tokens).to(tokens))


def test_half_of_the_tokens_are_selected_and_the_others_pass_by():
    torch.manual_seed(0)
    tokens, counts = torch.randn(3, 25, 8), []
    detour = SelectedTokens(8)

    def run(few, layout):
        counts.append((few.shape[1], layout))
        return few + 1

    changed = (detour(tokens, (5, 5), run) != tokens).any(dim=2)
    assert counts == [(13, None)]
    assert changed.sum(dim=1).tolist() == [13] * 3
    scores = detour.score(tokens).squeeze(2)
    for row, scored in zip(changed, scores, strict=True):
        assert scored[row].min() >= scored[~row].max()


def test_what_is_added_to_selected_tokens_grows_with_their_score():
    detour, tokens = SelectedTokens(2), torch.tensor([[[0.0, 0.0], [3.0, 0.0], [-3.0, 0.0], [1.0, 0.0]]])
    with torch.no_grad():
        detour.score.weight.copy_(torch.tensor([[1.0, 0.0]]))
        detour.score.bias.zero_()
    added = (detour(tokens, (2, 2), lambda few, _: few + 1) - tokens)[0]
    wanted = torch.tensor([0.0, 2 / (1 + torch.tensor(-3.0).exp()), 0.0, 2 / (1 + torch.tensor(-1.0).exp())])
    torch.testing.assert_close(added, wanted[:, None].expand(-1, 2))
    added.sum().backward()
    assert detour.score.weight.grad.any()


def test_of_equal_scores_the_first_are_selected():
    assert SelectedTokens.selected(torch.zeros(2, 5)).tolist() == [[0, 1, 2]] * 2
    assert SelectedTokens.selected(torch.tensor([[0.0, 2.0, 1.0, 3.0]])).tolist() == [[1, 3]]


@pytest.mark.parametrize(("blocks", "inside"), [(6, [2, 3]), (7, [2, 3, 4]), (3, [1]), (2, [0, 1]), (1, [0])])
def test_the_first_and_the_last_third_of_the_blocks_are_outside(blocks, inside):
    found = []

    def unit(number):
        def run(hidden, *, grid):
            if grid == (1, 1):
                found.append(number)
            return hidden

        return run

    def detour(hidden, grid, run):
        return run(hidden, (1, 1))

    hidden = torch.zeros(1, 1, 1)
    for each in through(detour, [unit(number) for number in range(blocks)]):
        hidden = each(hidden, grid=(2, 2))
    assert found == inside


def attention_operations(**architecture):
    """Operations of self-attention's products of queries and keys, and of scores and values, in each block."""
    network, found = variant_network(**architecture), []
    for block in network.transformer_blocks:
        counter = FlopCounterMode(display=False)

        def start(*_, counter=counter, **__):
            counter.__enter__()

        def end(*_, counter=counter):
            counter.__exit__(None, None, None)
            counts = counter.get_flop_counts()["Global"]
            found.append(sum(value for name, value in counts.items() if "bmm" in str(name)))

        block.attn1.register_forward_pre_hook(start, with_kwargs=True)
        block.attn1.register_forward_hook(end)
    with torch.no_grad(), sdpa_kernel(SDPBackend.MATH):  # other backends are not counted
        network(**variant_inputs(sides=(16, 16)))
    return found


@pytest.mark.parametrize(
    ("kind", "share"), [({"pyramid": "merge"}, 16), ({"tokens": "pooled"}, 16), ({"tokens": "selected"}, 4)]
)
def test_attention_of_the_middle_blocks_costs_the_square_of_the_share_of_tokens(kind, share):
    dense, few = attention_operations(), attention_operations(**kind)
    assert all(dense)
    assert [one // other for one, other in zip(dense, few, strict=True)] == [1, 1, share, share, 1, 1]


@pytest.mark.parametrize("kind", [{"pyramid": "merge"}, {"tokens": "pooled"}])
def test_convolutions_work_on_the_grid_of_merged_tokens(kind):
    network = variant_network(feed_forward="depthwise", skips="long", **kind)
    assert network(**variant_inputs(sides=(10, 14))).sample.shape == (2, 4, 10, 14)


def test_layers_of_a_pyramid_are_linear():
    assert [type(each) for each in MergedTokens(4).children()] == [nn.Linear] * 2
