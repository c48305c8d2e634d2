"""Small random FLUX.2 Klein models for tests."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from original_files import joined, language_model, ldm_vae, weights
from tiny_flow import lively, qwen3, qwen_tokenizer

LAYERS, WIDTH = 30, 32  # of the encoder, whose hidden states 9, 18 and 27 are used


def write_tiny_klein(folder: Path, *, seed: int = 0, distilled: bool = True, layers: int = LAYERS) -> Path:
    """Write a diffusers folder."""
    import torch
    from diffusers import FlowMatchEulerDiscreteScheduler, Flux2KleinPipeline

    torch.manual_seed(seed)
    pipeline = Flux2KleinPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(shift=3.0, use_dynamic_shifting=True),
        vae=autoencoder(),
        text_encoder=qwen3(layers=layers, width=WIDTH, head=True),
        tokenizer=qwen_tokenizer(),
        transformer=transformer(),
        is_distilled=distilled,
    )
    pipeline.save_pretrained(folder)
    return folder


def transformer() -> Any:
    """Return a transformer with two double-stream and two single-stream blocks."""
    from diffusers import Flux2Transformer2DModel

    return lively(
        Flux2Transformer2DModel(
            in_channels=32,
            num_layers=2,
            num_single_layers=2,
            attention_head_dim=16,
            num_attention_heads=4,
            joint_attention_dim=3 * WIDTH,
            axes_dims_rope=(4, 4, 4, 4),
            guidance_embeds=False,
        )
    )


def autoencoder(**others: Any) -> Any:
    """Return an autoencoder with sixteen pixels per patchified latent and nontrivial batch norm statistics."""
    import torch
    from diffusers import AutoencoderKLFlux2

    network = AutoencoderKLFlux2(
        block_out_channels=(32, 32, 32, 32),
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
        layers_per_block=1,
        latent_channels=8,
        sample_size=64,
        **others,
    ).eval()
    with torch.no_grad():
        network.bn.running_mean.normal_(std=0.5)
        network.bn.running_var.uniform_(0.5, 2.0)
    return network


def original_transformer(folder: Path) -> dict[str, Any]:
    """Return a folder's transformer with its original key names."""
    return original_names(weights(folder, "transformer"))


def original_names(transformer: Mapping[str, Any]) -> dict[str, Any]:
    """Return a transformer's tensors with its original key names."""
    import torch

    whole = dict(transformer)
    for stream, parts in {"img": ("to_q", "to_k", "to_v"), "txt": ("add_q_proj", "add_k_proj", "add_v_proj")}.items():
        names = tuple(f".attn.{part}." for part in parts)
        whole = joined(whole, (names[0], names[1], names[2]), f".{stream}_attn.qkv.")
    whole["norm_out.linear.weight"] = torch.cat(whole["norm_out.linear.weight"].chunk(2)[::-1])
    return {_first_name(name): each for name, each in whole.items()}


_FIRST_NAMES = {  # order matters
    "single_transformer_blocks.": "single_blocks.",
    "transformer_blocks.": "double_blocks.",
    "x_embedder.": "img_in.",
    "context_embedder.": "txt_in.",
    "time_guidance_embed.timestep_embedder.linear_1.": "time_in.in_layer.",
    "time_guidance_embed.timestep_embedder.linear_2.": "time_in.out_layer.",
    "norm_out.linear.": "final_layer.adaLN_modulation.1.",
    "_img.linear.": "_img.lin.",
    "_txt.linear.": "_txt.lin.",
    "stream_modulation.linear.": "stream_modulation.lin.",
    "proj_out.": "final_layer.linear.",
    ".attn.to_qkv_mlp_proj.": ".linear1.",
    ".attn.to_out.0.": ".img_attn.proj.",
    ".attn.to_out.": ".linear2.",
    ".attn.to_add_out.": ".txt_attn.proj.",
    ".attn.norm_added_q.weight": ".txt_attn.norm.query_norm.scale",
    ".attn.norm_added_k.weight": ".txt_attn.norm.key_norm.scale",
    ".ff.linear_in.": ".img_mlp.0.",
    ".ff.linear_out.": ".img_mlp.2.",
    ".ff_context.linear_in.": ".txt_mlp.0.",
    ".ff_context.linear_out.": ".txt_mlp.2.",
}


def _first_name(name: str) -> str:
    stream = "" if name.startswith("single_") else "img_attn."
    for part, word in (("q", "query"), ("k", "key")):
        name = name.replace(f".attn.norm_{part}.weight", f".{stream}norm.{word}_norm.scale")
    for new, old in _FIRST_NAMES.items():
        name = name.replace(new, old)
    return name


def split_files(folder: Path) -> dict[str, dict[str, Any]]:
    """Return tensors by their file names in ComfyUI's folders."""
    vae = {name: each for name, each in ldm_vae(folder).items() if not name.startswith("bn.")}
    vae |= {name: each for name, each in weights(folder, "vae").items() if name.startswith("bn.")}
    return {
        "diffusion_models/flux-2-klein-4b.safetensors": original_transformer(folder),
        "text_encoders/qwen_3_4b.safetensors": language_model(folder),
        "vae/flux2-vae.safetensors": vae,
    }
