"""Encodes pixels and decodes latents for every autoencoder class, with the scaling in its configuration."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch

from mezzotint.families.autoencoder_space import FLUX2_PATCH, latent_layout
from mezzotint.families.family import Network
from mezzotint.memory.tiling import SMALLEST_TILE, in_tiles

if TYPE_CHECKING:
    from diffusers.models.autoencoders.vae import DiagonalGaussianDistribution


class _Kl:
    """AutoencoderKL: latents scaled by a factor, or by the mean and standard deviation of each channel."""

    def moments(self, vae: Network, pixels: torch.Tensor) -> torch.Tensor:
        """Mean and log variance `(b, 2c, h, w)` of pixels `(b, 3, H, W)`."""
        return vae.encode(pixels).latent_dist.parameters  # type: ignore[no-any-return]

    def drawn(self, moments: torch.Tensor, generator: torch.Generator | None) -> torch.Tensor:
        """Sample latents from the moments; without a generator, return their mode."""
        posterior = _posterior(moments)
        latents: torch.Tensor = posterior.mode() if generator is None else posterior.sample(generator)
        return latents

    def pixels(self, vae: Network, latents: torch.Tensor) -> torch.Tensor:
        """Decode unscaled latents."""
        return vae.decode(latents, return_dict=False)[0]  # type: ignore[no-any-return]

    def scaled(self, vae: Network, latents: torch.Tensor) -> torch.Tensor:
        """Scale the encoder's latents for the sampler."""
        statistics = _statistics(vae, latents)
        if statistics is not None:
            mean, std = statistics
            return (latents - mean) * float(vae.config.scaling_factor) / std
        shift = _shift(vae)
        return float(vae.config.scaling_factor) * (latents - shift if shift else latents)

    def reference(self, vae: Network, latents: torch.Tensor) -> torch.Tensor:
        """Scale the encoder's latents for use as a reference image."""
        return self.scaled(vae, latents)

    def unscaled(self, vae: Network, latents: torch.Tensor) -> torch.Tensor:
        """Undo the scaling of sampled latents for the decoder."""
        statistics = _statistics(vae, latents)
        if statistics is not None:
            mean, std = statistics
            return latents * std / vae.config.scaling_factor + mean  # type: ignore[no-any-return]
        latents = latents / vae.config.scaling_factor
        shift = _shift(vae)
        return latents + shift if shift else latents


class _Flux2(_Kl):
    """AutoencoderKLFlux2: 2x2 patches, normalized by the running statistics stored in its weights."""

    def scaled(self, vae: Network, latents: torch.Tensor) -> torch.Tensor:
        """Scale the encoder's latents for the sampler."""
        mean, std = self._statistics(vae, latents)
        return (torch.nn.functional.pixel_unshuffle(latents, FLUX2_PATCH) - mean) / std

    def unscaled(self, vae: Network, latents: torch.Tensor) -> torch.Tensor:
        """Undo the scaling of sampled latents for the decoder."""
        mean, std = self._statistics(vae, latents)
        return torch.nn.functional.pixel_shuffle(latents * std + mean, FLUX2_PATCH)

    def _statistics(self, vae: Network, like: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        mean = vae.bn.running_mean.view(1, -1, 1, 1).to(like)
        return mean, torch.sqrt(vae.bn.running_var.view(1, -1, 1, 1) + vae.config.batch_norm_eps).to(like)


class _QwenImage(_Kl):
    """AutoencoderKLQwenImage: a video autoencoder, used with a single frame."""

    def moments(self, vae: Network, pixels: torch.Tensor) -> torch.Tensor:
        """Mean and log variance `(b, 2c, h, w)` of pixels `(b, 3, H, W)`."""
        return vae.encode(pixels[:, :, None]).latent_dist.parameters[:, :, 0]  # type: ignore[no-any-return]

    def pixels(self, vae: Network, latents: torch.Tensor) -> torch.Tensor:
        """Decode unscaled latents."""
        return vae.decode(latents[:, :, None], return_dict=False)[0][:, :, 0]  # type: ignore[no-any-return]

    def scaled(self, vae: Network, latents: torch.Tensor) -> torch.Tensor:
        """Scale the encoder's latents for the sampler."""
        mean, inverse = self._statistics(vae, latents)
        return (latents - mean) * inverse

    def reference(self, vae: Network, latents: torch.Tensor) -> torch.Tensor:
        """Like `scaled`, but dividing as diffusers does for reference images: the last bits differ."""
        mean, std = (torch.tensor(each).view(1, -1, 1, 1) for each in (vae.config.latents_mean, vae.config.latents_std))
        return (latents - mean.to(latents)) / std.to(latents)

    def unscaled(self, vae: Network, latents: torch.Tensor) -> torch.Tensor:
        """Undo the scaling of sampled latents for the decoder."""
        mean, inverse = self._statistics(vae, latents)
        return latents / inverse + mean

    def _statistics(self, vae: Network, like: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Means and inverse standard deviations, used as in diffusers so that the last bits match."""
        mean, std = (torch.tensor(each) for each in (vae.config.latents_mean, vae.config.latents_std))
        return mean.view(1, -1, 1, 1).to(like), 1.0 / std.view(1, -1, 1, 1).to(like)


class _Dc(_Kl):
    """AutoencoderDC (arXiv 2410.10733): deterministic, nothing is sampled."""

    def moments(self, vae: Network, pixels: torch.Tensor) -> torch.Tensor:
        """The latents themselves."""
        return vae.encode(pixels).latent  # type: ignore[no-any-return]

    def drawn(self, moments: torch.Tensor, generator: torch.Generator | None) -> torch.Tensor:  # noqa: ARG002  for _Kl
        """Return `moments`, which are the latents."""
        return moments


_KINDS: Mapping[str, _Kl] = {
    "AutoencoderKLFlux2": _Flux2(),
    "AutoencoderKLQwenImage": _QwenImage(),
    "AutoencoderDC": _Dc(),
}
_KL = _Kl()


def _kind(vae: Network) -> _Kl:
    return _KINDS.get(type(vae).__name__, _KL)


def _posterior(moments: torch.Tensor) -> "DiagonalGaussianDistribution":
    from diffusers.models.autoencoders.vae import DiagonalGaussianDistribution

    return DiagonalGaussianDistribution(moments)


def _statistics(vae: Network, like: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor] | None:
    mean, std = getattr(vae.config, "latents_mean", None), getattr(vae.config, "latents_std", None)
    if mean is None or std is None:
        return None
    first, second = (torch.tensor(value).view(1, -1, 1, 1).to(like) for value in (mean, std))
    return first, second


def _shift(vae: Network) -> float:
    return float(getattr(vae.config, "shift_factor", None) or 0.0)


def encode_pixels(vae: Network, pixels: torch.Tensor, generator: torch.Generator | None, tile: int = 0) -> torch.Tensor:
    """Encode pixels `(b, 3, H, W)` in -1..1 to latents `(b, c, h, w)`, sampling the posterior with `generator`.

    Without a generator, return the posterior's mode, scaled for reference images.
    `tile`: side in pixels of the tiles encoded one at a time; 0: the whole image at once.
    """
    kind, pixels = _kind(vae), pixels.to(vae.device, vae.dtype)
    side = _tile(vae, pixels, tile, gives=False)
    if side:
        moments = in_tiles(lambda x: kind.moments(vae, x), pixels, side, takes=_factor(vae), gives=1).to(vae.dtype)
    else:
        moments = kind.moments(vae, pixels)
    latents = kind.drawn(moments, generator).float()
    return kind.reference(vae, latents) if generator is None else kind.scaled(vae, latents)


def decode_latents(vae: Network, latents: torch.Tensor, tile: int = 0) -> torch.Tensor:
    """Decode latents `(b, c, h, w)` to pixels `(b, 3, H, W)`, about -1..1; `tile` as in `encode_pixels`."""
    kind = _kind(vae)
    latents = kind.unscaled(vae, latents.to(vae.device, vae.dtype))
    side = _tile(vae, latents, tile, gives=True)
    if side:
        return in_tiles(lambda x: kind.pixels(vae, x), latents, side, takes=1, gives=_factor(vae))
    return kind.pixels(vae, latents)


def _factor(vae: Network) -> int:
    """Pixels per latent of the autoencoder itself (before FLUX.2's patches), along a side."""
    factor = latent_layout({**vae.config, "_class_name": type(vae).__name__}).factor
    return factor // FLUX2_PATCH if isinstance(_kind(vae), _Flux2) else factor


def _tile(vae: Network, x: torch.Tensor, tile: int, *, gives: bool) -> int:
    """Side of a tile in latents; 0 if the image, which is x or (with `gives`) decoded from x, fits in one tile."""
    if not tile or max(x.shape[-2:]) * (_factor(vae) if gives else 1) <= tile:
        return 0
    return max(tile // _factor(vae), SMALLEST_TILE)
