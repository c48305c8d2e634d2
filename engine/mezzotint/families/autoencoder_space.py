"""The latent space of a model, identified by its autoencoder's configuration."""

from collections.abc import Mapping
from dataclasses import dataclass

# Defaults of AutoencoderKL.
_DEFAULTS = {
    "latent_channels": 4,
    "scaling_factor": 0.18215,
    "shift_factor": None,
    "latents_mean": None,
    "latents_std": None,
}
_LEVELS = {  # the setting with one item per resolution level, and its default length
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
FLUX2_PATCH = 2  # latents per patch, along a side: patches are what is sampled


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentLayout:
    """Layout of the sampled latents."""

    channels: int
    factor: int  # pixels per latent, along a side


def latent_layout(config: Mapping[str, object]) -> LatentLayout:
    """The latent layout for an autoencoder's configuration."""
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
    """A value that two configurations must share for their models to exchange latents."""
    layout = latent_layout(config)
    values = [config.get(key, default) for key, default in _DEFAULTS.items()]
    values += [str(config.get("_class_name", "AutoencoderKL")), layout.channels, layout.factor]
    return tuple(tuple(value) if isinstance(value, list) else value for value in values)
