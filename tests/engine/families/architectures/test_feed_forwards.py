"""Feed-forwards: they begin as none, keep tokens where they are, and cost what their formulas say."""

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from mezzotint.families.architectures.feed_forwards import (
    FEED_FORWARDS,
    GridFeedForward,
    SqueezeExcite,
    dense_convolution,
    depthwise_separable,
    shuffled_groups,
    spatially_separable,
)
from mezzotint.families.architectures.table import CONVOLUTIONS

GRID = (8, 8)
WIDTH = 192  # starter-dit's


def operations(module, *inputs):
    """Floating-point operations of a forward pass, without numbers."""
    counter = FlopCounterMode(display=False)
    with counter:
        module.to("meta")(*inputs)
    return counter.get_total_flops()


def of_image(module, width=WIDTH):
    return operations(module, torch.empty(1, width, *GRID, device="meta"))


def weights(module):
    """Weights without biases."""
    return sum(each.numel() for name, each in module.named_parameters() if name.endswith("weight"))


@pytest.fixture(scope="module")
def dense():
    return of_image(dense_convolution(WIDTH))


def test_separating_channels_saves_more_than_85_percent(dense):
    assert of_image(depthwise_separable(WIDTH)) / dense == pytest.approx(1 / WIDTH + 1 / 9)
    assert 1 - of_image(depthwise_separable(WIDTH)) / dense > 0.85


def test_separating_rows_from_columns_leaves_two_thirds(dense):
    assert of_image(spatially_separable(WIDTH)) / dense == pytest.approx(2 / 3)


def test_groups_divide_the_work(dense):
    assert of_image(shuffled_groups(WIDTH)) / dense == pytest.approx(1 / 4)
    assert of_image(shuffled_groups(6), 6) / of_image(dense_convolution(6), 6) == pytest.approx(1 / 2)


def test_a_bottleneck_costs_what_its_formula_says(dense):
    reduction, side = 4, 3
    bottleneck = FEED_FORWARDS["bottleneck"](nn.Identity(), WIDTH)
    assert of_image(bottleneck.layers) / dense == pytest.approx(2 / (reduction * side**2) + 1 / reduction**2)


@pytest.mark.parametrize("kind", CONVOLUTIONS)
def test_work_and_weights_are_those_of_the_convolutions(kind):
    made = FEED_FORWARDS[kind](nn.Identity(), WIDTH)
    counted = operations(made, torch.empty(2, 64, WIDTH, device="meta"), GRID)
    # Each weight of a convolution is used once for each token, those of squeeze and excitation once for each image.
    squeezed = sum(weights(each) for each in made.modules() if isinstance(each, SqueezeExcite))
    assert counted == 2 * 2 * (64 * (weights(made) - squeezed) + squeezed)


def test_a_gated_mlp_has_as_many_weights_as_the_mlp():
    gated = FEED_FORWARDS["gated"](nn.Identity(), WIDTH)
    assert weights(gated) == 2 * 4 * WIDTH * WIDTH


@pytest.mark.parametrize("kind", CONVOLUTIONS)
def test_a_new_one_adds_nothing(kind):
    made = FEED_FORWARDS[kind](nn.Identity(), 8)
    assert not made(torch.randn(2, 12, 8), (3, 4)).any()


@pytest.mark.parametrize("kind", CONVOLUTIONS)
def test_a_token_affects_its_neighbours_in_the_grid(kind):
    torch.manual_seed(0)
    made = FEED_FORWARDS[kind](nn.Identity(), 8)
    for parameter in made.parameters():
        nn.init.normal_(parameter, std=0.5)
    tokens = torch.randn(1, 30, 8)
    changed = tokens.clone()
    changed[0, 13] += 1  # row 2, column 3 of 6 rows and 5 columns
    different = (made(changed, (6, 5)) != made(tokens, (6, 5))).any(dim=2).unflatten(1, (6, 5))[0]
    assert different[1:4, 2:5].all()
    if kind == "mbconv":
        assert different.all()  # by excitation
    else:
        assert not different[5].any()


def test_layers_see_tokens_as_an_image():
    made = GridFeedForward(nn.Conv2d(2, 2, 1))
    made.layers = nn.Identity()
    tokens = torch.randn(2, 12, 2)
    assert torch.equal(made(tokens, (3, 4)), tokens)


def test_excitation_scales_channels():
    image = torch.randn(2, 8, 3, 3)
    scale = SqueezeExcite(8, 2)(image) / image
    torch.testing.assert_close(scale, scale[:, :, :1, :1].expand_as(scale))
    assert ((scale > 0) & (scale < 1)).all()
