"""Small random FLUX.1 models for tests."""

from pathlib import Path
from typing import Any

from tiny_flow import kl_autoencoder, lively
from tiny_pixart import t5_encoder, t5_tokenizer

from mezzotint.families.tokenizers import END, VOCABULARY_SIZE, clip_tokenizer

T5_WIDTH, CLIP_WIDTH = 32, 16


def write_tiny_flux(folder: Path, *, variant: str = "dev", seed: int = 0) -> Path:
    """Write a whole diffusers folder."""
    import torch
    from diffusers import FlowMatchEulerDiscreteScheduler, FluxKontextPipeline, FluxPipeline

    torch.manual_seed(seed)
    schnell = variant == "schnell"
    pipeline = (FluxKontextPipeline if variant == "kontext" else FluxPipeline)(
        scheduler=FlowMatchEulerDiscreteScheduler(shift=1.0 if schnell else 3.0, use_dynamic_shifting=not schnell),
        vae=kl_autoencoder(),
        text_encoder=clip_encoder(),
        tokenizer=clip_tokenizer(pad_token=END),
        text_encoder_2=t5_encoder().eval(),
        tokenizer_2=t5_tokenizer(folder),
        transformer=transformer(guidance_embeds=not schnell),
    )
    pipeline.save_pretrained(folder)
    return folder


def transformer(**others: object) -> Any:
    """Two blocks of two streams, and two of one."""
    from diffusers import FluxTransformer2DModel

    return lively(
        FluxTransformer2DModel(
            in_channels=64,
            num_layers=2,
            num_single_layers=2,
            attention_head_dim=16,
            num_attention_heads=3,
            joint_attention_dim=T5_WIDTH,
            pooled_projection_dim=CLIP_WIDTH,
            axes_dims_rope=(4, 6, 6),
            **others,
        )
    )


def clip_encoder() -> Any:
    """CLIP's, that sums up."""
    from transformers import CLIPTextConfig, CLIPTextModel

    config = CLIPTextConfig(
        vocab_size=VOCABULARY_SIZE,
        hidden_size=CLIP_WIDTH,
        intermediate_size=2 * CLIP_WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        bos_token_id=VOCABULARY_SIZE - 2,
        eos_token_id=VOCABULARY_SIZE - 1,
    )
    return CLIPTextModel(config).eval()
