"""Which latent space a model works in, told from its autoencoder's configuration."""

from collections.abc import Mapping

# What AutoencoderKL takes where a file is silent.
_DEFAULTS = {
    "latent_channels": 4,
    "scaling_factor": 0.18215,
    "shift_factor": None,
    "latents_mean": None,
    "latents_std": None,
}


def latent_space(config: Mapping[str, object]) -> tuple[object, ...]:
    """What two configurations must share for latents to pass between their models."""
    values = [config.get(key, default) for key, default in _DEFAULTS.items()]
    blocks = config.get("block_out_channels")
    values.append(len(blocks) if isinstance(blocks, list | tuple) else None)  # decides the pixels per latent
    return tuple(tuple(value) if isinstance(value, list) else value for value in values)
