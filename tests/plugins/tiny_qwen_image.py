"""Small random Qwen-Image models for tests."""

from pathlib import Path
from typing import Any

from tiny_flow import qwen_tokenizer, qwen_vl, video_autoencoder


def write_tiny_qwen_image(folder: Path, *, seed: int = 0, **others: object) -> Path:
    """Write a whole diffusers folder; `others` are settings of the transformer."""
    import torch
    from diffusers import FlowMatchEulerDiscreteScheduler, QwenImagePipeline

    torch.manual_seed(seed)
    scheduler = FlowMatchEulerDiscreteScheduler(
        base_shift=0.5, max_shift=0.9, max_image_seq_len=8192, shift_terminal=0.02, use_dynamic_shifting=True
    )
    pipeline = QwenImagePipeline(
        scheduler=scheduler,
        vae=video_autoencoder(),
        text_encoder=qwen_vl(),
        tokenizer=qwen_tokenizer(),
        transformer=transformer(**others),
    )
    pipeline.save_pretrained(folder)
    return folder


def transformer(**others: object) -> Any:
    """One of Qwen-Image's kind."""
    from diffusers import QwenImageTransformer2DModel

    settings: dict[str, Any] = {
        "in_channels": 64,
        "out_channels": 16,
        "num_layers": 2,
        "attention_head_dim": 16,
        "num_attention_heads": 3,
        "joint_attention_dim": 32,
        "axes_dims_rope": (4, 6, 6),
    }
    return QwenImageTransformer2DModel(**settings | others).eval()
