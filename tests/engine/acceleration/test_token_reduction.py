"""Which layers of a network have their tokens reduced, and that nothing of it stays."""

import pytest
import torch
from small_networks import small_networks

from mezzotint.acceleration import token_reduction
from mezzotint.acceleration.token_reduction import attention_layers, reducing_tokens
from mezzotint.attention.processor import attending
from mezzotint.attention.reduction import Grid, attend_downsampled
from mezzotint.attention.session import AttentionSession
from mezzotint.memory.footprints import forward_calls

SIDE, TEXT = 16, 7  # latents, text tokens
NETWORKS = {
    "UNet2DConditionModel": ((SIDE, SIDE), [Grid(0, 8, 8)] * 6),  # of two blocks down and four up, not in the middle
    "PixArtTransformer2DModel": ((8, 8), [Grid(0, 8, 8)] * 3),
    "FluxTransformer2DModel": ((8, 8), [Grid(TEXT, 8, 8)] * 5),
    "SD3Transformer2DModel": ((8, 8), [Grid(0, 8, 8)] * 3),
    "QwenImageTransformer2DModel": ((8, 8), [Grid(TEXT, 8, 8)] * 3),
}


@pytest.fixture(autouse=True)
def _without_gradients(monkeypatch):
    monkeypatch.setattr(forward_calls, "_numbers", lambda network, *shape: torch.randn(shape))
    with torch.inference_mode():
        yield


@pytest.fixture(params=NETWORKS)
def known(request):
    torch.manual_seed(0)
    return small_networks()[request.param]().eval(), *NETWORKS[request.param]


@pytest.fixture
def seen(monkeypatch):
    grids = []

    def watched(attend, *tensors, grid, ratio):
        grids.append(grid)
        return attend_downsampled(attend, *tensors, grid=grid, ratio=ratio)

    monkeypatch.setattr(token_reduction, "_METHODS", {"todo": watched})
    return grids


def session_of(chosen="sdpa"):
    return AttentionSession(asked="auto", chosen=chosen, kernels=None, tell=lambda *_: None)


def answer(network):
    torch.manual_seed(1)
    return forward_calls.known_call(type(network).__name__, network, SIDE, 2, TEXT)[0]


def test_each_layer_is_reduced_at_the_places_of_the_image(known, seen):
    network, size, grids = known
    dense, session = answer(network), session_of()
    with reducing_tokens(network, session, ("todo", 0.75), size):
        reduced = answer(network)
        assert session.reduction is None
    assert seen == grids
    assert 1e-5 < (reduced - dense).abs().mean() < dense.abs().mean()
    assert torch.equal(answer(network), dense) and len(seen) == len(grids)


@pytest.mark.parametrize("chosen", ["sdpa", "reference"])
def test_a_ratio_of_nothing_is_the_same_to_the_bit(known, seen, chosen):
    network, size, _ = known
    session = session_of(chosen)
    with attending(session, [network]):
        dense = answer(network)
        with reducing_tokens(network, session, ("todo", 0.0), size):
            assert torch.equal(answer(network), dense)
    assert not seen


def test_all_tokens_kept_on_the_way_of_reduction_is_the_same_to_the_bit(known, monkeypatch):
    network, size, _ = known
    session = session_of("reference")
    with attending(session, [network]):
        dense = answer(network)
        monkeypatch.setattr(
            token_reduction,
            "_METHODS",
            {"todo": lambda attend, *tensors, grid, ratio: attend_downsampled(attend, *tensors, grid=grid, ratio=0.0)},
        )
        with reducing_tokens(network, session, ("todo", 0.5), size):
            assert torch.equal(answer(network), dense)


def test_an_image_of_another_size_stays_dense(known, seen):
    network, size, _ = known
    dense = answer(network)
    with reducing_tokens(network, session_of(), ("todo", 0.75), (2 * size[0], size[1])):
        torch.testing.assert_close(answer(network), dense)
    assert not seen


def test_a_failing_layer_leaves_nothing_behind(known, monkeypatch):
    network, size, _ = known
    session = session_of()

    def failing(*_, **__):
        raise MemoryError

    monkeypatch.setattr(token_reduction, "_METHODS", {"todo": failing})
    with reducing_tokens(network, session, ("todo", 0.75), size):
        with pytest.raises(MemoryError):
            answer(network)
        assert session.reduction is None


def test_a_unet_without_attention_has_no_layers():
    unet = small_networks()["UNet2DConditionModel"]()
    unet.register_to_config(down_block_types=("DownBlock2D", "DownBlock2D"))
    assert list(attention_layers(unet)) == []
