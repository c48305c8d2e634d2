"""Small random Z-Image models for tests."""

from pathlib import Path
from typing import Any

from tiny_flow import kl_autoencoder, qwen3, qwen_tokenizer


def write_tiny_z_image(folder: Path, *, seed: int = 0, shift: float = 3.0) -> Path:
    """Write a whole diffusers folder."""
    import torch
    from diffusers import FlowMatchEulerDiscreteScheduler, ZImagePipeline

    torch.manual_seed(seed)
    pipeline = ZImagePipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(shift=shift),
        vae=kl_autoencoder(),
        text_encoder=qwen3(),
        tokenizer=qwen_tokenizer(),
        transformer=transformer(),
    )
    pipeline.save_pretrained(folder)
    return folder


def transformer(**others: object) -> Any:
    """One of Z-Image's kind, whose last layer sees its input."""
    import torch
    from diffusers import ZImageTransformer2DModel

    network = ZImageTransformer2DModel(
        in_channels=16,
        dim=48,
        n_layers=2,
        n_refiner_layers=1,
        n_heads=3,
        n_kv_heads=3,
        cap_feat_dim=32,
        axes_dims=[4, 6, 6],
        axes_lens=[512, 64, 64],
        **others,
    )
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.normal_(std=0.1) if parameter.ndim < 2 else None
    return network.eval()
