"""FLUX.1 Redux as a network: an image as further text tokens, made once, before denoising."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from mezzotint.families.family import Conditioning


class ReduxPrompt(nn.Module):
    """SigLIP's image encoder and the projection of what it sees to text tokens."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        from diffusers.pipelines.flux.modeling_flux import ReduxImageEncoder
        from transformers import SiglipVisionConfig, SiglipVisionModel

        super().__init__()
        self.config = SimpleNamespace(**config)
        self.image_encoder = SiglipVisionModel(SiglipVisionConfig(**config["image_encoder"]))
        self.image_embedder = ReduxImageEncoder(**config["image_embedder"])

    @property
    def side(self) -> int:
        """Width and height of the images that it takes, in pixels."""
        return int(self.image_encoder.config.image_size)

    def forward(self, pixels: Tensor, *, guided: bool) -> Tensor:  # noqa: ARG002  models with guidance take none
        """Text tokens `(n, t, d)` of pixels `(n, 3, side, side)`."""
        made: Tensor = self.image_embedder(self.image_encoder(pixels).last_hidden_state).image_embeds
        return made


def with_image_words(text: Tensor, conditioning: "Conditioning") -> Tensor:
    """Text `(n, t, d)` with the tokens of the images that are used in this step, weighted as in diffusers' pipeline."""
    used = [one for one in conditioning.controls if one.kind == "redux" and one.weight]
    if not used:
        return text
    each = (torch.cat([text, conditioning.tensors[one.tensor]], dim=1) * text.new_tensor(one.weight) for one in used)
    return torch.stack(list(each)).sum(dim=0)
