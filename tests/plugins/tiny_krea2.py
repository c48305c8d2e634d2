"""Small random Krea 2 models for tests."""

import re
from pathlib import Path
from typing import Any

from original_files import seeing_model, wan_vae, weights
from tiny_flow import qwen3_vl, qwen_tokenizer, video_autoencoder

LAYERS = (1, 3)
PUBLISHED_LAYERS = tuple(range(2, 36, 3))


def write_tiny_krea2(
    folder: Path, *, seed: int = 0, distilled: bool = True, layers: tuple[int, ...] = LAYERS, blocks: int = 1
) -> Path:
    """Write a diffusers folder of Turbo or Raw."""
    import torch
    from diffusers import FlowMatchEulerDiscreteScheduler, Krea2Pipeline

    torch.manual_seed(seed)
    pipeline = Krea2Pipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(max_image_seq_len=6400, use_dynamic_shifting=True),
        vae=video_autoencoder(blocks),
        text_encoder=qwen3_vl(layers=max(layers) + 1),
        tokenizer=qwen_tokenizer(),
        transformer=transformer(len(layers)),
        text_encoder_select_layers=layers,
        is_distilled=distilled,
    )
    pipeline.save_pretrained(folder)
    return folder


def transformer(text_layers: int = len(LAYERS), **others: Any) -> Any:
    """Return a Krea 2 transformer; `others` are other settings."""
    import torch
    from diffusers import Krea2Transformer2DModel

    settings: dict[str, Any] = {
        "num_layers": 2,
        "attention_head_dim": 16,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "intermediate_size": 96,
        "text_hidden_dim": 32,
        "num_text_layers": text_layers,
        "text_num_attention_heads": 2,
        "text_num_key_value_heads": 2,
        "text_intermediate_size": 48,
        "num_layerwise_text_blocks": 1,
        "num_refiner_text_blocks": 1,
        "axes_dims_rope": (4, 6, 6),
    }
    network = Krea2Transformer2DModel(**settings | others)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.normal_(std=0.1) if parameter.ndim < 2 else None
    return network.eval()


_FIRST_NAMES = {
    r"^img_in\.": "first.",
    r"^time_embed\.linear_1\.": "tmlp.0.",
    r"^time_embed\.linear_2\.": "tmlp.2.",
    r"^time_mod_proj\.": "tproj.1.",
    r"^txt_in\.norm\.weight": "txtmlp.0.scale",
    r"^txt_in\.linear_1\.": "txtmlp.1.",
    r"^txt_in\.linear_2\.": "txtmlp.3.",
    r"^text_fusion\.": "txtfusion.",
    r"^final_layer\.scale_shift_table": "last.modulation.lin",
    r"^final_layer\.norm\.weight": "last.norm.scale",
    r"^final_layer\.": "last.",
    r"^transformer_blocks\.": "blocks.",
    r"\.scale_shift_table": ".mod.lin",
    r"\.attn\.to_([qkv])\.": r".attn.w\1.",
    r"\.attn\.to_out\.0\.": ".attn.wo.",
    r"\.attn\.to_gate\.": ".attn.gate.",
    r"\.attn\.norm_([qk])\.weight": r".attn.qknorm.\1norm.scale",
    r"\.norm1\.weight": ".prenorm.scale",
    r"\.norm2\.weight": ".postnorm.scale",
    r"\.ff\.": ".mlp.",
}


def original_transformer(folder: Path) -> dict[str, Any]:
    """Return a folder's transformer with its original key names."""
    made = {}
    for name, each in weights(folder, "transformer").items():
        first = name
        for new, old in _FIRST_NAMES.items():
            first = re.sub(new, old, first)
        made[first] = each.flatten() if first.endswith(".mod.lin") else each
    return made


def split_files(folder: Path) -> dict[str, dict[str, Any]]:
    """Return tensors by their file names in ComfyUI's folders."""
    return {
        "diffusion_models/krea2_turbo_bf16.safetensors": original_transformer(folder),
        "text_encoders/qwen3vl_4b_bf16.safetensors": seeing_model(folder, "model.visual."),
        "vae/qwen_image_vae.safetensors": wan_vae(folder),
    }
