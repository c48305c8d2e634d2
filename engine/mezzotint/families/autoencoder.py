"""Between pixels and latents: AutoencoderKL with the scaling that its configuration states."""

import torch

from mezzotint.families.family import Network
from mezzotint.memory.tiling import SMALLEST_TILE, in_tiles


def _statistics(vae: Network, like: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor] | None:
    mean, std = getattr(vae.config, "latents_mean", None), getattr(vae.config, "latents_std", None)
    if mean is None or std is None:
        return None
    first, second = (torch.tensor(value).view(1, -1, 1, 1).to(like) for value in (mean, std))
    return first, second


def _shift(vae: Network) -> float:
    return float(getattr(vae.config, "shift_factor", None) or 0.0)


def encode_pixels(vae: Network, pixels: torch.Tensor, generator: torch.Generator, tile: int = 0) -> torch.Tensor:
    """Draw latents `(b, c, h, w)` of pixels `(b, 3, H, W)` in -1..1; the posterior's noise comes from `generator`.

    `tile`: pixels of the side of the squares that are encoded one at a time; 0: the whole at once.
    """
    pixels, side = pixels.to(vae.device, vae.dtype), _tile(vae, pixels, tile, gives=False)
    if side:
        from diffusers.models.autoencoders.vae import DiagonalGaussianDistribution

        moments = in_tiles(lambda x: vae.encode(x).latent_dist.parameters, pixels, side, takes=_factor(vae), gives=1)
        posterior = DiagonalGaussianDistribution(moments.to(vae.dtype))
    else:
        posterior = vae.encode(pixels).latent_dist
    latents: torch.Tensor = posterior.sample(generator).float()
    statistics = _statistics(vae, latents)
    if statistics is not None:
        mean, std = statistics
        return (latents - mean) * float(vae.config.scaling_factor) / std
    shift = _shift(vae)
    return float(vae.config.scaling_factor) * (latents - shift if shift else latents)


def decode_latents(vae: Network, latents: torch.Tensor, tile: int = 0) -> torch.Tensor:
    """Pixels `(b, 3, H, W)`, about -1..1, of latents `(b, c, h, w)`; `tile` as in encoding."""
    latents = latents.to(vae.device, vae.dtype)
    statistics = _statistics(vae, latents)
    if statistics is not None:
        mean, std = statistics
        latents = latents * std / vae.config.scaling_factor + mean
    else:
        latents = latents / vae.config.scaling_factor
        shift = _shift(vae)
        latents = latents + shift if shift else latents
    side = _tile(vae, latents, tile, gives=True)
    if side:
        return in_tiles(lambda x: vae.decode(x, return_dict=False)[0], latents, side, takes=1, gives=_factor(vae))
    return vae.decode(latents, return_dict=False)[0]  # type: ignore[no-any-return]


def _factor(vae: Network) -> int:
    """Pixels per latent pixel, along a side."""
    return int(2 ** (len(vae.config.block_out_channels) - 1))


def _tile(vae: Network, x: torch.Tensor, tile: int, *, gives: bool) -> int:
    """The side of a tile in latent pixels; 0 where the image, which x is or `gives`, is no larger than one."""
    if not tile or max(x.shape[-2:]) * (_factor(vae) if gives else 1) <= tile:
        return 0
    return max(tile // _factor(vae), SMALLEST_TILE)
