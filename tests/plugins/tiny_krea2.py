"""Small random Krea 2 models for tests."""

from pathlib import Path
from typing import Any

from tiny_flow import qwen3_vl, qwen_tokenizer, video_autoencoder

LAYERS = (1, 3)


def write_tiny_krea2(folder: Path, *, seed: int = 0, distilled: bool = True) -> Path:
    """Write a whole diffusers folder, of Turbo or of Raw."""
    import torch
    from diffusers import FlowMatchEulerDiscreteScheduler, Krea2Pipeline

    torch.manual_seed(seed)
    pipeline = Krea2Pipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(max_image_seq_len=6400, use_dynamic_shifting=True),
        vae=video_autoencoder(),
        text_encoder=qwen3_vl(),
        tokenizer=qwen_tokenizer(),
        transformer=transformer(),
        text_encoder_select_layers=LAYERS,
        is_distilled=distilled,
    )
    pipeline.save_pretrained(folder)
    return folder


def transformer() -> Any:
    """One of Krea 2's kind."""
    import torch
    from diffusers import Krea2Transformer2DModel

    network = Krea2Transformer2DModel(
        num_layers=2,
        attention_head_dim=16,
        num_attention_heads=4,
        num_key_value_heads=2,
        intermediate_size=96,
        text_hidden_dim=32,
        num_text_layers=len(LAYERS),
        text_num_attention_heads=2,
        text_num_key_value_heads=2,
        text_intermediate_size=48,
        num_layerwise_text_blocks=1,
        num_refiner_text_blocks=1,
        axes_dims_rope=(4, 6, 6),
    )
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.normal_(std=0.1) if parameter.ndim < 2 else None
    return network.eval()
