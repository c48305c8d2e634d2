"""Small random PixArt models for tests: a diffusers folder with a T5 encoder and a tokenizer trained on the spot."""

from pathlib import Path
from typing import Any

_SENTENCES = (
    "a red house by the sea at dusk",
    "two green hills under a dark blue sky with small white clouds",
    "a yellow boat on a grey lake, in the rain, at night",
    "one tall tree, three birds and a round orange sun",
    'nothing but snow (and a fox:1.2) [quick] "brown" 0123456789 !?;',
)
_TOKENS = 300


def write_tiny_pixart(
    folder: Path, *, sigma: bool = True, told_sizes: bool = False, seed: int = 0, heads: int = 3, **scheduler: object
) -> Path:
    """Write a PixArt folder of about 3 MB; `scheduler` overrides the scheduler's settings.

    `told_sizes`: with size conditioning, as in PixArt-alpha for 1024 pixels.
    """
    import torch
    from diffusers import DPMSolverMultistepScheduler, PixArtAlphaPipeline, PixArtSigmaPipeline

    torch.manual_seed(seed)
    pipeline_class = PixArtSigmaPipeline if sigma else PixArtAlphaPipeline
    pipeline = pipeline_class(
        vae=_vae(sigma=sigma).eval(),
        transformer=_transformer(told_sizes, heads).eval(),
        text_encoder=t5_encoder().eval(),
        tokenizer=t5_tokenizer(folder),
        scheduler=DPMSolverMultistepScheduler(**scheduler),
    )
    pipeline.save_pretrained(folder)
    return folder


def _vae(*, sigma: bool) -> Any:
    from diffusers import AutoencoderKL

    return AutoencoderKL(
        block_out_channels=(32, 64),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        layers_per_block=1,
        latent_channels=4,
        sample_size=32,
        scaling_factor=0.13025 if sigma else 0.18215,
    )


def _transformer(told_sizes: bool, heads: int = 3) -> Any:
    from diffusers import PixArtTransformer2DModel

    return PixArtTransformer2DModel(
        sample_size=128 if told_sizes else 16,
        num_layers=2,
        patch_size=2,
        attention_head_dim=8,
        num_attention_heads=heads,
        caption_channels=32,
        in_channels=4,
        out_channels=8,  # noise, and the variance, which sampling ignores
        cross_attention_dim=8 * heads,
        activation_fn="gelu-approximate",
        norm_type="ada_norm_single",
        norm_elementwise_affine=False,
        norm_eps=1e-6,
        attention_bias=True,
        use_additional_conditions=told_sizes,
    )


def t5_encoder() -> Any:
    from transformers import T5Config, T5EncoderModel

    return T5EncoderModel(
        T5Config(
            vocab_size=_TOKENS,
            d_model=32,
            d_kv=8,
            d_ff=37,
            num_layers=3,
            num_heads=4,
            feed_forward_proj="gated-gelu",
            is_encoder_decoder=False,
        )
    )


def t5_tokenizer(folder: Path) -> Any:
    """Return a unigram tokenizer with T5's special tokens and their ids."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
    from transformers import T5Tokenizer

    learner = Tokenizer(models.Unigram())
    learner.normalizer = normalizers.NFKC()
    learner.pre_tokenizer = pre_tokenizers.Metaspace()
    learner.decoder = decoders.Metaspace()
    special = ["<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(vocab_size=_TOKENS, special_tokens=special, unk_token="<unk>")
    learner.train_from_iterator(_SENTENCES, trainer)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "learned.json"
    learner.save(str(file))
    tokenizer = T5Tokenizer(tokenizer_file=str(file), extra_ids=0, model_max_length=300)
    file.unlink()
    return tokenizer
