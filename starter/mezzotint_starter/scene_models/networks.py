"""The networks of the models of composed scenes."""

import torch
from diffusers import AutoencoderKL, PixArtTransformer2DModel

IMAGE_SIDE = 256
FACTOR = 8
CHANNELS = 8  # of latents
WIDTH = 256
LAYERS = 8
HEADS = 8
TEXT_LAYERS = 2


def build_autoencoder(seed: int) -> AutoencoderKL:
    """Build the variational autoencoder, (b, 3, h, w) to (b, 8, h/8, w/8) and back, of three million weights.

    Few channels at full resolution, where nearly all of the time goes, and many at low resolution: of four layouts
    measured on one core, this has the most weights for its time.
    """
    torch.manual_seed(seed)
    network = AutoencoderKL(
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
        block_out_channels=(16, 48, 96, 128),
        layers_per_block=1,
        latent_channels=CHANNELS,
        norm_num_groups=8,
        sample_size=IMAGE_SIDE,
        scaling_factor=1.0,
        mid_block_add_attention=False,  # trained on crops, it would not generalize to whole images
    )
    # A fifth faster on CPUs and on GPUs with tensor cores.
    return network.to(memory_format=torch.channels_last)


def build_denoiser(seed: int) -> PixArtTransformer2DModel:
    """Build a PixArt transformer of nine million weights over 256 tokens (32x32 latents in patches of 2).

    Smaller latents have the positions of every second token, so that what is learnt from images of half the size, at
    a quarter of the cost, remains true at the full size.
    """
    torch.manual_seed(seed)
    return PixArtTransformer2DModel(
        num_attention_heads=HEADS,
        attention_head_dim=WIDTH // HEADS,
        in_channels=CHANNELS,
        out_channels=CHANNELS,
        num_layers=LAYERS,
        cross_attention_dim=WIDTH,
        sample_size=IMAGE_SIDE // FACTOR,
        patch_size=2,
        caption_channels=WIDTH,
        use_additional_conditions=False,
        interpolation_scale=1,
    )
