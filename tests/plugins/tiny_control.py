"""Small random ControlNets and T2I-Adapters for tests: folders, files, and files with original key names."""

import re
from pathlib import Path
from typing import Any

from tiny_sdxl import LAYERS, unet_name

EMBEDDING = (16, 32)  # channels of the convolutions before the network: two pixels per latent


def write_tiny_control(folder: Path, model: Path, *, union: int = 0, seed: int = 1, **unlike: object) -> Path:
    """Write a ControlNet for a model's U-Net; `union`: the kinds of images it tells apart; `unlike`: other settings."""
    import torch
    from diffusers import ControlNetModel, ControlNetUnionModel, UNet2DConditionModel

    torch.manual_seed(seed)
    unet = UNet2DConditionModel.load_config(model / "unet")
    names = ("block_out_channels", "layers_per_block", "down_block_types", "attention_head_dim", "cross_attention_dim")
    more = ("use_linear_projection", "transformer_layers_per_block", "addition_embed_type", "addition_time_embed_dim")
    more += ("projection_class_embeddings_input_dim",)
    settings = {name: unet[name] for name in (*names, *more)}
    settings |= {"conditioning_embedding_out_channels": EMBEDDING, **unlike}
    if union:
        kinds = {"num_control_type": union, "num_trans_channel": 32, "num_proj_channel": 32}
        network: Any = ControlNetUnionModel(**settings, **kinds)
    else:
        network = ControlNetModel(**settings)
    with torch.no_grad():
        for parameter in network.parameters():
            if not parameter.any():  # what begins at zero, so that it has an effect
                parameter.normal_(std=0.2)
    network.eval().save_pretrained(folder)
    return folder


def write_tiny_t2i_adapter(folder: Path, kind: str, channels: tuple[int, ...], *, factor: int, seed: int = 5) -> Path:
    """Write a T2I-Adapter; `factor`: pixels per feature of its first level along a side."""
    import torch
    from diffusers import T2IAdapter

    torch.manual_seed(seed)
    colours = 1 if "gray" in folder.name else 3
    adapter = T2IAdapter(
        in_channels=colours, channels=list(channels), num_res_blocks=2, downscale_factor=factor, adapter_type=kind
    )
    adapter.eval().save_pretrained(folder)
    return folder


def weights_of(folder: Path) -> Path:
    """The weight file of such a folder."""
    return folder / "diffusion_pytorch_model.safetensors"


def write_original_control(folder: Path, path: Path, *, prefix: str = "control_model.") -> Path:
    """Write a folder's weights as one file with original key names."""
    from safetensors.torch import load_file, save_file

    tensors = load_file(weights_of(folder))
    save_file({prefix + original_name(name): tensor.contiguous() for name, tensor in tensors.items()}, path)
    return path


def original_name(name: str, layers: int = LAYERS, convolutions: int = 2 * len(EMBEDDING)) -> str:
    """Return the original name of a tensor of diffusers' ControlNet; `convolutions`: before the network."""
    last = 2 * (convolutions - 1)
    name = name.replace("controlnet_cond_embedding.conv_in", "input_hint_block.0")
    name = name.replace("controlnet_cond_embedding.conv_out", f"input_hint_block.{last}")
    name = name.replace("controlnet_mid_block", "middle_block_out.0")
    if match := re.fullmatch(r"controlnet_cond_embedding\.blocks\.(\d+)\.(.+)", name):
        return f"input_hint_block.{2 * int(match[1]) + 2}.{match[2]}"
    if match := re.fullmatch(r"controlnet_down_blocks\.(\d+)\.(.+)", name):
        return f"zero_convs.{match[1]}.0.{match[2]}"
    return name if name.startswith(("input_hint", "middle_block_out")) else unet_name(name, layers)
