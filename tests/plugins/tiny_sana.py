"""Small random Sana models for tests."""

import json
from pathlib import Path
from typing import Any

from tiny_flow import SENTENCES

from mezzotint.families.sana.instruction import INSTRUCTION

_TOKENS = 2000  # enough for each word of the instruction to be one token
_SPECIAL = ("<pad>", "<eos>", "<bos>", "<unk>", "<mask>")


def write_tiny_sana(folder: Path, *, seed: int = 0, **others: object) -> Path:
    """Write a diffusers folder; `others` are settings of the transformer."""
    import torch
    from diffusers import DPMSolverMultistepScheduler, SanaPipeline

    torch.manual_seed(seed)
    scheduler = DPMSolverMultistepScheduler(use_flow_sigmas=True, flow_shift=3.0, prediction_type="flow_prediction")
    pipeline = SanaPipeline(
        tokenizer=tokenizer(),
        text_encoder=gemma2(),
        vae=deep_autoencoder(),
        transformer=transformer(**others),
        scheduler=scheduler,
    )
    pipeline.save_pretrained(folder)
    return folder


def tokenizer() -> Any:
    """Return a tokenizer of characters and pairs, with Gemma's special tokens."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
    from transformers import GemmaTokenizer

    learner = Tokenizer(models.BPE(unk_token="<unk>"))
    learner.normalizer = normalizers.Replace(" ", "▁")
    learner.pre_tokenizer = pre_tokenizers.Split(pattern="▁", behavior="merged_with_previous")
    trainer = trainers.BpeTrainer(vocab_size=_TOKENS, special_tokens=list(_SPECIAL), show_progress=False)
    learner.train_from_iterator([*SENTENCES, INSTRUCTION], trainer)
    learned = json.loads(learner.to_str())["model"]
    return GemmaTokenizer(vocab=learned["vocab"], merges=[tuple(pair) for pair in learned["merges"]])


def gemma2() -> Any:
    """Return a Gemma 2 language model without its head."""
    from transformers import Gemma2Config, Gemma2Model

    config = Gemma2Config(
        vocab_size=_TOKENS,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=4096,
    )
    return Gemma2Model(config).eval()


def deep_autoencoder() -> Any:
    """Return an AutoencoderDC, 32 pixels per latent."""
    from diffusers import AutoencoderDC

    return AutoencoderDC(
        latent_channels=32,
        attention_head_dim=8,
        encoder_block_types=("ResBlock",) * 5 + ("EfficientViTBlock",),
        decoder_block_types=("ResBlock",) * 5 + ("EfficientViTBlock",),
        encoder_block_out_channels=(8, 8, 8, 16, 16, 32),
        decoder_block_out_channels=(8, 8, 8, 16, 16, 32),
        encoder_layers_per_block=(1,) * 6,
        decoder_layers_per_block=(1,) * 6,
        encoder_qkv_multiscales=((),) * 5 + ((5,),),
        decoder_qkv_multiscales=((),) * 5 + ((5,),),
        decoder_norm_types="rms_norm",
        decoder_act_fns="silu",
        upsample_block_type="interpolate",
        scaling_factor=0.41407,
    ).eval()


def transformer(**others: object) -> Any:
    """Return a Sana transformer."""
    from diffusers import SanaTransformer2DModel

    settings: dict[str, Any] = {
        "in_channels": 32,
        "out_channels": 32,
        "num_attention_heads": 4,
        "attention_head_dim": 8,
        "num_layers": 2,
        "num_cross_attention_heads": 2,
        "cross_attention_head_dim": 16,
        "cross_attention_dim": 32,
        "caption_channels": 32,
        "sample_size": 4,
    }
    return SanaTransformer2DModel(**settings | others).eval()
