"""The starters' own preview decoder: depthwise-separable residual blocks, with nearest upsampling between them."""

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

_CLAMP = 3.0  # latents are limited softly to this magnitude, as in TAESD
CLASS_NAME = "SeparableDecoder"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeparableShape:
    """Widths and numbers of blocks of the stages, between which the image is doubled."""

    latent_channels: int
    widths: tuple[int, ...]
    depths: tuple[int, ...]
    expansion: int = 2  # of the blocks' inner channels


class SeparableBlock(nn.Module):
    """A 3x3 depthwise convolution, then two 1x1 convolutions with a ReLU between them, added to the input."""

    def __init__(self, channels: int, inner: int) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(channels, channels, 3, padding=1, groups=channels)
        self.expand = nn.Conv2d(channels, inner, 1)
        self.project = nn.Conv2d(inner, channels, 1)

    def forward(self, hidden: Tensor) -> Tensor:
        """Return features `(b, c, h, w)` of the same shape."""
        inner = torch.relu(self.expand(self.depthwise(hidden)))
        return hidden + self.project(inner)  # type: ignore[no-any-return]


class SeparableDecoder(nn.Module):
    """Decodes latents `(b, c, h, w)` to pixels `(b, 3, f h, f w)`, about -1..1."""

    def __init__(self, shape: SeparableShape) -> None:
        super().__init__()
        widths = shape.widths
        self.latent_channels, self.channels = shape.latent_channels, 3
        self.factor: int = 2 ** (len(widths) - 1)
        self.widest = shape.expansion * widths[-1]  # channels at full resolution
        self.start = nn.Conv2d(shape.latent_channels, widths[0], 3, padding=1)
        self.stages = nn.ModuleList(
            nn.ModuleList(SeparableBlock(width, shape.expansion * width) for _ in range(depth))
            for width, depth in zip(widths, shape.depths, strict=True)
        )
        self.narrow = nn.ModuleList(nn.Conv2d(width, narrower, 1) for width, narrower in pairwise(widths))
        self.end = nn.Conv2d(widths[-1], 3, 3, padding=1)

    def forward(self, latents: Tensor) -> Tensor:
        """Return the pixels."""
        hidden = self.start(torch.tanh(latents / _CLAMP) * _CLAMP)
        for index, stage in enumerate(self.stages):
            if index:
                hidden = nn.functional.interpolate(self.narrow[index - 1](hidden), scale_factor=2.0)
            for block in stage:  # type: ignore[attr-defined]  # a ModuleList
                hidden = block(hidden)
        return self.end(torch.relu(hidden))  # type: ignore[no-any-return]
