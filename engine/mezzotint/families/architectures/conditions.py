"""Latents of a smaller image as an input, with a noise level of their own (cascaded diffusion, arXiv 2106.15282).

They come with `added_cond_kwargs`: `low_resolution` `(b, c, h', w')` and `low_resolution_noise` `(b,)`, in timesteps
from 0 to 1000.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import torch
from diffusers.models.embeddings import PatchEmbed, PixArtAlphaCombinedTimestepSizeEmbeddings, TimestepEmbedding
from torch import Tensor, nn
from torch.nn import functional

from mezzotint.errors import ModelRefused
from mezzotint.families.architectures.table import LOW_RESOLUTION, Condition

Network: TypeAlias = Any  # PixArt's, which has no types
Added: TypeAlias = Mapping[str, Any]

_FREQUENCIES = 256  # of timesteps, as in PixArt


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What a network's blocks work with."""

    latents: Tensor  # (b, c, h, w)
    text: Tensor  # (b, m, d)
    bias: Tensor | None  # of the text (b, 1, m)
    options: Mapping[str, Any] | None  # cross_attention_kwargs


class Unconditioned(nn.Module):
    """No smaller image."""

    joins_text = False

    def joined(self, inputs: Inputs, added: Added | None) -> Inputs:  # noqa: ARG002  as conditioned ones
        """Return the inputs."""
        return inputs


class NoiseAwareEmbeddings(PixArtAlphaCombinedTimestepSizeEmbeddings):  # type: ignore[misc]  # diffusers has no types
    """PixArt's embedding of the timestep, to which that of the smaller image's noise level is added."""

    def __init__(self, width: int, size_width: int, *, has_sizes: bool) -> None:
        super().__init__(width, size_width, has_sizes)
        self.noise_embedder = TimestepEmbedding(_FREQUENCIES, width)
        for parameter in self.noise_embedder.linear_2.parameters():
            nn.init.zeros_(parameter)

    def forward(self, timestep: Tensor, *, low_resolution_noise: Tensor, **others: Any) -> Tensor:  # noqa: ANN401
        """Return embeddings `(b, d)`."""
        del others["low_resolution"]  # joined to the latents or the text
        waves = self.time_proj(low_resolution_noise).to(others["hidden_dtype"])
        embedded: Tensor = super().forward(timestep, **others) + self.noise_embedder(waves)
        return embedded


class ConcatenatedLatents(Unconditioned):
    """The smaller image, enlarged, is further channels of the latents; their weights begin with zeros."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        _embed_noise(network)
        network.pos_embed = _patches(network, 2 * network.config.in_channels)
        with torch.no_grad():
            network.pos_embed.proj.weight[:, network.config.in_channels :].zero_()

    def joined(self, inputs: Inputs, added: Added | None) -> Inputs:
        """Return the inputs with latents `(b, 2 c, h, w)`."""
        latents = inputs.latents
        enlarged = functional.interpolate(_low_resolution(added).to(latents), size=latents.shape[2:], mode="bilinear")
        return replace(inputs, latents=torch.cat([latents, enlarged], dim=1))


class LatentsAsText(Unconditioned):
    """Patches of the smaller image are tokens before those of the text."""

    joins_text = True

    def __init__(self, network: Network) -> None:
        super().__init__()
        _embed_noise(network)
        self.patches = _patches(network, network.config.in_channels)

    def joined(self, inputs: Inputs, added: Added | None) -> Inputs:
        """Return the inputs with text `(b, n' + m, d)`."""
        tokens = self.patches(_low_resolution(added).to(inputs.latents)).to(inputs.text)
        count, bias, options = tokens.shape[1], inputs.bias, dict(inputs.options or {})
        if bias is not None:
            bias = functional.pad(bias, (count, 0))
        if options.get("key_lengths") is not None:
            options["key_lengths"] = options["key_lengths"] + count
        return replace(inputs, text=torch.cat([tokens, inputs.text], dim=1), bias=bias, options=options)


def _low_resolution(added: Added | None) -> Tensor:
    given = {name: (added or {}).get(name) for name in LOW_RESOLUTION}
    missing = [name for name, value in given.items() if value is None]
    if missing:
        raise ModelRefused(
            f"this network refines a smaller image, of which {' and '.join(missing)} is not given: use it as a refiner"
        )
    return given["low_resolution"]  # type: ignore[return-value]  # it is not missing


def _embed_noise(network: Network) -> None:
    emb = network.adaln_single.emb
    network.adaln_single.emb = NoiseAwareEmbeddings(
        network.inner_dim, emb.outdim, has_sizes=emb.use_additional_conditions
    )


def _patches(network: Network, channels: int) -> PatchEmbed:
    side, like = network.config.sample_size, network.pos_embed
    return PatchEmbed(
        height=side,
        width=side,
        patch_size=network.config.patch_size,
        in_channels=channels,
        embed_dim=network.inner_dim,
        interpolation_scale=like.interpolation_scale,
    )


# From a network, whose layers they change.
CONDITIONS: Mapping[Condition, Callable[[Network], Unconditioned]] = {
    "none": lambda _: Unconditioned(),
    "concat": ConcatenatedLatents,
    "cross": LatentsAsText,
}
