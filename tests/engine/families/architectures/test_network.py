"""PixArt's network with another architecture: built from a configuration, saved, and found in a folder."""

from dataclasses import replace
from typing import get_args

import pytest
import torch
from card_jobs import pixels, request_of, run
from diffusers import PixArtTransformer2DModel
from tiny_variant import low_resolution, variant_inputs, variant_network, write_changed_variant, write_tiny_variant

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.errors import ModelRefused, UsageError
from mezzotint.families.architectures import table
from mezzotint.families.architectures.network import PixArtVariantTransformer2DModel
from mezzotint.families.detection import detect
from mezzotint.families.known import family_of
from mezzotint.families.loading.networks import empty_network
from mezzotint.memory.blocks import blocks_of
from mezzotint.stages.models import model_cache

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
KINDS = [
    (field, kind)
    for field, kinds in (
        ("trunk", get_args(table.Trunk)),
        ("feed_forward", get_args(table.FeedForwardKind)),
        ("norm", get_args(table.Norm)),
        ("modulation", get_args(table.Modulation)),
        ("skips", get_args(table.Skips)),
        ("pyramid", get_args(table.Pyramid)),
        ("tokens", get_args(table.Tokens)),
        ("depth", get_args(table.Depth)),
        ("condition", get_args(table.Condition)),
    )
    for kind in kinds[1:]
]
MOST_CHANGED = {
    "feed_forward": "mbconv",
    "norm": "rms",
    "modulation": "zero",
    "skips": "long",
    "pyramid": "merge",
    "depth": "shared",
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


@pytest.mark.slow_after(8)
@pytest.mark.parametrize(("field", "kind"), KINDS)
def test_each_kind_learns_and_is_read_as_it_was_saved(tmp_path, field, kind):
    network = variant_network(**{field: kind})
    inputs = variant_inputs(**low_resolution() if field == "condition" else {})
    output = network(**inputs).sample
    output.square().mean().backward()
    assert all(each.grad is not None and each.grad.any() for each in network.parameters())
    network.save_pretrained(tmp_path)
    again = PixArtVariantTransformer2DModel.from_pretrained(tmp_path)
    assert dict(again.config)["architecture"] == {field: kind}
    assert blocks_of(again) == blocks_of(network)
    assert again.config.num_layers == 6
    saved, read = network.state_dict(), again.state_dict()
    assert list(read) == list(saved)
    assert all(torch.equal(read[name], saved[name]) for name in saved)
    torch.testing.assert_close(again(**inputs).sample, output)  # products depend on where weights are in memory


def test_a_network_with_the_defaults_states_no_kind():
    network = variant_network(trunk="sequential", norm="layer")
    assert network.config["architecture"] == {}
    assert len(blocks_of(network)) == 6


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


@pytest.mark.slow
def test_the_most_changed_variant_generates_an_image_and_is_streamed_to_the_bit(
    tiny_pixart_folder, tmp_path, monkeypatch
):
    folder = write_changed_variant(tiny_pixart_folder, tmp_path / "variant", MOST_CHANGED)
    job, original = request_of(folder, tmp_path=tmp_path), model_cache._arrange
    plain = run(job)
    assert pixels(plain) != pixels(run(request_of(tiny_pixart_folder, tmp_path=tmp_path)))

    def settle(residency, model, part):
        original(residency, model, replace(part, resident_blocks=0, slots=1))

    monkeypatch.setattr(model_cache, "_arrange", settle)
    assert pixels(run(replace(job, vram_limit_bytes=512 * 2**20))) == pixels(plain)


def test_a_conditioned_network_alone_is_refused(tiny_pixart_folder, tmp_path):
    folder = write_tiny_variant(tiny_pixart_folder, tmp_path / "variant", {"condition": "concat"})
    assert detect(open_checkpoint(folder)).conditional_refiner
    assert not detect(open_checkpoint(tiny_pixart_folder)).conditional_refiner
    with pytest.raises(UsageError, match="variant is a conditional refiner: it enlarges a finished image"):
        run(request_of(folder, tmp_path=tmp_path))
