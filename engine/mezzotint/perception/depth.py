"""Estimate how near everything in an image is, by Depth Anything (arXiv 2401.10891, 2406.09414)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import nn

from mezzotint.errors import ModelRefused
from mezzotint.perception.pixels import pixels_for
from mezzotint.perception.reading import open_network
from mezzotint.protocol import IsCancelled

SIDE = 518  # pixels that one side of its input has, as it was trained
_LONGEST = 4 * SIDE  # beyond that, an image is squeezed
_NEAREST = 1e-3  # metres
_SMALLEST_SPAN = 1e-5  # of the largest depth: less is rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class DepthEstimator:
    """A network that estimates depth; it runs on the device that the network is on."""

    network: nn.Module
    multiple: int  # of pixels that sides of its input are
    metric: bool = False  # whether it says metres instead of their inverse
    side: int = SIDE

    def depth_map(self, image: Image.Image) -> Image.Image:
        """A grey image "L" of the same size as an image "RGB": white is nearest, black is farthest."""
        with torch.inference_mode():
            found = self.network(pixel_values=self.pixels(image)).predicted_depth[None].float()
            if self.metric:
                found = 1 / found.clamp(min=_NEAREST)
            size = image.size[::-1]
            found = nn.functional.interpolate(found, size, mode="bicubic", align_corners=False)[0, 0].cpu()
        if not bool(torch.isfinite(found).all()):
            raise ModelRefused("the depth network makes NaN of this image: its weights are damaged")
        low, high = found.min(), found.max()
        told_apart = high - low > _SMALLEST_SPAN * max(abs(low), abs(high))
        shown = (found - low) / (high - low) * 255 if told_apart else torch.zeros_like(found)
        return Image.fromarray(shown.round().numpy().astype(np.uint8))

    def pixels(self, image: Image.Image) -> torch.Tensor:
        """The image as the network takes it `(1, 3, h, w)`: with the side that is nearer to it at its own length."""
        scale = min((self.side / length for length in image.size), key=lambda scale: abs(1 - scale))
        scale = min(scale, _LONGEST / max(image.size))
        width, height = (max(1, round(length * scale / self.multiple)) * self.multiple for length in image.size)
        resized = image.convert("RGB").resize((width, height), Image.Resampling.BICUBIC)
        return pixels_for(self.network, resized, normalized=True)


def open_depth_estimator(path: Path, cancelled: IsCancelled = lambda: False) -> DepthEstimator:
    """Read a depth network's folder into RAM; raises ModelRefused, StorageError, Cancelled."""
    network = open_network(path, "depth", cancelled)
    config: Any = network.config
    return DepthEstimator(
        network=network, multiple=int(config.patch_size), metric=config.depth_estimation_type == "metric"
    )
