"""A U-Net that is shrunk inside, early in the schedule."""

import pytest
import torch
from small_networks import small_networks
from torch.nn.functional import interpolate

from mezzotint.acceleration.deep_shrink import shrinking

SIZES = [(16, 16), (20, 12), (18, 22)]


@pytest.fixture(autouse=True)
def _without_gradients():
    with torch.inference_mode():
        yield


@pytest.fixture(scope="module")
def unet():
    torch.manual_seed(0)
    return small_networks()["UNet2DConditionModel"]().eval()


def answer(unet, size=(16, 16)):
    torch.manual_seed(1)
    added = {"text_embeds": torch.randn(1, 64), "time_ids": torch.randn(1, 6)}
    sample, text = torch.randn(1, 4, *size), torch.randn(1, 5, 96)
    return unet(sample, torch.tensor(500), text, added_cond_kwargs=added, return_dict=False)[0]


def sides(unet, size=(16, 16)):
    seen = []
    hooks = [
        unet.down_blocks[1].register_forward_pre_hook(
            lambda _, args, words: seen.append(words["hidden_states"].shape[2:]), with_kwargs=True
        ),
        unet.mid_block.register_forward_pre_hook(lambda _, args: seen.append(args[0].shape[2:])),
        unet.up_blocks[1].register_forward_hook(lambda _, args, out: seen.append(out.shape[2:])),
    ]
    out = answer(unet, size)
    for hook in hooks:
        hook.remove()
    return [tuple(each) for each in seen], out


@pytest.mark.parametrize("size", SIZES)
def test_the_levels_below_the_first_are_smaller_and_the_output_is_not(unet, size):
    dense = answer(unet, size)
    with shrinking(unet, (2.0, 0.35)) as state:
        state.begin_step(0.2)
        (inside, middle, last), out = sides(unet, size)
    assert inside == middle == tuple(max(1, round(-(-side // 2) / 2)) for side in size)
    assert last == size and out.shape == dense.shape and not torch.allclose(out, dense)
    assert torch.equal(answer(unet, size), dense)


def test_later_steps_and_a_factor_of_one_are_the_same_to_the_bit(unet):
    dense = answer(unet)
    with shrinking(unet, (2.0, 0.35)) as state:
        state.begin_step(0.35)
        assert torch.equal(answer(unet), dense)
    with shrinking(unet, (1.0, 1.0)) as state:
        state.begin_step(0.0)
        assert torch.equal(answer(unet), dense)


def test_it_is_the_unet_taken_apart(unet):
    """The same by calling the parts one by one, with features resized in between."""
    with shrinking(unet, (2.0, 1.0)) as state:
        state.begin_step(0.0)
        made = answer(unet)
    torch.manual_seed(1)
    added = {"text_embeds": torch.randn(1, 64), "time_ids": torch.randn(1, 6)}
    sample, text = torch.randn(1, 4, 16, 16), torch.randn(1, 5, 96)
    when = unet.time_embedding(unet.get_time_embed(sample, torch.tensor(500)))
    when = when + unet.get_aug_embed(emb=when, encoder_hidden_states=text, added_cond_kwargs=added)
    first = unet.conv_in(sample)
    x, skips = unet.down_blocks[0](hidden_states=first, temb=when)
    x = interpolate(x, size=(4, 4), mode="bicubic")
    skips = (*skips[:-1], x)
    x, more = unet.down_blocks[1](hidden_states=x, temb=when, encoder_hidden_states=text)
    x = unet.mid_block(x, when, encoder_hidden_states=text)
    x = unet.up_blocks[0](
        hidden_states=x, temb=when, res_hidden_states_tuple=(skips[-1], *more), encoder_hidden_states=text
    )
    x = interpolate(x, size=(16, 16), mode="bicubic")
    x = unet.up_blocks[1](hidden_states=x, temb=when, res_hidden_states_tuple=(first, *skips[:-1]))
    assert torch.equal(unet.conv_out(unet.conv_act(unet.conv_norm_out(x))), made)
