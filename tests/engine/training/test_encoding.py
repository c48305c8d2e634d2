"""Text encoders and VAE are where levers put them, only while they are used, and give the same."""

import pytest
import torch
from fake_card.install import fake_card

from mezzotint.catalog.catalog import Catalog
from mezzotint.families.family import LoadedModel
from mezzotint.families.known import family_of
from mezzotint.families.model_sources import sources_of
from mezzotint.protocol import ModelRef
from mezzotint.training.encoding import Encoders


@pytest.fixture
def make(tiny_sdxl_folder):
    """Encoders of a tiny model on a device, and their model."""
    found = Catalog.standard().find(ModelRef(id=str(tiny_sdxl_folder)))

    def call(device="cpu", *, vae_tile=0, **options):
        sources = sources_of(found.checkpoint, found.detected)
        model = LoadedModel(
            sources=sources, device=torch.device(device), dtype=torch.float32, quantization={}, vae_tile=vae_tile
        )
        return Encoders(family_of(sources.family), model, lambda: False, **options), model

    return call


def encoded(encoders, model):
    with encoders.text() as encode:
        found = encode("a house", (64, 64), 1.0)
        devices = {parameter.device.type for name in _texts(model) for parameter in model.networks[name].parameters()}
    return found.tensors, devices


def test_captions_on_the_cpu_of_a_machine_with_a_card_are_the_same(make):
    plain, devices = encoded(*make())
    assert devices == {"cpu"}
    with fake_card(2**30) as card:
        phases = []
        encoders, model = make("cuda:0", text_on_cpu=True, on_phase=phases.append)
        before = card.device().peak
        found, devices = encoded(encoders, model)
        assert devices == {"cpu"} and card.device().peak == before and model.device == torch.device("cuda:0")
        on_card, devices = encoded(*make("cuda:0"))
        assert devices == {"cuda"} and card.device().peak > before
    assert phases == ["text"] and not _texts(model)
    for name, tensor in plain.items():
        assert torch.equal(found[name], tensor) and torch.equal(on_card[name], tensor)


@pytest.mark.slow
def test_images_are_encoded_in_tiles(make):
    pixels, seen = torch.rand(3, 256, 256, generator=torch.Generator().manual_seed(0)) * 2 - 1, []
    made = {}
    for tile in (0, 128):
        phases, (encoders, model) = [], make(vae_tile=tile)
        encoders._on_phase = phases.append
        with encoders.vae() as encode:
            vae = model.networks["vae"]
            vae.encoder.register_forward_pre_hook(lambda _, inputs: seen.append(max(inputs[0].shape[-2:])))
            made[tile] = encode(pixels, 1)
        assert phases == ["images"] and "vae" not in model.networks
    assert seen[0] == 256 and len(seen) > 2 and max(seen[1:]) <= 128
    assert made[0].shape == made[128].shape and not torch.equal(made[0], made[128])


def _texts(model):
    return [name for name in model.networks if name.startswith("text_encoder")]


def test_captions_that_are_too_long_are_told(tiny_pixart_folder):
    found = Catalog.standard().find(ModelRef(id=str(tiny_pixart_folder)))
    sources = sources_of(found.checkpoint, found.detected)
    model = LoadedModel(sources=sources, device=torch.device("cpu"), dtype=torch.float32, quantization={})
    encoders = Encoders(family_of(sources.family), model, lambda: False)
    with encoders.text() as encode:
        encode("a house", (64, 64), 1.0)
        assert encoders.cut_captions() == []
        for number in range(5):
            encode("a b c d e f " * 60 + f"end {number}", (64, 64), 1.0)
    lines = encoders.cut_captions()
    assert lines[-1] == "2 more captions are too long" and len(lines) == 4
    assert lines[0].startswith("a caption is longer than the ") and "T5EncoderModel reads" in lines[0]
