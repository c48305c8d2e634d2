"""What other programs make of our LoRA files: diffusers by its own loaders, ComfyUI by its key map."""

import importlib
import re

import diffusers
import pytest
import torch
from safetensors.torch import load_file
from tiny_sdxl import unet_name
from written_loras import added, merge, random_factors, small_networks

from mezzotint.families.lora.description import Description
from mezzotint.families.lora.factors import LoraFactors
from mezzotint.families.lora.writing import write_lora

PIPELINES = {
    "sdxl": "StableDiffusionXLPipeline",
    "sd15": "StableDiffusionPipeline",
    "flux": "FluxPipeline",
    "chroma": "ChromaPipeline",
    "sd3": "StableDiffusion3Pipeline",
    "sana": "SanaPipeline",
    "sana-sprint": "SanaSprintPipeline",
    "z-image": "ZImagePipeline",
    "qwen-image": "QwenImagePipeline",
    "qwen-image-edit": "QwenImageEditPlusPipeline",
    "flux2-klein": "Flux2KleinPipeline",
    "krea2": "Krea2Pipeline",
}
UNKNOWN = {  # to diffusers: it has no names for the first, and does not swap the halves of the last
    "sdxl": [("text_encoder_2", "text_projection"), *(("unet", f"add_embedding.linear_{at}") for at in (1, 2))],
    "flux2-klein": [("transformer", "norm_out.linear")],
}
PART = re.compile(r"(.+?)(?:_lora|\.lora|\.lora_linear_layer)?\.(?:lora_)?(down|up|A|B)\.weight")

# ComfyUI's key map (comfy/lora.py, comfy/utils.py): layers in LoRA files, the weights that they are for in its model
# files, and the thirds or sevenths of their rows. Names that are not in a table are those of the model file.
HALVES = "halves"  # of the rows, in the other order
BLOCK = r"transformer_blocks\.(\d+)\."
FLUX = {
    **{BLOCK + rf"attn\.to_{part}": (r"double_blocks.\1.img_attn.qkv", (at, 1, 3)) for at, part in enumerate("qkv")},
    **{
        BLOCK + rf"attn\.add_{part}_proj": (r"double_blocks.\1.txt_attn.qkv", (at, 1, 3))
        for at, part in enumerate("qkv")
    },
    BLOCK + r"attn\.to_out\.0": (r"double_blocks.\1.img_attn.proj", None),
    BLOCK + r"attn\.to_add_out": (r"double_blocks.\1.txt_attn.proj", None),
    BLOCK + r"norm1\.linear": (r"double_blocks.\1.img_mod.lin", None),
    BLOCK + r"norm1_context\.linear": (r"double_blocks.\1.txt_mod.lin", None),
    BLOCK + r"ff\.net\.0\.proj": (r"double_blocks.\1.img_mlp.0", None),
    BLOCK + r"ff\.net\.2": (r"double_blocks.\1.img_mlp.2", None),
    BLOCK + r"ff_context\.net\.0\.proj": (r"double_blocks.\1.txt_mlp.0", None),
    BLOCK + r"ff_context\.net\.2": (r"double_blocks.\1.txt_mlp.2", None),
    **{rf"single_{BLOCK}attn\.to_{part}": (r"single_blocks.\1.linear1", (at, 1, 7)) for at, part in enumerate("qkv")},
    rf"single_{BLOCK}proj_mlp": (r"single_blocks.\1.linear1", (3, 4, 7)),
    rf"single_{BLOCK}norm\.linear": (r"single_blocks.\1.modulation.lin", None),
    rf"single_{BLOCK}proj_out": (r"single_blocks.\1.linear2", None),
    "proj_out": ("final_layer.linear", None),
    "x_embedder": ("img_in", None),
    "context_embedder": ("txt_in", None),
    r"time_text_embed\.timestep_embedder\.linear_1": ("time_in.in_layer", None),
    r"time_text_embed\.timestep_embedder\.linear_2": ("time_in.out_layer", None),
    r"time_text_embed\.text_embedder\.linear_1": ("vector_in.in_layer", None),
    r"time_text_embed\.text_embedder\.linear_2": ("vector_in.out_layer", None),
    r"time_text_embed\.guidance_embedder\.linear_1": ("guidance_in.in_layer", None),
    r"time_text_embed\.guidance_embedder\.linear_2": ("guidance_in.out_layer", None),
    r"norm_out\.linear": ("final_layer.adaLN_modulation.1", HALVES),
}
SD3 = {
    **{
        BLOCK + rf"(attn2?)\.to_{part}": (r"joint_blocks.\1.x_block.\2.qkv", (at, 1, 3))
        for at, part in enumerate("qkv")
    },
    **{
        BLOCK + rf"attn\.add_{part}_proj": (r"joint_blocks.\1.context_block.attn.qkv", (at, 1, 3))
        for at, part in enumerate("qkv")
    },
    BLOCK + r"(attn2?)\.to_out\.0": (r"joint_blocks.\1.x_block.\2.proj", None),
    BLOCK + r"attn\.to_add_out": (r"joint_blocks.\1.context_block.attn.proj", None),
    BLOCK + r"ff\.net\.0\.proj": (r"joint_blocks.\1.x_block.mlp.fc1", None),
    BLOCK + r"ff\.net\.2": (r"joint_blocks.\1.x_block.mlp.fc2", None),
    BLOCK + r"ff_context\.net\.0\.proj": (r"joint_blocks.\1.context_block.mlp.fc1", None),
    BLOCK + r"ff_context\.net\.2": (r"joint_blocks.\1.context_block.mlp.fc2", None),
}
Z_IMAGE = {
    **{rf"(.+)\.attention\.to_{part}": (r"\1.attention.qkv", (at, 1, 3)) for at, part in enumerate("qkv")},
    r"(.+)\.attention\.to_out\.0": (r"\1.attention.out", None),
    r"all_(x_embedder|final_layer)\.2-1(.*)": (r"\1\2", None),
}
COMFYUI = {
    "flux": ("tiny_flux1", "transformer.", FLUX),
    "sd3": ("tiny_sd3", "transformer.", SD3),
    "z-image": ("tiny_z_image", "diffusion_model.", Z_IMAGE),
    "qwen-image": ("", "diffusion_model.", {}),
    "flux2-klein": ("tiny_flux2", "diffusion_model.", {}),
    "krea2": ("tiny_krea2", "diffusion_model.", {}),
}


def written(tmp_path, factors, family):
    path = tmp_path / f"{family}.safetensors"
    write_lora(path, factors, family, Description(title="x"), dtype=torch.float32)
    return load_file(path)


def pairs(tensors, alphas=None):
    """The factors of a file or of a converted one, by layer."""
    found = {}
    for name, tensor in tensors.items():
        if match := PART.fullmatch(name):
            found.setdefault(match[1], {})["down" if match[2] in ("down", "A") else "up"] = tensor
    return {name: LoraFactors(**each, alpha=_alpha(name, each, tensors, alphas)) for name, each in found.items()}


def _alpha(name, factors, tensors, alphas):
    known = {_of(key.removesuffix(".alpha")): value for key, value in (alphas or {}).items()}
    return float(tensors.get(f"{name}.alpha", known.get(name, len(factors["down"]))))


def _of(name):
    match = PART.fullmatch(name)
    return name if match is None else match[1]


@pytest.mark.slow_after(6)
@pytest.mark.parametrize("family", PIPELINES)
def test_diffusers_own_loaders_find_the_same_in_the_same_layers(family, tmp_path):
    networks = small_networks(family, tmp_path / "model")
    factors = random_factors(networks, alpha=1.5)
    for component, layer in UNKNOWN.get(family, ()):
        del factors[component][layer]
    converted = getattr(diffusers, PIPELINES[family]).lora_state_dict(dict(written(tmp_path, factors, family)))
    found = pairs(*converted) if isinstance(converted, tuple) else pairs(converted)
    wanted = {f"{component}.{name}": each for component, layers in factors.items() for name, each in layers.items()}
    found = {_today(name): each for name, each in found.items()}
    assert found.keys() == wanted.keys()
    for name, each in wanted.items():
        torch.testing.assert_close(added(found[name]), added(each), rtol=1e-6, atol=1e-9)


def _today(name):
    name = re.sub(r"^(text_encoder)\.text_model\.", r"\1.", name)
    name = re.sub(r"\.self_attn\.to_(q|k|v|out)$", r".self_attn.\1_proj", name.replace(".processor.", "."))
    return f"{name}.0" if re.search(r"unet.+to_out$", name) else name


@pytest.mark.parametrize("family", COMFYUI)
def test_comfyuis_key_map_finds_the_same_in_the_same_weights(family, tmp_path):
    plugin, prefix, table = COMFYUI[family]
    networks = small_networks(family, tmp_path)
    factors = random_factors(networks, alpha=1.5)
    if family == "sd3":  # its map lacks what is modulated or embedded
        factors = {"transformer": {name: each for name, each in factors["transformer"].items()
                                   if ".attn" in name or ".ff" in name}}  # fmt: skip
    tensors = written(tmp_path, factors, family)
    plain = originals(networks, plugin, tmp_path / "plain")
    for layer, each in pairs(tensors).items():
        name, rows = original(layer.removeprefix(prefix), table)
        _add(plain[f"{name}.weight"], added(each), rows)
    merge(networks, factors)
    for name, tensor in originals(networks, plugin, tmp_path / "merged").items():
        torch.testing.assert_close(plain[name], tensor, rtol=1e-6, atol=1e-6, msg=name)


def test_comfyuis_key_map_of_u_nets(tmp_path):
    networks = small_networks("sdxl", tmp_path / "model")
    factors = {"unet": random_factors(networks)["unet"]}
    names = {}  # ComfyUI's own names, and diffusers' names for them
    for layer in factors["unet"]:
        own = unet_name(f"{layer}.weight")
        names[f"lora_unet_{layer.replace('.', '_')}"] = own
        names[f"lora_unet_{own.removesuffix('.weight').replace('.', '_')}"] = own
    tensors = written(tmp_path, factors, "sdxl")
    found = {names[name]: each for name, each in pairs(tensors).items()}
    assert found.keys() == {unet_name(f"{layer}.weight") for layer in factors["unet"]}
    for layer, each in factors["unet"].items():
        assert torch.equal(found[unet_name(f"{layer}.weight")].up, each.up)


def test_comfyuis_key_map_of_text_encoders(tmp_path):
    networks = small_networks("sdxl", tmp_path / "model")
    del networks["unet"]
    known = {
        f"lora_te{number}_text_model_encoder_layers_{layer}_{part}"
        for number in (1, 2)
        for layer in range(9)
        for part in ("mlp_fc1", "mlp_fc2", *(f"self_attn_{part}_proj" for part in ("k", "q", "v", "out")))
    }
    assert set(pairs(written(tmp_path, random_factors(networks), "sdxl"))) <= {*known, "lora_te2_text_projection"}


def original(layer, table):
    for pattern, (name, rows) in table.items():
        if match := re.fullmatch(pattern, layer):
            return match.expand(name), rows
    return layer, None


def originals(networks, plugin, folder):
    networks["transformer"].save_pretrained(folder / "transformer")
    if not plugin:
        return {name: each.clone() for name, each in networks["transformer"].state_dict().items()}
    return importlib.import_module(plugin).original_transformer(folder)


def _add(weight, update, rows):
    if rows == HALVES:
        update = torch.cat(update.chunk(2)[::-1])
    elif rows is not None:
        first, count, of = rows
        share = len(weight) // of
        weight = weight[first * share : (first + count) * share]
    weight.copy_(weight.double() + update.reshape(weight.shape))
