"""PixArt's network with another architecture: built from a configuration, saved, and found in a folder."""

import pytest
import torch
from diffusers import PixArtTransformer2DModel
from tiny_variant import write_tiny_variant

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.errors import ModelRefused
from mezzotint.families.architectures.network import PixArtVariantTransformer2DModel
from mezzotint.families.detection import detect
from mezzotint.families.known import family_of
from mezzotint.families.loading.networks import empty_network
from mezzotint.memory.blocks import blocks_of

CONFIG = {
    "num_attention_heads": 2,
    "attention_head_dim": 8,
    "num_layers": 3,
    "cross_attention_dim": 16,
    "caption_channels": 12,
    "sample_size": 8,
    "in_channels": 4,
    "out_channels": 8,
    "use_additional_conditions": False,
}


@pytest.mark.parametrize("captions", [12, None])
def test_a_sequential_trunk_is_pixart_to_the_bit(captions):
    torch.manual_seed(0)
    config = CONFIG | {"caption_channels": captions}
    theirs = PixArtTransformer2DModel(**config)
    ours = PixArtVariantTransformer2DModel.from_config(config)
    ours.load_state_dict(theirs.state_dict())
    mask = torch.ones(2, 5)
    mask[1, 3:] = 0
    inputs = {
        "hidden_states": torch.randn(2, 4, 8, 12),
        "encoder_hidden_states": torch.randn(2, 5, captions or 16),
        "encoder_attention_mask": mask,
        "timestep": torch.tensor([3.0, 700.0]),
        "added_cond_kwargs": {"resolution": None, "aspect_ratio": None},
    }
    expected = theirs(**inputs).sample
    assert torch.equal(ours(**inputs).sample, expected)
    assert torch.equal(ours(**inputs, return_dict=False)[0], expected)


@pytest.mark.parametrize("trunk", ["sequential", "reversible"])
def test_saved_it_is_read_as_it_was(tmp_path, trunk):
    network = PixArtVariantTransformer2DModel.from_config(CONFIG | {"architecture": {"trunk": trunk}})
    network.save_pretrained(tmp_path)
    again = PixArtVariantTransformer2DModel.from_pretrained(tmp_path)
    assert dict(again.config)["architecture"] == {"trunk": trunk}
    assert len(blocks_of(again)) == again.config.num_layers == 3
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), again.parameters(), strict=True))


def test_without_a_number_of_layers_there_are_pixarts():
    config = {name: value for name, value in CONFIG.items() if name != "num_layers"}
    with torch.device("meta"):
        network = PixArtVariantTransformer2DModel.from_config(config)
    assert len(network.transformer_blocks) == 28


def test_a_folder_of_a_variant_is_a_pixart_model(tiny_pixart_folder, tmp_path):
    folder = write_tiny_variant(tiny_pixart_folder, tmp_path / "variant", {"trunk": "reversible"})
    checkpoint = open_checkpoint(folder)
    detected = detect(checkpoint)
    sources = family_of(detected.family).sources(checkpoint, detected)
    assert (detected.family, detected.variant) == ("pixart", "sigma")
    assert empty_network(sources.components["transformer"]).is_reversible


def test_a_folder_of_an_unknown_variant_is_refused(tiny_pixart_folder, tmp_path):
    folder = write_tiny_variant(tiny_pixart_folder, tmp_path / "variant", {"trunk": "spiral"})
    with pytest.raises(ModelRefused, match=r"variant: architecture\.trunk is spiral"):
        detect(open_checkpoint(folder))
