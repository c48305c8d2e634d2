"""Small random Stable Diffusion 3.5 models for tests."""

from pathlib import Path
from typing import Any

from original_files import joined, ldm_vae, weights
from tiny_flow import clip_with_projection, kl_autoencoder, t5, t5_tokenizer

from mezzotint.families.tokenizers import clip_tokenizer


def write_tiny_sd3(folder: Path, *, seed: int = 0, with_t5: bool = True, **scheduler: object) -> Path:
    """Write a diffusers folder in the style of Medium; `scheduler` overrides the scheduler's settings."""
    import torch
    from diffusers import FlowMatchEulerDiscreteScheduler, StableDiffusion3Pipeline

    torch.manual_seed(seed)
    settings = {"shift": 3.0} | scheduler
    pipeline = StableDiffusion3Pipeline(
        transformer=transformer(),
        scheduler=FlowMatchEulerDiscreteScheduler(**settings),
        vae=kl_autoencoder(scaling_factor=1.5305, shift_factor=0.0609),
        text_encoder=clip_with_projection(width=24, activation="quick_gelu"),
        tokenizer=clip_tokenizer(pad_token="<|endoftext|>"),
        text_encoder_2=clip_with_projection(width=40, activation="gelu"),
        tokenizer_2=clip_tokenizer(pad_token="!"),
        text_encoder_3=t5(width=64) if with_t5 else None,
        tokenizer_3=t5_tokenizer() if with_t5 else None,
    )
    pipeline.save_pretrained(folder)
    return folder


def split_files(folder: Path) -> dict[str, dict[str, Any]]:
    """Return tensors by their file names in ComfyUI's folders."""
    return {
        "diffusion_models/sd3.5_large_turbo.safetensors": original_transformer(folder),
        "text_encoders/t5xxl_fp16.safetensors": weights(folder, "text_encoder_3"),
        "text_encoders/clip_l.safetensors": weights(folder, "text_encoder"),
        "text_encoders/clip_g.safetensors": weights(folder, "text_encoder_2"),
        "vae/sd3_vae.safetensors": ldm_vae(folder),
    }


def original_transformer(folder: Path) -> dict[str, Any]:
    """Return the transformer with its original key names."""
    import torch

    whole = weights(folder, "transformer")
    last = max(int(name.split(".")[1]) for name in whole if name.startswith("transformer_blocks."))
    for name in [name for name in whole if name.startswith(("norm_out.", f"transformer_blocks.{last}.norm1_context."))]:
        whole[name] = torch.cat(whole[name].chunk(2)[::-1])
    for attention in ("attn", "attn2"):
        parts = tuple(f".{attention}.to_{part}." for part in "qkv")
        whole = joined(whole, parts, f".x_block.{attention}.qkv.")
    whole = joined(whole, tuple(f".attn.add_{part}_proj." for part in "qkv"), ".context_block.attn.qkv.")
    return {_first_name(name): each for name, each in whole.items()}


_FIRST_NAMES = {
    "pos_embed.proj.": "x_embedder.proj.",
    "pos_embed.pos_embed": "pos_embed",
    "time_text_embed.timestep_embedder.linear_1.": "t_embedder.mlp.0.",
    "time_text_embed.timestep_embedder.linear_2.": "t_embedder.mlp.2.",
    "time_text_embed.text_embedder.linear_1.": "y_embedder.mlp.0.",
    "time_text_embed.text_embedder.linear_2.": "y_embedder.mlp.2.",
    "proj_out.": "final_layer.linear.",
    "norm_out.linear.": "final_layer.adaLN_modulation.1.",
    "transformer_blocks.": "joint_blocks.",
    ".norm1.linear.": ".x_block.adaLN_modulation.1.",
    ".norm1_context.linear.": ".context_block.adaLN_modulation.1.",
    ".attn.norm_added_q.": ".context_block.attn.ln_q.",
    ".attn.norm_added_k.": ".context_block.attn.ln_k.",
    ".attn.norm_q.": ".x_block.attn.ln_q.",
    ".attn.norm_k.": ".x_block.attn.ln_k.",
    ".attn2.norm_q.": ".x_block.attn2.ln_q.",
    ".attn2.norm_k.": ".x_block.attn2.ln_k.",
    ".attn.to_out.0.": ".x_block.attn.proj.",
    ".attn2.to_out.0.": ".x_block.attn2.proj.",
    ".attn.to_add_out.": ".context_block.attn.proj.",
    ".ff.net.0.proj.": ".x_block.mlp.fc1.",
    ".ff.net.2.": ".x_block.mlp.fc2.",
    ".ff_context.net.0.proj.": ".context_block.mlp.fc1.",
    ".ff_context.net.2.": ".context_block.mlp.fc2.",
}


def _first_name(name: str) -> str:
    for new, old in _FIRST_NAMES.items():
        name = name.replace(new, old)
    return name


def transformer() -> Any:
    """Return a transformer whose first block has dual attention."""
    from diffusers import SD3Transformer2DModel

    return SD3Transformer2DModel(
        sample_size=8,
        in_channels=16,
        num_layers=2,
        attention_head_dim=16,
        num_attention_heads=3,
        joint_attention_dim=64,
        caption_projection_dim=48,
        pooled_projection_dim=64,
        out_channels=16,
        pos_embed_max_size=12,
        dual_attention_layers=(0,),
        qk_norm="rms_norm",
    ).eval()
