"""Autoencoders that overflow float16 while a job runs: they are changed, the image is made, and it is told."""

import json
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from card_jobs import request_of
from diffusers import AutoencoderKL
from PIL import Image
from safetensors.torch import load_file, save_file

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import ImageOverflowed
from mezzotint.families.loading.float16_vae import is_scaled
from mezzotint.protocol import ImageInput, Notice
from mezzotint.stages.images.overflow import within_range


def model_of(dtype, class_name="AutoencoderKL"):
    blocks = {"down_block_types": ("DownEncoderBlock2D",), "up_block_types": ("UpDecoderBlock2D",)}
    vae = AutoencoderKL(block_out_channels=(32,), norm_num_groups=8, **blocks).to(dtype)
    source = SimpleNamespace(class_name=class_name, config=blocks)
    sources = SimpleNamespace(components={"vae": source})
    return SimpleNamespace(networks={"vae": vae}, sources=sources, on_disk={}, lowered=False)


def overflows(times):
    left = iter([True] * times)

    def make():
        if next(left, False):
            raise ImageOverflowed("the decoded image contains NaN")
        return "the image"

    return make


@pytest.mark.parametrize(
    ("class_name", "times", "wanted", "dtype"),
    [
        ("AutoencoderKL", 0, [], torch.float16),
        ("AutoencoderKL", 1, ["its activations are scaled down"], torch.float16),
        ("AutoencoderKL", 2, ["its activations are scaled down", "it computes in float32"], torch.float32),
        ("AutoencoderDC", 1, ["it computes in float32"], torch.float32),
    ],
)
def test_what_overflows_is_scaled_and_then_in_32_bits(class_name, times, wanted, dtype):
    model, told = model_of(torch.float16, class_name), []
    assert within_range(model, overflows(times), lambda code, message: told.append(message)) == "the image"
    assert told == [f"the VAE overflows in float16: {each}" for each in wanted]
    assert (model.networks["vae"].dtype, model.lowered) == (dtype, times > 0)
    assert is_scaled(model.networks["vae"]) == (wanted[:1] == ["its activations are scaled down"])


@pytest.mark.parametrize(("dtype", "times"), [(torch.float16, 3), (torch.bfloat16, 1)])
def test_what_overflows_in_32_bits_is_an_error(dtype, times):
    with pytest.raises(ImageOverflowed):
        within_range(model_of(dtype), overflows(times), lambda *_: None)


def picture(path):
    return np.array(Image.open(path)).astype(int)


@pytest.mark.parametrize("every_device", ["cpu", pytest.param("cuda:0", marks=pytest.mark.slow)], indirect=True)
def test_a_job_goes_on(tiny_sdxl_folder, tmp_path, every_device):
    """Both when the image that it starts from is encoded and when its own is decoded, which the change has outlived."""
    folder = shutil.copytree(tiny_sdxl_folder, tmp_path / "model")
    config, weights = folder / "vae/config.json", folder / "vae/diffusion_pytorch_model.safetensors"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"force_upcast": False}))
    tensors = load_file(weights)
    for name, tensor in tensors.items():
        tensor.mul_(1e5 if any(f"{end}." in name for end in ("conv_in", "conv2")) else 1)
    save_file(tensors, weights)
    Image.new("RGB", (64, 64), "red").save(tmp_path / "init.png")
    start = {"images": (ImageInput(path=str(tmp_path / "init.png")),), "strength": 0.5, "attention": "sdpa", "steps": 2}
    made, events = [], []
    for dtype in ("float32", "float16"):
        request = request_of(folder, tmp_path=tmp_path, dtype=dtype, **start)
        result = Engine(Catalog.standard()).generate(request, events.append, lambda: False)
        made.append(picture(result.images[0].path))
    notices = [each.message for each in events if isinstance(each, Notice) and each.code == "vae_overflowed"]
    assert notices == ["the VAE overflows in float16: its activations are scaled down"]
    assert np.abs(made[0] - made[1]).mean() < 3
