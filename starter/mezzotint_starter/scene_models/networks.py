"""The networks of the models of composed scenes."""

import torch
from diffusers import AutoencoderKL

IMAGE_SIDE = 256
FACTOR = 8
CHANNELS = 8  # of latents


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
