"""The three networks of starter-dit, together four and a half million weights; reading those of finished models."""

from pathlib import Path
from typing import Any, TypeVar

import torch
from diffusers import AutoencoderKL, PixArtTransformer2DModel
from torch import nn
from transformers import T5Config, T5EncoderModel

from mezzotint.checkpoints.weight_file import read_weights

IMAGE_SIDE = 128
LATENT = 16
WIDTH = 192
LAYERS = 6
TEXT_LAYERS = 2
TOKENS = 64

Network = TypeVar("Network", bound=nn.Module)


def build_autoencoder(seed: int) -> AutoencoderKL:
    """Build the variational autoencoder, (b, 3, h, w) to (b, 4, h/8, w/8) and back."""
    torch.manual_seed(seed)
    return AutoencoderKL(
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
        block_out_channels=(24, 48, 64, 64),
        layers_per_block=1,
        latent_channels=4,
        norm_num_groups=8,
        sample_size=IMAGE_SIDE,
        scaling_factor=1.0,
        # Attention trained on 8x8 latents of crops does not generalize to 16x16; without it, training on crops works.
        mid_block_add_attention=False,
    )


def build_text_encoder(seed: int, vocabulary: int, *, width: int = WIDTH, layers: int = TEXT_LAYERS) -> T5EncoderModel:
    """Build a T5 encoder for a vocabulary of that size; `width` is a multiple of 32."""
    torch.manual_seed(seed)
    config = T5Config(
        vocab_size=vocabulary,
        d_model=width,
        d_kv=32,
        d_ff=2 * width,
        num_layers=layers,
        num_heads=width // 32,
        relative_attention_num_buckets=32,
        relative_attention_max_distance=64,
        dropout_rate=0.0,
        feed_forward_proj="relu",
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
        is_encoder_decoder=False,
        use_cache=False,
        tie_word_embeddings=True,
    )
    encoder = T5EncoderModel(config)
    for name, weight in encoder.named_parameters():
        if "relative_attention_bias" in name:
            # With the default initialization (std 0.07), the encoder ignores word order for thousands of steps.
            nn.init.normal_(weight, std=2.0)
    return encoder


def build_denoiser(seed: int) -> PixArtTransformer2DModel:
    """Build a PixArt transformer over 64 tokens (16x16 latents in patches of 2)."""
    torch.manual_seed(seed)
    return PixArtTransformer2DModel(
        num_attention_heads=6,
        attention_head_dim=WIDTH // 6,
        in_channels=4,
        out_channels=4,
        num_layers=LAYERS,
        cross_attention_dim=WIDTH,
        sample_size=LATENT,
        patch_size=2,
        caption_channels=WIDTH,
        use_additional_conditions=False,
        interpolation_scale=1,
    )


def load_network(kind: type[Network], folder: Path) -> Network:
    """Read a network of a class of diffusers or transformers from its folder, in float32, for inference."""
    network: Network = _empty(kind, folder)
    files = sorted(folder.glob("*.safetensors"))
    read = read_weights(files, on_bytes=lambda _: None, cancelled=lambda: False)
    tensors = {name: value.float() for name, value in read}
    state = network.state_dict()
    stored = {state[name].data_ptr() for name in tensors}
    tied = {name: value for name, value in state.items() if value.data_ptr() in stored}
    network.load_state_dict(tied | tensors)
    network.float().eval()
    return network


def _empty(kind: Any, folder: Path) -> Any:  # noqa: ANN401
    if hasattr(kind, "config_class"):  # of transformers
        return kind(kind.config_class.from_pretrained(folder, local_files_only=True))
    return kind.from_config(kind.load_config(folder, local_files_only=True))
