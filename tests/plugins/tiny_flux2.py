"""Small random FLUX.2 Klein models for tests."""

from pathlib import Path
from typing import Any

from tiny_flow import lively, qwen3, qwen_tokenizer

LAYERS, WIDTH = 30, 32  # of the encoder, whose states 9, 18 and 27 are taken


def write_tiny_klein(folder: Path, *, seed: int = 0, distilled: bool = True, layers: int = LAYERS) -> Path:
    """Write a whole diffusers folder."""
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
    """Two blocks of two streams, and two of one."""
    from diffusers import Flux2Transformer2DModel

    return lively(
        Flux2Transformer2DModel(
            in_channels=32,
            num_layers=2,
            num_single_layers=2,
            attention_head_dim=16,
            num_attention_heads=3,
            joint_attention_dim=3 * WIDTH,
            axes_dims_rope=(4, 4, 4, 4),
            guidance_embeds=False,
        )
    )


def autoencoder() -> Any:
    """Sixteen pixels to a sampled latent, whose statistics are not those of a fresh batch norm."""
    import torch
    from diffusers import AutoencoderKLFlux2

    network = AutoencoderKLFlux2(
        block_out_channels=(8, 8, 16, 16),
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
        layers_per_block=1,
        latent_channels=8,
        norm_num_groups=4,
        sample_size=64,
    ).eval()
    with torch.no_grad():
        network.bn.running_mean.normal_(std=0.5)
        network.bn.running_var.uniform_(0.5, 2.0)
    return network
