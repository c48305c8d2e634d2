"""Between pixels and latents: AutoencoderKL with the scaling that its configuration states."""

import torch

from mezzotint.families.family import Network


def _statistics(vae: Network, like: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor] | None:
    mean, std = getattr(vae.config, "latents_mean", None), getattr(vae.config, "latents_std", None)
    if mean is None or std is None:
        return None
    first, second = (torch.tensor(value).view(1, -1, 1, 1).to(like) for value in (mean, std))
    return first, second


def _shift(vae: Network) -> float:
    return float(getattr(vae.config, "shift_factor", None) or 0.0)


def encode_pixels(vae: Network, pixels: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Draw latents `(b, c, h, w)` of pixels `(b, 3, H, W)` in -1..1; the posterior's noise comes from `generator`."""
    latents: torch.Tensor = vae.encode(pixels.to(vae.device, vae.dtype)).latent_dist.sample(generator).float()
    statistics = _statistics(vae, latents)
    if statistics is not None:
        mean, std = statistics
        return (latents - mean) * float(vae.config.scaling_factor) / std
    shift = _shift(vae)
    return float(vae.config.scaling_factor) * (latents - shift if shift else latents)


def decode_latents(vae: Network, latents: torch.Tensor) -> torch.Tensor:
    """Pixels `(b, 3, H, W)`, about -1..1, of latents `(b, c, h, w)`."""
    latents = latents.to(vae.device, vae.dtype)
    statistics = _statistics(vae, latents)
    if statistics is not None:
        mean, std = statistics
        latents = latents * std / vae.config.scaling_factor + mean
    else:
        latents = latents / vae.config.scaling_factor
        shift = _shift(vae)
        latents = latents + shift if shift else latents
    return vae.decode(latents, return_dict=False)[0]  # type: ignore[no-any-return]
