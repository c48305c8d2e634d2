"""Configuration of a ControlNet for FLUX.1 or Qwen-Image: by its tensors' shapes, and like its transformer's."""

from collections.abc import Mapping

from mezzotint.families.control.shapes import Config, NamedShapes

MARK = "controlnet_x_embedder.weight"
FLUX_MARK, QWEN_MARK = "context_embedder.weight", "txt_in.weight"
Z_IMAGE_MARK = "control_all_x_embedder.2-1.weight"
MODES = "controlnet_mode_embedder.weight"
_MOST_BLOCKS = 256


def flux_config(shapes: NamedShapes, transformer: Mapping[str, object]) -> Config:
    """Configuration of its network beside this transformer; raises ModelRefused if its tensors are not laid out so."""
    width, channels = shapes.of("x_embedder.weight", 2)
    head = shapes.of("transformer_blocks.0.attn.norm_q.weight", 1)[0]
    return {
        "_class_name": "FluxControlNetModel",
        "in_channels": channels,
        "num_layers": len(shapes.count(r"transformer_blocks\.(\d+)\.", most=_MOST_BLOCKS)),
        "num_single_layers": len(shapes.count(r"single_transformer_blocks\.(\d+)\.", most=_MOST_BLOCKS)),
        "attention_head_dim": head,
        "num_attention_heads": width // head,
        "joint_attention_dim": shapes.of("context_embedder.weight", 2)[1],
        "pooled_projection_dim": shapes.of("time_text_embed.text_embedder.linear_1.weight", 2)[1],
        "guidance_embeds": "time_text_embed.guidance_embedder.linear_1.weight" in shapes.by_name,
        "axes_dims_rope": transformer.get("axes_dims_rope", [16, 56, 56]),
        "num_mode": shapes.of(MODES, 2)[0] if MODES in shapes.by_name else None,
    }


def qwen_config(shapes: NamedShapes, transformer: Mapping[str, object]) -> Config:
    """The same for Qwen-Image."""
    width, channels = shapes.of("img_in.weight", 2)
    head = shapes.of("transformer_blocks.0.attn.norm_q.weight", 1)[0]
    return {
        "_class_name": "QwenImageControlNetModel",
        "in_channels": channels,
        "out_channels": channels // 4,
        "num_layers": len(shapes.count(r"transformer_blocks\.(\d+)\.", most=_MOST_BLOCKS)),
        "attention_head_dim": head,
        "num_attention_heads": width // head,
        "joint_attention_dim": shapes.of("txt_in.weight", 2)[1],
        "axes_dims_rope": transformer.get("axes_dims_rope", [16, 56, 56]),
        "extra_condition_channels": shapes.of(MARK, 2)[1] - channels,
    }


def why_other_transformer(config: Config, transformer: Mapping[str, object]) -> str | None:
    """Why a transformer cannot take what it adds; None if it can."""
    if config.get("extra_condition_channels"):
        return f"it takes {config['extra_condition_channels']} more channels than an image has, as for inpainting"
    names = ("in_channels", "attention_head_dim", "num_attention_heads", "joint_attention_dim", "pooled_projection_dim")
    for name in names:
        if name in config and config[name] != transformer.get(name):
            return f"its {name} is {config[name]}, the model's {transformer.get(name)}"
    return None
