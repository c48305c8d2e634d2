"""Autoencoders that overflow float16: scaled, they make what they make in float32."""

import copy
import json
import shutil

import pytest
import torch
from diffusers import AutoencoderKL
from safetensors.torch import load_file, save_file

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.families.detection import detect
from mezzotint.families.family import LoadedModel
from mezzotint.families.known import family_of
from mezzotint.families.loading.float16_vae import can_scale, is_scaled, scale_activations, widen
from mezzotint.families.loading.networks import load_components

SIZE = 3e5  # of the largest activations, which SDXL's decoder has shown
USUAL = {"down_block_types": ["DownEncoderBlock2D"] * 2, "up_block_types": ["UpDecoderBlock2D"] * 2}


def grow(tensors):
    """Make the activations of an autoencoder as large as SDXL's, whatever it makes of them."""
    ends = ("conv_in", "conv2", "to_out.0", "conv_shortcut", "sampler.0.conv")
    for name, tensor in tensors.items():
        if any(f"{end}." in name for end in ends) or "samplers.0.conv." in name:
            passes = "conv_shortcut.weight" in name or "samplers.0.conv.weight" in name
            tensor.mul_(1 if passes else SIZE / 4)


def vae_of(**fields):
    torch.manual_seed(4)
    blocks = {name: tuple(each) for name, each in USUAL.items()} | fields
    vae = AutoencoderKL(block_out_channels=(32, 64), layers_per_block=1, norm_num_groups=8, **blocks)
    with torch.no_grad():
        grow(dict(vae.named_parameters()))
    return vae.eval().requires_grad_(False)


def both(vae, x, z):
    made = vae.encode(x.to(vae.dtype)).latent_dist.parameters, vae.decode(z.to(vae.dtype)).sample
    return [each.double() for each in made]


@pytest.fixture
def given():
    torch.manual_seed(5)
    return torch.randn(1, 3, 32, 32, dtype=torch.float64), torch.randn(1, 4, 16, 16, dtype=torch.float64)


@torch.inference_mode()
def test_scaled_it_is_the_same_function(given):
    vae = vae_of().double()
    wanted = both(vae, *given)
    largest = []
    for each in vae.decoder.up_blocks:
        each.register_forward_hook(lambda _, __, made: largest.append(float(made.abs().max())))
    vae.decode(given[1])
    assert scale_activations(vae, {}) == {} and is_scaled(vae)
    vae.decode(given[1])
    assert largest[2:] == pytest.approx([each / 32 for each in largest[:2]], rel=1e-9)
    for made, exact in zip(both(vae, *given), wanted, strict=True):
        torch.testing.assert_close(made, exact, rtol=1e-9, atol=1e-9)


@torch.inference_mode()
def test_in_float16_it_overflows_unless_it_is_scaled(given):
    vae = vae_of()
    wanted, plain = both(vae, *given), copy.deepcopy(vae).half()
    assert not any(made.isfinite().all() for made in both(plain, *given))
    scale_activations(plain, {})
    for made, exact in zip(both(plain, *given), wanted, strict=True):
        assert float((made - exact).norm() / exact.norm()) < 3e-3
    assert widen(plain, {}) == {}
    for made, exact in zip(both(plain, *given), wanted, strict=True):
        assert float((made - exact).norm() / exact.norm()) < 1e-3, "weights remain those of float16"


@pytest.mark.parametrize(
    ("class_name", "config", "wanted"),
    [
        ("AutoencoderKL", USUAL, True),
        ("AutoencoderKLFlux2", USUAL, True),
        ("AutoencoderKL", {}, True),
        ("AutoencoderDC", USUAL, False),
        ("AutoencoderKL", {"up_block_types": ["AttnUpDecoderBlock2D"]}, False),
        ("AutoencoderKL", {"down_block_types": "DownEncoderBlock2D"}, False),
    ],
)
def test_what_can_be_scaled(class_name, config, wanted):
    assert can_scale(class_name, config) == wanted


@pytest.fixture
def overflowing(tiny_sdxl_folder, tmp_path):
    folder = shutil.copytree(tiny_sdxl_folder, tmp_path / "model")
    path = folder / "vae" / "diffusion_pytorch_model.safetensors"
    tensors = load_file(path)
    grow(tensors)
    save_file(tensors, path)
    assert json.loads((folder / "vae" / "config.json").read_text())["force_upcast"]
    return folder


def loaded(folder, dtype, from_disk=()):
    checkpoint = open_checkpoint(folder)
    detected = detect(checkpoint)
    sources = family_of(detected.family).sources(checkpoint, detected)
    model = LoadedModel(sources=sources, device=torch.device("cpu"), dtype=dtype, from_disk=frozenset(from_disk))
    load_components(model, ["vae"], on_bytes=lambda *_: None, cancelled=lambda: False, notify=lambda _: None)
    return model


@torch.inference_mode()
def test_a_vae_that_must_be_upcast_is_scaled_when_it_is_loaded_from_ram_or_disk(overflowing, given):
    exact, ram = loaded(overflowing, torch.float32), loaded(overflowing, torch.float16)
    disk = loaded(overflowing, torch.float16, {"vae"})
    vae = ram.networks["vae"]
    assert vae.dtype == torch.float16 and is_scaled(vae) and not is_scaled(exact.networks["vae"])
    for made, wanted in zip(both(vae, *given), both(exact.networks["vae"], *given), strict=True):
        assert float((made - wanted).norm() / wanted.norm()) < 3e-3
    sources = disk.on_disk["vae"]
    assert any("conv2.weight" in name for name in sources)
    for name, source in sources.items():
        torch.testing.assert_close(source.tensor(), vae.get_parameter(name).data, rtol=1e-3, atol=1e-7)
    wide = widen(disk.networks["vae"], sources)
    assert {source.layout.dtype for source in wide.values()} == {torch.float32}
