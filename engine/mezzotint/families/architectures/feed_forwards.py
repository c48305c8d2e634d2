"""What stands in the place of a block's MLP: a gated one, or convolutions over the tokens laid out as their grid.

The convolutions of `resnet` are two of 3x3 with an activation between them; `depthwise`, `group_shuffle` and `spatial`
have cheaper ones in their places (arXiv 1704.04861, 1707.01083, 1512.00567). `bottleneck` is ResNet's (1512.03385),
`mbconv` EfficientNet's with squeeze and excitation (1905.11946), `mixffn` Sana's (2410.10629). Blocks add what they
return to their input. The last convolution begins with zeros: a new block is one without a feed-forward.
"""

from collections.abc import Callable, Mapping
from math import gcd
from typing import TypeAlias

import torch
from diffusers.models.attention import FeedForward
from diffusers.models.transformers.sana_transformer import GLUMBConv
from torch import Tensor, nn

from mezzotint.families.architectures.table import FeedForwardKind

Grid: TypeAlias = tuple[int, int]  # rows and columns of tokens

_REDUCTION = 4  # of a bottleneck
_EXPANSION = 4  # of mbconv
_SQUEEZE = 4
_SANA_EXPANSION = 2.5
_GROUPS = 4


class GridFeedForward(nn.Module):
    """Layers for images, applied to tokens."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.Sequential(*layers)
        *_, last = (each for each in self.modules() if isinstance(each, nn.Conv2d))
        for parameter in last.parameters():
            nn.init.zeros_(parameter)

    def forward(self, tokens: Tensor, grid: Grid) -> Tensor:
        """Map tokens `(b, rows * columns, d)` to the same shape."""
        mapped: Tensor = self.layers(torch.unflatten(tokens.transpose(1, 2), 2, grid))
        return mapped.flatten(2).transpose(1, 2)


class SqueezeExcite(nn.Module):
    """Scales each channel by a function of all channels' means (arXiv 1709.01507)."""

    def __init__(self, channels: int, squeezed: int) -> None:
        super().__init__()
        self.reduce, self.expand = nn.Conv2d(channels, squeezed, 1), nn.Conv2d(squeezed, channels, 1)

    def forward(self, image: Tensor) -> Tensor:
        """Map `(b, c, h, w)` to the same shape."""
        means = image.mean(dim=(2, 3), keepdim=True)
        scale: Tensor = self.expand(nn.functional.silu(self.reduce(means))).sigmoid()
        return image * scale


def dense_convolution(width: int) -> nn.Module:
    """A 3x3 convolution, which the cheaper ones are compared with."""
    return nn.Conv2d(width, width, 3, padding=1)


def depthwise_separable(width: int) -> nn.Module:
    """3x3 for each channel alone, then 1x1: 1/width + 1/9 of the work of 3x3."""
    return nn.Sequential(nn.Conv2d(width, width, 3, padding=1, groups=width), nn.Conv2d(width, width, 1))


def shuffled_groups(width: int) -> nn.Module:
    """3x3 within groups of channels, whose order then changes so that the next mixes them: 1/groups of the work."""
    groups = gcd(width, _GROUPS)
    return nn.Sequential(nn.ChannelShuffle(groups), nn.Conv2d(width, width, 3, padding=1, groups=groups))


def spatially_separable(width: int) -> nn.Module:
    """3x1, then 1x3: 2/3 of the work."""
    return nn.Sequential(
        nn.Conv2d(width, width, (3, 1), padding=(1, 0)), nn.Conv2d(width, width, (1, 3), padding=(0, 1))
    )


def _pair(convolution: Callable[[int], nn.Module]) -> Callable[[nn.Module, int], GridFeedForward]:
    return lambda _, width: GridFeedForward(convolution(width), nn.SiLU(), convolution(width))


def _kept(mlp: nn.Module, _: int) -> nn.Module:
    return mlp


def _gated(_: nn.Module, width: int) -> nn.Module:
    # GEGLU (arXiv 2002.05202), with as many weights as the MLP.
    gated: nn.Module = FeedForward(width, activation_fn="geglu", inner_dim=8 * width // 3)
    return gated


def _mixffn(_: nn.Module, width: int) -> nn.Module:
    return GridFeedForward(GLUMBConv(width, width, _SANA_EXPANSION, residual_connection=False))


def _bottleneck(_: nn.Module, width: int) -> nn.Module:
    reduced = max(1, width // _REDUCTION)
    return GridFeedForward(
        nn.Conv2d(width, reduced, 1), nn.SiLU(), dense_convolution(reduced), nn.SiLU(), nn.Conv2d(reduced, width, 1)
    )


def _mbconv(_: nn.Module, width: int) -> nn.Module:
    wide = _EXPANSION * width
    depthwise = nn.Conv2d(wide, wide, 3, padding=1, groups=wide)
    nn.init.dirac_(depthwise.weight, groups=wide)  # so that the pointwise layers can begin as an MLP's
    return GridFeedForward(
        nn.Conv2d(width, wide, 1),
        nn.SiLU(),
        depthwise,
        nn.SiLU(),
        SqueezeExcite(wide, max(1, width // _SQUEEZE)),
        nn.Conv2d(wide, width, 1),
    )


# From PixArt's MLP and the width of tokens.
FEED_FORWARDS: Mapping[FeedForwardKind, Callable[[nn.Module, int], nn.Module]] = {
    "mlp": _kept,
    "gated": _gated,
    "mixffn": _mixffn,
    "resnet": _pair(dense_convolution),
    "depthwise": _pair(depthwise_separable),
    "group_shuffle": _pair(shuffled_groups),
    "spatial": _pair(spatially_separable),
    "bottleneck": _bottleneck,
    "mbconv": _mbconv,
}
