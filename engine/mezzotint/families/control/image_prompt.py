"""The network of an IP-Adapter: an image as keys and values for each cross-attention of a U-Net (arXiv 2308.06721).

They do not depend on the step, so they are computed once, before denoising, and the U-Net keeps its own layers.
"""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn


class ImageKeysValues(nn.Module):
    """Keys and values of one layer."""

    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.to_k = nn.Linear(words, width, bias=False)
        self.to_v = nn.Linear(words, width, bias=False)

    def forward(self, words: Tensor) -> Tensor:
        """Map words `(n, t, c)` to keys and values side by side `(n, t, 2 width)`."""
        return torch.cat([self.to_k(words), self.to_v(words)], dim=-1)


class ImagePrompt(nn.Module):
    """CLIP's image encoder, the projection of what it sees to words, and each layer's keys and values of them."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        from diffusers.models.embeddings import ImageProjection, IPAdapterPlusImageProjection
        from transformers import CLIPVisionConfig, CLIPVisionModelWithProjection

        super().__init__()
        self.config = SimpleNamespace(**config)
        self.image_encoder = CLIPVisionModelWithProjection(CLIPVisionConfig(**config["image_encoder"]))
        projection = IPAdapterPlusImageProjection if config["resampled"] else ImageProjection
        self.image_proj = projection(**config["image_proj"])
        self.layers = nn.ModuleList(ImageKeysValues(config["words"], width) for width in config["widths"])

    @property
    def side(self) -> int:
        """Width and height of the images that it takes, in pixels."""
        return int(self.image_encoder.config.image_size)

    def forward(self, pixels: Tensor, *, guided: bool) -> Tensor:
        """Keys and values of all layers side by side `(n, t, 2 widths)` of pixels `(n, 3, side, side)`.

        With guidance `(2n, t, 2 widths)`, first those of no image, as diffusers' pipelines have it.
        """
        words = self.image_proj(self._seen(pixels, guided))
        return torch.cat([layer(words) for layer in self.layers], dim=-1)

    def _seen(self, pixels: Tensor, guided: bool) -> Tensor:
        if self.config.resampled:
            images = [torch.zeros_like(pixels), pixels] if guided else [pixels]
            states = [self.image_encoder(each, output_hidden_states=True).hidden_states[-2] for each in images]
            return torch.cat(states)
        found: Tensor = self.image_encoder(pixels).image_embeds
        return torch.cat([torch.zeros_like(found), found]) if guided else found
