"""Preview decoders: diffusers' images to the bit, and files that are none are refused by name."""

import struct

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_decoders import diffusers_file, original_file, tiny_autoencoder

from mezzotint.errors import ModelRefused
from mezzotint.families.autoencoder_space import LatentLayout
from mezzotint.families.preview_decoder.reading import MAX_FILE, read_preview_decoder
from mezzotint.paths import assets_folder

OWN = assets_folder() / "starter" / "dit" / "preview_decoder" / "model.safetensors"


@pytest.mark.parametrize("write", [diffusers_file, original_file])
@pytest.mark.parametrize(("channels", "blocks"), [(4, (3, 3, 3, 1)), (16, (1, 2, 1)), (32, (1, 1))])
def test_images_are_those_of_diffusers(tmp_path, write, channels, blocks):
    peer = tiny_autoencoder(channels, blocks=blocks)
    decoder = read_preview_decoder(write(tmp_path / "taesd_decoder.safetensors", peer))
    latents = 2 * torch.randn(1, channels, 6, 9, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        assert torch.equal(decoder.pixels(latents), peer.decode(latents).sample)
    assert (decoder.network.latent_channels, decoder.network.factor) == (channels, 2 ** (len(blocks) - 1))


@pytest.mark.parametrize("prefix", ["decoder.", "taesd_decoder."])
def test_other_programs_put_a_prefix_before_the_numbers(tmp_path, prefix):
    plain = load_file(original_file(tmp_path / "plain.safetensors"))
    named = {prefix + name: tensor for name, tensor in plain.items()}
    save_file(named | {"vae_scale": torch.ones(())}, tmp_path / "named.safetensors")
    first, second = (read_preview_decoder(tmp_path / f"{name}.safetensors") for name in ("plain", "named"))
    latents = torch.randn(1, 4, 4, 4)
    with torch.inference_mode():
        assert torch.equal(first.pixels(latents), second.pixels(latents))


def test_large_images_are_decoded_in_tiles(tmp_path):
    decoder = read_preview_decoder(diffusers_file(tmp_path / "a.safetensors", tiny_autoencoder(blocks=(1, 1))))
    seen = []
    decoder.network.register_forward_pre_hook(lambda _, given: seen.append(tuple(given[0].shape[-2:])))
    with torch.inference_mode():
        whole = decoder.network(latents := torch.randn(1, 4, 80, 20))
        tiled = decoder.pixels(latents)
    assert seen[1:] == [(64, 20)] * 2
    assert tiled.shape == whole.shape
    torch.testing.assert_close(tiled, whole, atol=0.05, rtol=0)


def test_the_blocks_of_flux2_add_a_pooled_branch(tmp_path):
    pool = {
        "3.pool.0.weight": torch.randn(16, 8, 1, 1),
        "3.pool.1.weight": torch.randn(16),
        "3.pool.1.bias": torch.randn(16),
        "3.pool.3.weight": torch.randn(8, 16, 1, 1),
    }
    path = original_file(tmp_path / "taef2.safetensors", tiny_autoencoder(32, blocks=(1, 1, 1, 1)), pool)
    decoder = read_preview_decoder(path)
    block, hidden = decoder.network.layers[2], torch.randn(1, 8, 4, 4)
    with torch.inference_mode():
        inner = torch.nn.functional.conv2d(hidden, pool["3.pool.0.weight"])
        inner = torch.nn.functional.group_norm(inner, 4, pool["3.pool.1.weight"], pool["3.pool.1.bias"]).relu()
        given = hidden + torch.nn.functional.conv2d(inner, pool["3.pool.3.weight"])
        assert torch.equal(block(hidden), torch.relu(block.conv(given) + given))
        assert decoder.patch(LatentLayout(channels=128, factor=16)) == 2
        latents = torch.randn(1, 128, 3, 2)
        single = decoder.network(torch.nn.functional.pixel_shuffle(latents, 2))
        assert torch.equal(decoder.pixels(latents, patch=2), single)
    assert single.shape == (1, 3, 48, 32)


def test_a_decoder_fits_latents_of_its_channels_and_size(tmp_path):
    decoder = read_preview_decoder(original_file(tmp_path / "a.safetensors"))
    assert decoder.patch(LatentLayout(channels=4, factor=8)) == 1
    assert decoder.patch(LatentLayout(channels=16, factor=8)) is None
    assert decoder.patch(LatentLayout(channels=4, factor=16)) is None


def test_the_starters_own_decoder_is_read():
    decoder = read_preview_decoder(OWN)
    assert decoder.patch(LatentLayout(channels=4, factor=8)) == 1
    decoder.network.float()
    assert decoder.pixels(torch.zeros(1, 4, 4, 6)).shape == (1, 3, 32, 48)


BAD = {
    "another shape": ({"3.conv.2.weight": torch.ones(8, 8, 1, 1)}, "layers.2.conv.2.weight has the shape [8, 8, 1, 1]"),
    "no bias": ({"1.bias": None}, "layers.0.bias is absent"),
    "a tensor too many": ({"3.more": torch.ones(1)}, "layers.2.more has the shape [1]; expected none"),
    "no ReLU": ({"2.weight": torch.ones(8, 8, 3, 3)}, "no ReLU follows the first convolution"),
    "no block": (
        {f"7.conv.{at}.{what}": None for at in (0, 2, 4) for what in ("weight", "bias")},
        "layer 6 is missing",
    ),
    "two gaps": ({"90.weight": torch.ones(3, 8, 3, 3)}, "it has 90 layers"),
    "a broken chain": ({"1.weight": torch.ones(6, 4, 3, 3), "1.bias": torch.ones(6)}, "the layers before it give 6"),
    "many channels": ({"1.weight": torch.ones(2000, 1, 1, 1)}, "has the shape [2000, 1, 1, 1]"),
    "no channels": ({"1.weight": torch.ones(0, 4, 3, 3)}, "has the shape [0, 4, 3, 3]"),
    "flat": ({"1.weight": torch.ones(8)}, "has the shape [8]"),
    "a video's": ({"4.conv.weight": torch.ones(8, 8, 1, 1)}, "of videos' decoders"),
    "odd groups": ({"3.pool.0.weight": torch.ones(6, 8, 1, 1)}, "6 channels in 4 groups"),
    "integers": ({"3.conv.0.bias": torch.ones(8, dtype=torch.int64)}, "has the dtype I64"),
}


@pytest.mark.parametrize("fault", BAD)
def test_files_that_are_no_decoders_are_refused(tmp_path, fault):
    but, reason = BAD[fault]
    if fault == "a video's":
        but = but | {f"4.conv.{at}.{what}": None for at in (0, 2, 4) for what in ("weight", "bias")}
    with pytest.raises(ModelRefused, match=r"a\.safetensors") as refused:
        read_preview_decoder(original_file(tmp_path / "a.safetensors", but=but))
    assert reason in str(refused.value)


def test_rgba_is_refused(tmp_path):
    path = original_file(tmp_path / "a.safetensors")
    last = max(int(name.split(".")[0]) for name in load_file(path))
    but = {f"{last}.weight": torch.ones(16, 8, 3, 3), f"{last}.bias": torch.ones(16)}
    with pytest.raises(ModelRefused, match="to 16 channels; expected"):
        read_preview_decoder(original_file(path, but=but))


OWN_BAD = {
    "no depth": ({"stages.0.0.expand.weight": None}, "stages.0.0.expand.weight has the shape"),
    "a thousand blocks": ({f"stages.0.{at}.depthwise.bias": torch.ones(1) for at in range(100)}, "104 blocks"),
    "a shape": ({"end.weight": torch.ones(3, 12, 1, 1)}, "end.weight has the shape [3, 12, 1, 1]"),
    "another start": ({"start.weight": torch.ones(9)}, "start.weight has the shape [9]"),
    "no start": ({"start.weight": None}, "its layers are not numbered"),
}


@pytest.mark.parametrize("fault", OWN_BAD)
def test_so_are_damaged_files_of_our_own(tmp_path, fault):
    but, reason = OWN_BAD[fault]
    tensors = {name: tensor for name, tensor in (load_file(OWN) | but).items() if tensor is not None}
    save_file(tensors, tmp_path / "a.safetensors")
    with pytest.raises(ModelRefused) as refused:
        read_preview_decoder(tmp_path / "a.safetensors")
    assert reason in str(refused.value)


def test_sizes_are_checked_before_anything_is_read(tmp_path):
    path = tmp_path / "huge.safetensors"
    header = b'{"1.weight":{"dtype":"F32","shape":[4194304,4,2,2],"data_offsets":[0,268435456]}}'
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + 2**28)
    assert path.stat().st_size > MAX_FILE
    with pytest.raises(ModelRefused, match="preview decoders have at most 64"):
        read_preview_decoder(path)


def test_pickles_are_refused(tmp_path):
    torch.save({"1.weight": torch.ones(8, 4, 3, 3)}, tmp_path / "taesd_decoder.pth")
    with pytest.raises(ModelRefused, match="pickle"):
        read_preview_decoder(tmp_path / "taesd_decoder.pth")


def test_tiles_fit_the_room_for_activations(tmp_path):
    decoder = read_preview_decoder(
        original_file(tmp_path / "a.safetensors", tiny_autoencoder(width=64, blocks=(1,) * 4))
    )
    latents = torch.zeros(1, 4, 128, 128)
    assert decoder.tile(latents, 1, None) == 64
    sides = [decoder.tile(latents, 1, megabytes << 20) for megabytes in (1000, 100, 50, 10)]
    assert sides[0] == 64
    assert 64 > sides[1] > sides[2] >= sides[3] == 8
    assert decoder.tile(latents[..., :32, :32], 1, 100 << 20) > sides[1]  # a smaller image leaves more


def test_tiles_of_decoders_that_enlarge_more_have_fewer_latents(tmp_path):
    path = original_file(tmp_path / "taesana.safetensors", tiny_autoencoder(32, blocks=(1,) * 6))
    assert read_preview_decoder(path).tile(torch.zeros(1, 32, 32, 32), 1, None) == 16
