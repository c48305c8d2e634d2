"""IP-Adapters: which models they fit, where their image encoder is, and what is refused."""

import json
import shutil

import pytest
import torch
from diffusers import UNet2DConditionModel
from safetensors.torch import load_file, save_file
from tiny_ip_adapter import write_image_encoder, write_tiny_ip_adapter
from tiny_sd15 import write_tiny_sd15

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.errors import ModelRefused
from mezzotint.families.control.checkpoint import control_files, open_control
from mezzotint.families.control.fitting import why_not, with_control
from mezzotint.families.control.ip_adapter import cross_attention_widths
from mezzotint.families.detection import detect
from mezzotint.families.model_sources import sources_of


def sources(folder):
    checkpoint = open_checkpoint(folder)
    return sources_of(checkpoint, detect(checkpoint))


@pytest.fixture(scope="module")
def adapter(tiny_sdxl_folder, tmp_path_factory):
    return write_tiny_ip_adapter(tmp_path_factory.mktemp("adapter") / "sdxl_models", tiny_sdxl_folder)


@pytest.mark.parametrize(
    "settings",
    [
        {"block_out_channels": (32, 64), "transformer_layers_per_block": (1, 2), "layers_per_block": 1},
        {"block_out_channels": (32, 32), "transformer_layers_per_block": 2, "layers_per_block": (1, 2)},
    ],
)
def test_the_layers_are_those_of_the_network(settings):
    down, up = ("DownBlock2D", "CrossAttnDownBlock2D"), ("CrossAttnUpBlock2D", "UpBlock2D")
    heads = {"attention_head_dim": 8, "norm_num_groups": 8, "cross_attention_dim": 16}
    with torch.device("meta"):
        network = UNet2DConditionModel(**settings, **heads, down_block_types=down, up_block_types=up)
    found = [layer.inner_dim for name, layer in network.named_modules() if name.endswith("attn2")]
    assert cross_attention_widths(network.config) == found


def test_a_component_with_the_encoder_beside_it(adapter, tiny_sdxl_folder, tmp_path):
    found, name = with_control(sources(tiny_sdxl_folder), open_control(adapter))
    assert (name, found.components[name].class_name) == ("ip_adapter", "ImagePrompt")
    encoder = adapter.parent / "image_encoder"
    assert control_files(adapter) == (adapter, encoder / "model.safetensors")
    elsewhere = tmp_path / "repository" / "sdxl_models" / adapter.name
    elsewhere.parent.mkdir(parents=True)
    shutil.copy(adapter, elsewhere)
    with pytest.raises(ModelRefused, match="no image encoder of the width 48 .* encoder="):
        open_control(elsewhere)
    others = tmp_path / "repository" / "clip_vision"
    others.mkdir()
    (others / "a.safetensors").write_bytes(b"no weights")
    shutil.copy(encoder / "model.safetensors", others / "b.safetensors")
    assert open_control(elsewhere).files == (elsewhere, others / "b.safetensors")
    shutil.copytree(encoder, tmp_path / "repository" / "models" / "image_encoder")
    near = tmp_path / "repository" / "models" / "image_encoder" / "model.safetensors"
    assert open_control(elsewhere).files == (elsewhere, near)
    assert open_control(elsewhere).config == open_control(elsewhere, str(encoder / "model.safetensors")).config


def test_what_fits_another_model_only(adapter, tiny_sdxl_folder, tiny_pixart_folder, tmp_path):
    sd15 = sources(write_tiny_sd15(tmp_path / "sd15"))
    found = open_control(adapter)
    assert why_not(found, sources(tiny_sdxl_folder), "xl") is None
    assert why_not(found, sd15, "tiny") == "it takes text of width 96, but tiny gives 32"
    assert why_not(found, sources(tiny_pixart_folder), "dit").startswith("dit is of the family pixart")
    tensors = load_file(adapter)
    last = max(int(name.split(".")[1]) for name in tensors if name.startswith("ip_adapter."))
    fewer = {name: one for name, one in tensors.items() if not name.startswith(f"ip_adapter.{last}.")}
    save_file(fewer, tmp_path / "fewer.safetensors")
    checkpoint = open_control(tmp_path / "fewer.safetensors", str(adapter.parent / "image_encoder"))
    assert "it has keys and values for" in why_not(checkpoint, sources(tiny_sdxl_folder), "xl")


def test_what_is_refused(adapter, tmp_path):
    encoder = str(adapter.parent / "image_encoder")

    def refused(match, tensors, given=encoder):
        path = tmp_path / "file.safetensors"
        save_file({name: torch.zeros(shape) for name, shape in tensors.items()}, path)
        with pytest.raises(ModelRefused, match=match):
            open_control(path, given)

    layer = {"ip_adapter.1.to_k_ip.weight": (4, 4)}
    refused("FaceID, which is not supported", {**layer, "image_proj.proj.0.weight": (4, 4)})
    refused("FaceID, which is not supported", {**layer, "ip_adapter.0.to_k_lora.down.weight": (4, 4)})
    refused("Full Face, which is not supported", {**layer, "image_proj.proj.3.weight": (4, 4)})
    refused("another kind, which is not supported", layer)
    refused("proj.weight has the shape", {**layer, "image_proj.proj.weight": (4,)})
    refused("encoder .* has the width 48, and 4 is needed", {**layer, "image_proj.proj.weight": (4, 4)})
    refused("neither an IP-Adapter nor Redux, and only those take", {"controlnet_cond_embedding.conv_in.weight": (1,)})
    folder = write_image_encoder(tmp_path / "encoder")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "auto_map": {}}))
    refused("'auto_map' requires code", {**layer, "image_proj.proj.weight": (4, 4)}, str(folder))
