"""Which layers of a network attend sparsely, and that nothing of it stays."""

import pytest
import torch
from attending_networks import NAMES, answer, attending_network, session_of
from small_networks import small_networks

from mezzotint.acceleration import sparse_attention
from mezzotint.acceleration.sparse_attention import attending_sparsely, sizes_of
from mezzotint.acceleration.token_reduction import attention_layers
from mezzotint.attention.processor import attending
from mezzotint.attention.sparse import attend_sparsely
from mezzotint.memory.footprints import forward_calls

SIDE = 32  # of latents


@pytest.fixture(autouse=True)
def _without_gradients(monkeypatch):
    monkeypatch.setattr(forward_calls, "_numbers", lambda network, *shape: torch.randn(shape))
    with torch.inference_mode():
        yield


@pytest.fixture(params=NAMES)
def known(request):
    return attending_network(request.param, SIDE, layers_of_unet=8)


@pytest.fixture
def seen(monkeypatch):
    grids = []

    def watched(attend, *tensors, grid, **how):
        grids.append(grid)
        return attend_sparsely(attend, *tensors, grid=grid, **how)

    monkeypatch.setattr(sparse_attention, "attend_sparsely", watched)
    return grids


@pytest.mark.parametrize("kind", ["pooled", "window", "topk"])
def test_each_layer_is_sparse_at_the_places_of_the_image(known, seen, kind):
    network, size, grids = known
    dense, session = answer(network, SIDE), session_of()
    with attending_sparsely(network, session, (kind, 0.25), size):
        found = answer(network, SIDE)
        assert session.reduction is None
    assert seen == grids
    assert 1e-6 < (found - dense).abs().mean() < dense.abs().mean()
    assert torch.equal(answer(network, SIDE), dense) and len(seen) == len(grids)


@pytest.mark.parametrize("chosen", ["sdpa", "reference"])
@pytest.mark.parametrize("how", [("pooled", 1.0), ("topk", None), ("tiles", None)])
def test_a_density_of_1_and_few_tokens_are_the_same_to_the_bit(known, seen, chosen, how):
    network, size, _ = known
    session = session_of(chosen)
    with attending(session, [network]):
        dense = answer(network, SIDE)
        with attending_sparsely(network, session, how, size):
            assert torch.equal(answer(network, SIDE), dense)
    assert not seen


def test_tiles_are_of_the_highest_resolution_and_shifted_in_every_second_layer(known, seen, monkeypatch):
    network, size, grids = known
    shifts, watched = [], sparse_attention.attend_sparsely
    monkeypatch.setattr(
        sparse_attention,
        "attend_sparsely",
        lambda *tensors, shifted, **more: (shifts.append(shifted), watched(*tensors, shifted=shifted, **more))[1],
    )
    dense, session = answer(network, SIDE), session_of()
    with attending_sparsely(network, session, ("tiles", 0.25), size):
        found = answer(network, SIDE)
        assert session.reduction is None
    assert 1e-6 < (found - dense).abs().mean() < dense.abs().mean()
    expected = grids if size != (SIDE, SIDE) else grids[: len(list(attention_layers(network)))]  # not a U-Net's middle
    assert (seen, shifts) == (expected, [False, True, False, True, False, True, False, True][: len(expected)])
    assert torch.equal(answer(network, SIDE), dense) and len(seen) == len(expected)


def test_an_image_of_another_size_stays_dense(known, seen):
    network, size, _ = known
    dense = answer(network, SIDE)
    with attending_sparsely(network, session_of(), ("pooled", 0.25), (4 * size[0] - 1, size[1])):
        torch.testing.assert_close(answer(network, SIDE), dense)
    assert not seen


def test_of_a_unet_only_levels_with_enough_tokens_are_sparse(monkeypatch):
    sizes = []
    monkeypatch.setattr(sparse_attention, "replacing_attention", lambda *args: sizes.extend(args[-1]) or _Nothing())
    unet = small_networks()["UNet2DConditionModel"]()
    assert sizes_of(unet, (256, 201)) == [(256, 201), (128, 101)]
    with attending_sparsely(unet, session_of(), ("pooled", None), (256, 201)):
        assert sizes == [(256, 201), (128, 101)]


class _Nothing:
    def __enter__(self):
        pass

    def __exit__(self, *_):
        pass
