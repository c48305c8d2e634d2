import pytest
import torch
from drawn_things import small_source

from mezzotint_starter.scene_models import stored_latents as module
from mezzotint_starter.scene_models.networks import build_autoencoder
from mezzotint_starter.scene_models.stored_latents import stored_latents


@pytest.fixture
def network(monkeypatch):
    monkeypatch.setattr(module, "FILE_COUNT", 2)
    return build_autoencoder(0).eval()


def test_latents_are_encoded_once_and_read_by_number(tmp_path, network, monkeypatch):
    source = small_source()
    first = stored_latents(network, source, tmp_path / "a", count=3, side=32, device="cpu")
    assert first.shape == (3, 8, 4, 4)
    encode = module._encoded
    asked = []
    monkeypatch.setattr(module, "_encoded", lambda *given: asked.append(given[2]) or encode(*given))
    (tmp_path / "a" / "0000002-1.npy").unlink()  # as if it had been stopped before
    again = stored_latents(network, source, tmp_path / "a", count=3, side=32, device="cpu")
    assert asked == [range(2, 3)]
    chosen = torch.tensor([2, 0, 2])
    assert torch.equal(again[chosen], first[chosen])
    assert not torch.equal(again[chosen][0], again[chosen][1])


def test_those_of_another_encoder_are_replaced(tmp_path, network):
    before = stored_latents(network, small_source(), tmp_path, count=1, side=32, device="cpu")[torch.tensor([0])]
    with torch.no_grad():
        network.encoder.conv_out.weight *= 2
    after = stored_latents(network, small_source(), tmp_path, count=1, side=32, device="cpu")[torch.tensor([0])]
    assert not torch.equal(before, after)
