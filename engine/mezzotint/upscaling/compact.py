"""The compact upscaler of Real-ESRGAN (arXiv 2107.10833): convolutions at the image's own size, then pixel shuffle."""

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

_COLOURS = 3
_WIDEST, _DEEPEST, _LARGEST_SCALE = 512, 128, 8


class Compact(nn.Module):
    """Images `(n, 3, h, w)` in 0..1 to `(n, 3, s h, s w)`: what is added to each pixel repeated s x s times."""

    def __init__(self, width: int, depth: int, scale: int) -> None:
        """`width`: channels between the layers; `depth`: convolutions between the first and the last."""
        super().__init__()
        self.scale = scale
        layers: list[nn.Module] = []
        for channels in (_COLOURS, *[width] * depth):
            layers += [nn.Conv2d(channels, width, 3, padding=1), nn.PReLU(width)]
        self.body = nn.Sequential(*layers, nn.Conv2d(width, _COLOURS * scale**2, 3, padding=1))

    def forward(self, x: Tensor) -> Tensor:
        """Enlarge images."""
        more = nn.functional.pixel_shuffle(self.body(x), self.scale)
        return more + nn.functional.interpolate(x, scale_factor=float(self.scale), mode="nearest")


def compact_for(shapes: Mapping[str, Sequence[int]]) -> Compact | None:
    """The network, without weights, that has these parameters; None if it is of another kind."""
    first, convolutions = shapes.get("body.0.weight"), (len(shapes) - 2) // 3
    if first is None or len(first) != 4 or convolutions < 1:
        return None
    width, last = first[0], shapes.get(f"body.{2 * convolutions}.weight", (0,))
    scale = math.isqrt(last[0] // _COLOURS)
    if not (0 < width <= _WIDEST and convolutions <= _DEEPEST and 0 < scale <= _LARGEST_SCALE):
        return None
    with torch.device("meta"):
        network = Compact(width, convolutions - 1, scale)
    own = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    return network if own == {name: tuple(shape) for name, shape in shapes.items()} else None
