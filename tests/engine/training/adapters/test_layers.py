"""Which layers are trained, and their ranks."""

import pytest
from tiny_training import TinyTraining

from mezzotint.errors import UsageError
from mezzotint.training.adapters.layers import LayerChoice, parse_ranks, trainable_layers


@pytest.fixture(scope="module")
def unet(tiny_sdxl_folder):
    return TinyTraining(tiny_sdxl_folder, images=0).network


def test_all_layers_of_a_unet_are_those_of_locon(unet):
    attention, every = trainable_layers(unet), trainable_layers(unet, "all")
    more = set(every) - set(attention)
    assert set(attention) < set(every)
    assert {name.rpartition(".")[2] for name in more} == {"conv1", "conv2", "time_emb_proj", "conv_shortcut", "conv"}
    assert not any(name.startswith(("conv_in", "conv_out", "time_embedding", "add_embedding")) for name in every)


def test_of_a_transformer_they_include_modulation(tiny_pixart_folder):
    network = TinyTraining(tiny_pixart_folder, images=0).network
    every = trainable_layers(network, "all")
    assert set(trainable_layers(network)) <= set(every)
    assert all(name.startswith("transformer_blocks.") for name in every)


def test_ranks_by_parts_of_names_the_last_one_counts(unet):
    ranks = parse_ranks(" down_blocks=2, attn2=0,down_blocks.1.attentions.0.proj_in=3,")
    found = LayerChoice(rank=8, alpha=4, ranks=ranks).ranks_of(unet)
    assert not any("attn2" in name for name in found)
    assert found.pop("down_blocks.1.attentions.0.proj_in") == 3
    assert all(rank == (2 if "down_blocks" in name else 8) for name, rank in found.items())


def test_alpha_keeps_its_proportion():
    choice = LayerChoice(rank=8, alpha=4)
    assert choice.scaled_alpha(8) == 4 and choice.scaled_alpha(2) == 1


def test_no_rank_exceeds_the_sides_of_its_weight(unet):
    found = LayerChoice(layers="all", rank=512, alpha=4).ranks_of(unet)
    for name, rank in found.items():
        shape = unet.get_submodule(name).weight.shape
        assert rank == min(shape[0], shape[1:].numel())


@pytest.mark.parametrize("text", ["mid_block", "=3", "mid_block=", "mid_block=x", "mid_block=513", "a=1,b=-1", "a=²"])
def test_what_are_no_ranks(text):
    with pytest.raises(UsageError, match="--ranks"):
        parse_ranks(text)


def test_a_part_that_no_layer_has(unet):
    with pytest.raises(UsageError, match="no trained layer has 'middle' in its name; one of them is down_blocks"):
        LayerChoice(rank=4, alpha=4, ranks=(("middle", 2),)).ranks_of(unet)


def test_no_layer_is_left(unet):
    with pytest.raises(UsageError, match="no layer is left"):
        LayerChoice(rank=4, alpha=4, ranks=(("blocks", 0), ("mid_block", 0))).ranks_of(unet)
