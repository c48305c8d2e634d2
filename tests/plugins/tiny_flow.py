"""Shared parts of small random flow models: tokenizers trained on the spot, encoders, autoencoders."""

from pathlib import Path
from typing import Any

SENTENCES = (
    "a red house by the sea at dusk",
    "two green hills under a dark blue sky with small white clouds",
    "a yellow boat on a grey lake, in the rain, at night",
    'nothing but snow (and a fox:1.2) [quick] "brown" 0123456789 !?;',
    "user assistant system think Describe the image",
)
TOKENS = 600
_CHAT = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>",
         "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|vision_pad|>", "<|video_pad|>")  # fmt: skip
_TEMPLATE = (
    "{%- for m in messages %}"
    "{{- '<|im_start|>' + m.role + '\n' }}"
    "{%- if m.content is string %}{{- m.content }}"
    "{%- else %}{%- for part in m.content %}{{- part.text }}{%- endfor %}{%- endif %}"
    "{{- '<|im_end|>' + '\n' }}"
    "{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}"
    "{%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\n\n</think>\n\n' }}{%- endif %}"
    "{%- endif %}"
)


def qwen_tokenizer() -> Any:
    """Return a byte-level tokenizer with Qwen's special tokens and chat template."""
    import json

    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import Qwen2Tokenizer

    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    learner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=TOKENS - len(_CHAT), initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    learner.train_from_iterator(SENTENCES, trainer)
    learned = json.loads(learner.to_str())["model"]
    merges = [tuple(pair) if isinstance(pair, list) else tuple(pair.split(" ")) for pair in learned["merges"]]
    tokenizer = Qwen2Tokenizer(vocab=learned["vocab"], merges=merges)
    tokenizer.add_special_tokens({"additional_special_tokens": list(_CHAT[1:])})
    tokenizer.chat_template = _TEMPLATE
    return tokenizer


def lively(network: Any) -> Any:
    """Scale up the initial weights: otherwise prompts and layers change no pixel, and tests prove nothing."""
    import torch

    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(3) if parameter.ndim > 1 else parameter.normal_()
    return network.eval()


def qwen3(*, layers: int = 4, width: int = 32, head: bool = False) -> Any:
    """Return a Qwen3 language model."""
    from transformers import Qwen3Config, Qwen3ForCausalLM, Qwen3Model

    config = Qwen3Config(
        vocab_size=TOKENS,
        hidden_size=width,
        intermediate_size=48,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=2048,
        rope_parameters={"rope_type": "default", "rope_theta": 1000000.0},
        tie_word_embeddings=True,
    )
    return (Qwen3ForCausalLM if head else Qwen3Model)(config).eval()


def qwen_vl(*, layers: int = 3, width: int = 256, **others: Any) -> Any:
    """Return a Qwen2.5-VL model with vision tower and head."""
    from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

    words = {
        "vocab_size": TOKENS,
        "hidden_size": width,
        "intermediate_size": 48,
        "num_hidden_layers": layers,
        "num_attention_heads": width // 128,
        "num_key_value_heads": 1,
        "max_position_embeddings": 2048,
        "rms_norm_eps": 1e-6,
        "rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0, "mrope_section": [16, 24, 24]},
    }
    eyes = {"depth": 1, "hidden_size": 160, "intermediate_size": 24, "num_heads": 2, "out_hidden_size": width}
    return Qwen2_5_VLForConditionalGeneration(Qwen2_5_VLConfig(text_config=words, vision_config=eyes, **others)).eval()


def qwen3_vl(*, layers: int = 4, width: int = 32) -> Any:
    """Return a Qwen3-VL model with vision tower."""
    from transformers import Qwen3VLConfig, Qwen3VLModel

    words = {
        "vocab_size": TOKENS,
        "hidden_size": width,
        "intermediate_size": 48,
        "num_hidden_layers": layers,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "max_position_embeddings": 2048,
        "rope_parameters": {"rope_type": "default", "rope_theta": 5000000.0, "mrope_section": [2, 1, 1]},
    }
    eyes = {
        "depth": 1,
        "hidden_size": 16,
        "intermediate_size": 24,
        "num_heads": 2,
        "out_hidden_size": width,
        "num_position_embeddings": 16,
        "deepstack_visual_indexes": [0],
    }
    return Qwen3VLModel(Qwen3VLConfig(text_config=words, vision_config=eyes)).eval()


def kl_autoencoder(channels: int = 16, scaling_factor: float = 0.3611, shift_factor: float = 0.1159) -> Any:
    """Return an AutoencoderKL like FLUX.1's, eight pixels per latent."""
    from diffusers import AutoencoderKL

    return AutoencoderKL(
        block_out_channels=(32, 32, 32, 32),
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
        layers_per_block=1,
        latent_channels=channels,
        sample_size=64,
        scaling_factor=scaling_factor,
        shift_factor=shift_factor,
        use_quant_conv=False,
        use_post_quant_conv=False,
    ).eval()


def video_autoencoder(blocks: int = 1) -> Any:
    """Return an AutoencoderKLQwenImage, eight pixels per latent."""
    from diffusers import AutoencoderKLQwenImage

    return AutoencoderKLQwenImage(base_dim=8, z_dim=16, dim_mult=[1, 1, 2, 2], num_res_blocks=blocks).eval()


def t5_tokenizer() -> Any:
    """Return a unigram tokenizer with T5's special tokens and their ids."""
    import tempfile

    from tiny_pixart import t5_tokenizer as learned

    with tempfile.TemporaryDirectory() as folder:
        return learned(Path(folder))


def t5(*, layers: int = 2, width: int = 32) -> Any:
    """Return a T5 encoder."""
    from transformers import T5Config, T5EncoderModel

    config = T5Config(
        vocab_size=300,
        d_model=width,
        d_kv=8,
        d_ff=48,
        num_layers=layers,
        num_heads=4,
        feed_forward_proj="gated-gelu",
        dropout_rate=0.0,
    )
    return T5EncoderModel(config).eval()


def clip_with_projection(*, width: int, activation: str) -> Any:
    """Return a CLIP text encoder with a projected pooled embedding."""
    from transformers import CLIPTextConfig, CLIPTextModelWithProjection

    from mezzotint.families.tokenizers import VOCABULARY_SIZE

    config = CLIPTextConfig(
        vocab_size=VOCABULARY_SIZE,
        hidden_size=width,
        intermediate_size=2 * width,
        projection_dim=width,
        num_hidden_layers=3,
        num_attention_heads=1,
        hidden_act=activation,
        bos_token_id=49406,
        eos_token_id=49407,
        pad_token_id=1,
    )
    return CLIPTextModelWithProjection(config).eval()
