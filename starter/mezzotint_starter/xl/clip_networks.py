"""The networks of starter-xl: two CLIP text encoders, a base U-Net and a refiner U-Net."""

import torch
from diffusers import UNet2DConditionModel
from transformers import CLIPTextConfig, CLIPTextModel, CLIPTextModelWithProjection

from mezzotint_starter.networks import LATENT
from mezzotint_starter.xl.clip_vocabulary import CONTEXT

TEXT_WIDTH = 64
BASE_CHANNELS = (48, 128)
REFINER_CHANNELS = (48, 64)
HEAD = 64
SIZE_WIDTH = 8  # embedding width of each number in a U-Net's size conditioning


def build_clip_encoders(seed: int, vocabulary: int) -> tuple[CLIPTextModel, CLIPTextModelWithProjection]:
    """Build the first encoder, with two layers, and the second, with three and a pooled projection."""
    torch.manual_seed(seed)
    first = CLIPTextModel(_text_config(vocabulary, layers=2, activation="quick_gelu"))
    second = CLIPTextModelWithProjection(_text_config(vocabulary, layers=3, activation="gelu"))
    return first, second


def _text_config(vocabulary: int, *, layers: int, activation: str) -> CLIPTextConfig:
    return CLIPTextConfig(
        vocab_size=vocabulary,
        hidden_size=TEXT_WIDTH,
        intermediate_size=4 * TEXT_WIDTH,
        projection_dim=TEXT_WIDTH,
        num_hidden_layers=layers,
        num_attention_heads=1,
        max_position_embeddings=CONTEXT,
        hidden_act=activation,
        bos_token_id=vocabulary - 2,
        eos_token_id=vocabulary - 1,
        pad_token_id=0,
    )


def build_unet(seed: int, *, refiner: bool) -> UNet2DConditionModel:
    """Build a U-Net of two levels, (b, 4, h, w) to the same, with attention on the lower level.

    The base takes six size numbers (time_ids) and both text encoders; the refiner takes five, the last of which is the
    aesthetic score, and only the second encoder.
    """
    torch.manual_seed(seed)
    channels = REFINER_CHANNELS if refiner else BASE_CHANNELS
    return UNet2DConditionModel(
        sample_size=LATENT,
        in_channels=4,
        out_channels=4,
        block_out_channels=channels,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        layers_per_block=1,
        transformer_layers_per_block=1,
        attention_head_dim=(1, channels[1] // HEAD),  # in diffusers this is the number of heads
        norm_num_groups=16,
        cross_attention_dim=TEXT_WIDTH * (1 if refiner else 2),
        addition_embed_type="text_time",
        addition_time_embed_dim=SIZE_WIDTH,
        projection_class_embeddings_input_dim=TEXT_WIDTH + SIZE_WIDTH * (5 if refiner else 6),
        use_linear_projection=True,
    )
