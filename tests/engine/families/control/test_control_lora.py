"""Control LoRAs: what they change beside low-rank products, and who can use them."""

import pytest
import torch
from safetensors.torch import save_file
from tiny_flux1 import transformer, write_tiny_control_lora, write_tiny_flux

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.errors import ModelRefused
from mezzotint.families.control.control_lora import Patches, why_no_control_lora, with_control_lora
from mezzotint.families.detection import detect
from mezzotint.families.family import LoadedModel, Patch
from mezzotint.families.loading.networks import load_components
from mezzotint.families.lora.file import open_lora
from mezzotint.families.model_sources import sources_of

BLOCK, SINGLE = "transformer_blocks.0", "single_transformer_blocks.0"


@pytest.fixture(scope="module")
def shapes():
    network = transformer(guidance_embeds=True, in_channels=128, out_channels=64)
    return {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}


def patches_of(path, tensors, shapes, scale=1.0):
    save_file(tensors, path)
    return Patches(Patch(file=path, scale=scale), shapes)


def test_original_names(shapes, tmp_path):
    biases = {
        "double_blocks.0.img_attn.qkv": 144,
        "single_blocks.0.linear1": 48 * 7,
        "final_layer.adaLN_modulation.1": 96,
    }
    tensors = {f"{name}.lora_B.bias": torch.arange(size).float() for name, size in biases.items()}
    tensors["double_blocks.0.txt_attn.norm.key_norm.scale"] = torch.full((16,), 3.0)
    found = patches_of(tmp_path / "a.safetensors", tensors, shapes, scale=0.5)

    def added(name, size):
        return found.of(name, torch.ones(size)).tolist()

    assert added(f"{BLOCK}.attn.to_k.bias", 48) == [1 + number / 2 for number in range(48, 96)]
    assert added(f"{SINGLE}.proj_mlp.bias", 192) == [1 + number / 2 for number in range(144, 336)]
    assert added("norm_out.linear.bias", 96) == [1 + number / 2 for number in (*range(48, 96), *range(48))]
    assert added(f"{BLOCK}.attn.norm_added_k.weight", 16) == [3.0] * 16  # instead, whatever the weight
    assert added(f"{BLOCK}.attn.to_out.0.bias", 48) == [1.0] * 48
    wide = found.of("x_embedder.weight", torch.ones(48, 64))
    assert wide.shape == (48, 128) and not wide[:, 64:].any() and wide[:, :64].all()
    assert len(found.names) == 4 + 3 + 1 + 1 + 1


@pytest.mark.parametrize("tensor", [torch.zeros(47), torch.full((48,), torch.nan)])
def test_damaged_ones_are_refused(shapes, tmp_path, tensor):
    with pytest.raises(ModelRefused, match=r"'img_in.lora_B.bias' is not finite, or for another model"):
        patches_of(tmp_path / "a.safetensors", {"img_in.lora_B.bias": tensor}, shapes)


def test_they_are_no_ordinary_loras(tmp_path):
    path = write_tiny_control_lora(tmp_path / "lora.safetensors")
    with pytest.raises(ModelRefused, match="a control LoRA, which needs a control image: give it with --control IMAGE"):
        open_lora(path)
    file = open_lora(path, controls=True)
    assert file.unknown == () and {layer.layer for layer in file.layers} >= {"x_embedder"}
    assert Patches(None, {}).names == set()


def test_what_is_patched_is_not_left_on_disk(tmp_path):
    folder = write_tiny_flux(tmp_path / "FLUX.1-dev", num_attention_heads=16, num_layers=1, num_single_layers=1)
    save_file({"img_in.lora_B.bias": torch.ones(256)}, tmp_path / "lora.safetensors")
    checkpoint = open_checkpoint(folder)
    plain = sources_of(checkpoint, detect(checkpoint))
    assert why_no_control_lora(plain, "dev") is None
    sources = with_control_lora(plain, Patch(file=tmp_path / "lora.safetensors", scale=0.5))
    assert sources.takes_control and "takes 128 channels already" in str(why_no_control_lora(sources, "dev"))

    def loaded(sources, **fields):
        model = LoadedModel(sources=sources, device=torch.device("cpu"), dtype=torch.float32, **fields)
        load_components(
            model, ["transformer"], on_bytes=lambda *_: None, cancelled=lambda: False, notify=lambda _: None
        )
        return model

    model, before = loaded(sources, from_disk=frozenset({"transformer"})), loaded(plain).networks["transformer"]
    embedder = model.networks["transformer"].x_embedder
    assert model.on_disk["transformer"] and "x_embedder.weight" not in model.on_disk["transformer"]
    assert torch.equal(embedder.weight[:, :64], before.x_embedder.weight) and not embedder.weight[:, 64:].any()
    assert torch.equal(embedder.bias, before.x_embedder.bias + 0.5)
