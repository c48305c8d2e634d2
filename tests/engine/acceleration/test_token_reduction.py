"""Which layers of a network have their tokens reduced, and that nothing of it stays."""

import pytest
import torch
from attending_networks import NAMES, answer, attending_network, session_of
from small_networks import small_networks

from mezzotint.acceleration import token_reduction
from mezzotint.acceleration.token_reduction import attention_layers, reducing_tokens
from mezzotint.attention.processor import attending
from mezzotint.attention.reduction import attend_downsampled
from mezzotint.memory.footprints import forward_calls

SIDE = 16  # of latents


@pytest.fixture(autouse=True)
def _without_gradients(monkeypatch):
    monkeypatch.setattr(forward_calls, "_numbers", lambda network, *shape: torch.randn(shape))
    with torch.inference_mode():
        yield


@pytest.fixture(params=NAMES)
def known(request):
    return attending_network(request.param, SIDE, layers_of_unet=6)


@pytest.fixture
def seen(monkeypatch):
    grids = []

    def watched(attend, *tensors, grid, ratio):
        grids.append(grid)
        return attend_downsampled(attend, *tensors, grid=grid, ratio=ratio)

    monkeypatch.setattr(token_reduction, "_METHODS", {"todo": watched})
    return grids


def test_each_layer_is_reduced_at_the_places_of_the_image(known, seen):
    network, size, grids = known
    dense, session = answer(network, SIDE), session_of()
    with reducing_tokens(network, session, ("todo", 0.75), size):
        reduced = answer(network, SIDE)
        assert session.reduction is None
    assert seen == grids
    assert 1e-5 < (reduced - dense).abs().mean() < dense.abs().mean()
    assert torch.equal(answer(network, SIDE), dense) and len(seen) == len(grids)


@pytest.mark.parametrize("chosen", ["sdpa", "reference"])
def test_a_ratio_of_nothing_is_the_same_to_the_bit(known, seen, chosen):
    network, size, _ = known
    session = session_of(chosen)
    with attending(session, [network]):
        dense = answer(network, SIDE)
        with reducing_tokens(network, session, ("todo", 0.0), size):
            assert torch.equal(answer(network, SIDE), dense)
    assert not seen


def test_all_tokens_kept_on_the_way_of_reduction_is_the_same_to_the_bit(known, monkeypatch):
    network, size, _ = known
    session = session_of("reference")
    with attending(session, [network]):
        dense = answer(network, SIDE)
        monkeypatch.setattr(
            token_reduction,
            "_METHODS",
            {"todo": lambda attend, *tensors, grid, ratio: attend_downsampled(attend, *tensors, grid=grid, ratio=0.0)},
        )
        with reducing_tokens(network, session, ("todo", 0.5), size):
            assert torch.equal(answer(network, SIDE), dense)


def test_an_image_of_another_size_stays_dense(known, seen):
    network, size, _ = known
    dense = answer(network, SIDE)
    with reducing_tokens(network, session_of(), ("todo", 0.75), (2 * size[0], size[1])):
        torch.testing.assert_close(answer(network, SIDE), dense)
    assert not seen


def test_a_failing_layer_leaves_nothing_behind(known, monkeypatch):
    network, size, _ = known
    session = session_of()

    def failing(*_, **__):
        raise MemoryError

    monkeypatch.setattr(token_reduction, "_METHODS", {"todo": failing})
    with reducing_tokens(network, session, ("todo", 0.75), size):
        with pytest.raises(MemoryError):
            answer(network, SIDE)
        assert session.reduction is None


def test_a_unet_without_attention_has_no_layers():
    unet = small_networks()["UNet2DConditionModel"]()
    unet.register_to_config(down_block_types=("DownBlock2D", "DownBlock2D"))
    assert list(attention_layers(unet)) == []
