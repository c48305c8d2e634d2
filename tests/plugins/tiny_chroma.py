"""Small random Chroma models for tests."""

from pathlib import Path
from typing import Any

from original_files import ldm_vae, weights
from tiny_flow import kl_autoencoder, t5, t5_tokenizer
from tiny_flux1 import original_transformer


def write_tiny_chroma(folder: Path, *, seed: int = 0, **scheduler: object) -> Path:
    """Write a diffusers folder; `scheduler` overrides the scheduler's settings."""
    import torch
    from diffusers import ChromaPipeline, FlowMatchEulerDiscreteScheduler

    torch.manual_seed(seed)
    settings = {"use_dynamic_shifting": True, "shift": 3.0} | scheduler
    pipeline = ChromaPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(**settings),
        vae=kl_autoencoder(),
        text_encoder=t5(),
        tokenizer=t5_tokenizer(),
        transformer=transformer(),
    )
    pipeline.save_pretrained(folder)
    return folder


def transformer() -> Any:
    """Return a Chroma transformer."""
    from diffusers import ChromaTransformer2DModel

    return ChromaTransformer2DModel(
        in_channels=64,
        num_layers=1,
        num_single_layers=2,
        attention_head_dim=16,
        num_attention_heads=3,
        joint_attention_dim=32,
        axes_dims_rope=(4, 6, 6),
        approximator_num_channels=16,
        approximator_hidden_dim=32,
        approximator_layers=1,
    ).eval()


def split_files(folder: Path) -> dict[str, dict[str, Any]]:
    """Return tensors by their file names in ComfyUI's folders."""
    return {
        "diffusion_models/Chroma1-HD.safetensors": original_transformer(folder),
        "text_encoders/t5xxl_fp16.safetensors": weights(folder, "text_encoder"),
        "vae/ae.safetensors": ldm_vae(folder),
    }
