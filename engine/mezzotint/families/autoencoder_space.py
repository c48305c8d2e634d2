"""Which latent space a model works in, told from its autoencoder's configuration."""

from collections.abc import Mapping

_KEYS = ("latent_channels", "scaling_factor", "shift_factor", "latents_mean", "latents_std")


def latent_space(config: Mapping[str, object]) -> tuple[object, ...]:
    """What two configurations must share for latents to pass between their models."""
    values = [config.get(key) for key in _KEYS]
    blocks = config.get("block_out_channels")
    values.append(len(blocks) if isinstance(blocks, list) else None)  # decides the pixels per latent
    return tuple(tuple(value) if isinstance(value, list) else value for value in values)
