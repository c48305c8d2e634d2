"""TAESD's decoder, of any width and depth: residual blocks of 3x3 convolutions, and nearest upsampling.

See https://github.com/madebyollin/taesd. Like its relatives for other latent spaces, it decodes latents as the sampler
has them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

_CLAMP = 3.0  # latents are limited softly to this magnitude
_GROUPS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvolutionLayer:
    """A 3x3 convolution."""

    given: int  # channels
    made: int
    bias: bool

    def module(self) -> nn.Module:
        """Return the layer with undefined weights."""
        return _convolution(self.given, self.made, bias=self.bias)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockLayer:
    """A residual block; `pooled` is the width of the group-normalized branch that FLUX.2's has, 0 without one."""

    given: int
    made: int
    pooled: int = 0

    def module(self) -> nn.Module:
        """Return the layer with undefined weights."""
        return TinyBlock(self.given, self.made, self.pooled)


@dataclass(frozen=True, slots=True)
class Activation:
    """The ReLU after the first convolution, which has no weights."""

    def module(self) -> nn.Module:
        """Return the layer."""
        return nn.ReLU()


@dataclass(frozen=True, slots=True)
class Upsampling:
    """Nearest upsampling by 2, which has no weights."""

    def module(self) -> nn.Module:
        """Return the layer."""
        return nn.Upsample(scale_factor=2, mode="nearest")


Layer = ConvolutionLayer | BlockLayer | Activation | Upsampling


class TinyBlock(nn.Module):
    """Three convolutions, added to the input."""

    def __init__(self, given: int, made: int, pooled: int) -> None:
        super().__init__()
        self.conv = nn.Sequential(
            _convolution(given, made), nn.ReLU(), _convolution(made, made), nn.ReLU(), _convolution(made, made)
        )
        self.skip = nn.Identity() if given == made else nn.Conv2d(given, made, 1, bias=False)
        self.pool = _pool(given, pooled) if pooled else None

    def forward(self, hidden: Tensor) -> Tensor:
        """Return features `(b, made, h, w)`."""
        if self.pool is not None:
            hidden = hidden + self.pool(hidden)
        return torch.relu(self.conv(hidden) + self.skip(hidden))


class TinyDecoder(nn.Module):
    """Decodes latents `(b, c, h, w)` to pixels `(b, 3, f h, f w)`, about -1..1."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        super().__init__()
        convolutions = [layer for layer in layers if isinstance(layer, ConvolutionLayer)]
        self.latent_channels, self.channels = convolutions[0].given, convolutions[-1].made
        self.widest = convolutions[-1].given  # channels at full resolution
        self.factor: int = 2 ** sum(isinstance(layer, Upsampling) for layer in layers)
        self.layers = nn.Sequential(*(layer.module() for layer in layers))

    def forward(self, latents: Tensor) -> Tensor:
        """Return the pixels."""
        return self.layers(torch.tanh(latents / _CLAMP) * _CLAMP).mul(2).sub(1)  # type: ignore[no-any-return]


def _convolution(given: int, made: int, *, bias: bool = True) -> nn.Conv2d:
    return nn.Conv2d(given, made, 3, padding=1, bias=bias)


def _pool(channels: int, inner: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(channels, inner, 1, bias=False),
        nn.GroupNorm(_GROUPS, inner),
        nn.ReLU(),
        nn.Conv2d(inner, channels, 1, bias=False),
    )
