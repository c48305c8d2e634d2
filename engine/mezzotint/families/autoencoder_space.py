"""The latent space of a model, recognised by its autoencoder's configuration."""

from collections.abc import Mapping
from dataclasses import dataclass

# What AutoencoderKL takes where a file is silent.
_DEFAULTS = {
    "latent_channels": 4,
    "scaling_factor": 0.18215,
    "shift_factor": None,
    "latents_mean": None,
    "latents_std": None,
}
_LEVELS = {  # the setting whose length is the number of sizes that an image passes through, and its length if silent
    "AutoencoderKL": ("block_out_channels", 4),
    "AutoencoderKLFlux2": ("block_out_channels", 4),
    "AutoencoderKLQwenImage": ("dim_mult", 4),
    "AutoencoderDC": ("encoder_block_out_channels", 6),
}
_CHANNELS = {
    "AutoencoderKLFlux2": ("latent_channels", 32),
    "AutoencoderKLQwenImage": ("z_dim", 16),
    "AutoencoderDC": ("latent_channels", 32),
}
FLUX2_PATCH = 2  # of its latents, along a side: they are sampled as patches


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentLayout:
    """The latents that are sampled."""

    channels: int
    factor: int  # pixels per latent, along a side


def latent_layout(config: Mapping[str, object]) -> LatentLayout:
    """That of an autoencoder's configuration."""
    name = str(config.get("_class_name", "AutoencoderKL"))
    levels, usual = _LEVELS.get(name, _LEVELS["AutoencoderKL"])
    found = config.get(levels)
    factor = 1 << ((len(found) if isinstance(found, list | tuple) else usual) - 1)
    key, channels = _CHANNELS.get(name, ("latent_channels", 4))
    said = config.get(key)
    channels = said if isinstance(said, int) else channels
    if name == "AutoencoderKLFlux2":
        return LatentLayout(channels=channels * FLUX2_PATCH**2, factor=factor * FLUX2_PATCH)
    return LatentLayout(channels=channels, factor=factor)


def latent_space(config: Mapping[str, object]) -> tuple[object, ...]:
    """What two configurations must share for latents to pass between their models."""
    layout = latent_layout(config)
    values = [config.get(key, default) for key, default in _DEFAULTS.items()]
    values += [str(config.get("_class_name", "AutoencoderKL")), layout.channels, layout.factor]
    return tuple(tuple(value) if isinstance(value, list) else value for value in values)
