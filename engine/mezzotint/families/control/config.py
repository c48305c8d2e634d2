"""Configuration of a ControlNet: what its tensors' shapes show, its folder states, or its U-Net has as well.

A ControlNet begins as a copy of the U-Net's way down (arXiv 2302.05543), so what neither shows is the U-Net's.
"""

from collections.abc import Mapping

from mezzotint.families.control.checkpoint import ControlCheckpoint
from mezzotint.families.control.shapes import Config, NamedShapes

_LIKE_UNET = (
    "act_fn",
    "addition_time_embed_dim",
    "attention_head_dim",
    "cross_attention_dim",
    "downsample_padding",
    "flip_sin_to_cos",
    "freq_shift",
    "mid_block_scale_factor",
    "norm_eps",
    "norm_num_groups",
    "num_attention_heads",
    "only_cross_attention",
    "resnet_time_scale_shift",
    "upcast_attention",
)
_OWN = ("controlnet_conditioning_channel_order", "global_pool_conditions", "num_trans_head")


def control_config(checkpoint: ControlCheckpoint, unet: Mapping[str, object]) -> Config:
    """Configuration of its network beside this U-Net; raises ModelRefused if its tensors are not a ControlNet's."""
    shapes = NamedShapes(checkpoint.shapes, checkpoint.path, "a ControlNet of a U-Net")
    levels = shapes.count(r"down_blocks\.(\d+)\.resnets\.")
    layers = shapes.count(r"down_blocks\.0\.resnets\.(\d+)\.")
    depths = [shapes.count(rf"down_blocks\.{level}\.attentions\.0\.transformer_blocks\.(\d+)\.") for level in levels]
    middle = len(shapes.count(r"mid_block\.attentions\.0\.transformer_blocks\.(\d+)\."))
    config: Config = {name: unet[name] for name in _LIKE_UNET if name in unet}
    config |= {name: value for name, value in checkpoint.config.items() if name in (*_LIKE_UNET, *_OWN)}
    config |= {
        "_class_name": "ControlNetUnionModel" if checkpoint.is_union else "ControlNetModel",
        "in_channels": shapes.of("conv_in.weight", 4)[1],
        "block_out_channels": [shapes.of(f"down_blocks.{level}.resnets.0.conv2.weight", 4)[0] for level in levels],
        "layers_per_block": len(layers),
        "down_block_types": ["CrossAttnDownBlock2D" if depth else "DownBlock2D" for depth in depths],
        # Unused for levels without attention, but the last value also applies to the middle block.
        "transformer_layers_per_block": [*(len(depth) or 1 for depth in depths[:-1]), middle or 1],
        **_conditioning(shapes),
        **_text(shapes),
        **_sizes(shapes),
    }
    if checkpoint.is_union:
        return config | _union(shapes)
    return config | {"mid_block_type": "UNetMidBlock2DCrossAttn" if middle else "UNetMidBlock2D"}


def _conditioning(shapes: NamedShapes) -> Config:
    """Channels of the convolutions that bring the image to the size of the latents."""
    embedding = "controlnet_cond_embedding"
    convolutions = shapes.count(rf"{embedding}\.blocks\.(\d+)\.")
    first = shapes.of(f"{embedding}.conv_in.weight", 4)
    widths = [shapes.of(f"{embedding}.blocks.{number}.weight", 4)[0] for number in convolutions if number % 2]
    return {"conditioning_channels": first[1], "conditioning_embedding_out_channels": [first[0], *widths]}


def _text(shapes: NamedShapes) -> Config:
    keys = shapes.first(r".*\.attn2\.to_k\.weight")
    inner = shapes.first(r".*\.attentions\.\d+\.proj_in\.weight")
    found: Config = {} if keys is None else {"cross_attention_dim": shapes.of(keys, 2)[1]}
    return found if inner is None else found | {"use_linear_projection": len(shapes.by_name[inner]) == 2}


def _sizes(shapes: NamedShapes) -> Config:
    """The embedding of sizes and pooled text, which SDXL has."""
    name = "add_embedding.linear_1.weight"
    if name not in shapes.by_name:
        return {}
    return {"addition_embed_type": "text_time", "projection_class_embeddings_input_dim": shapes.of(name, 2)[1]}


def _union(shapes: NamedShapes) -> Config:
    kinds, width = shapes.of("task_embedding", 2)
    return {
        "addition_time_embed_dim": shapes.of("control_add_embedding.linear_1.weight", 2)[1] // kinds,
        "num_control_type": kinds,
        "num_trans_channel": width,
        "num_trans_layer": len(shapes.count(r"transformer_layes\.(\d+)\.")),  # diffusers' spelling
        "num_proj_channel": shapes.of("spatial_ch_projs.weight", 2)[0],
    }
