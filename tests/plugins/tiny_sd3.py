"""Small random Stable Diffusion 3.5 models for tests."""

from pathlib import Path
from typing import Any

from tiny_flow import clip_with_projection, kl_autoencoder, t5, t5_tokenizer

from mezzotint.families.tokenizers import clip_tokenizer


def write_tiny_sd3(folder: Path, *, seed: int = 0, with_t5: bool = True, **scheduler: object) -> Path:
    """Write a whole diffusers folder, of Medium's kind; `scheduler` overrides the scheduler's settings."""
    import torch
    from diffusers import FlowMatchEulerDiscreteScheduler, StableDiffusion3Pipeline

    torch.manual_seed(seed)
    settings = {"shift": 3.0} | scheduler
    pipeline = StableDiffusion3Pipeline(
        transformer=transformer(),
        scheduler=FlowMatchEulerDiscreteScheduler(**settings),
        vae=kl_autoencoder(),
        text_encoder=clip_with_projection(width=16),
        tokenizer=clip_tokenizer(pad_token="<|endoftext|>"),
        text_encoder_2=clip_with_projection(width=32),
        tokenizer_2=clip_tokenizer(pad_token="!"),
        text_encoder_3=t5(width=64) if with_t5 else None,
        tokenizer_3=t5_tokenizer() if with_t5 else None,
    )
    pipeline.save_pretrained(folder)
    return folder


def transformer() -> Any:
    """One whose first block attends to the image once more."""
    from diffusers import SD3Transformer2DModel

    return SD3Transformer2DModel(
        sample_size=8,
        in_channels=16,
        num_layers=2,
        attention_head_dim=16,
        num_attention_heads=3,
        joint_attention_dim=64,
        caption_projection_dim=48,
        pooled_projection_dim=48,
        out_channels=16,
        pos_embed_max_size=12,
        dual_attention_layers=(0,),
        qk_norm="rms_norm",
    ).eval()
