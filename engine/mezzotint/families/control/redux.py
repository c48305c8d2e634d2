"""FLUX.1 Redux: an image as further text tokens, of SigLIP's image encoder (arXiv 2303.15343) and a projection.

They do not depend on the step, so they are made once, before denoising.
"""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from mezzotint.families.control.shapes import Config, NamedShapes

if TYPE_CHECKING:
    from mezzotint.families.family import Conditioning
    from mezzotint.families.loading.original_names import Form

_PREFIX = "vision_model."
_ENCODER = ("embeddings.", "encoder.", "post_layernorm.")  # with that prefix or not; files may have other networks, too


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


def is_redux(names: Mapping[str, object]) -> bool:
    """Whether these are the names of Redux's projection, which are the same everywhere."""
    return "redux_up.weight" in names


def redux_width(shapes: NamedShapes) -> int:
    """Width of the image encoder's states that it takes."""
    return shapes.of("redux_up.weight", 2)[1]


def redux_config(shapes: NamedShapes, encoder: Config) -> Config:
    """Configuration of its network with this image encoder; raises ModelRefused if its tensors are not laid out so."""
    width = shapes.of("redux_down.weight", 2)[0]
    return {
        "_class_name": "ReduxPrompt",
        "image_encoder": encoder,
        "image_embedder": {"redux_dim": redux_width(shapes), "txt_in_features": width},
        "words": width,
    }


def redux_place(name: str) -> "tuple[tuple[str, Form], ...]":
    """The parameter that a tensor of it or of its image encoder fills, and its form; none if it is not used."""
    if name.startswith("redux_"):
        return ((f"image_embedder.{name}", "whole"),)
    inner = name.removeprefix(_PREFIX)
    return ((f"image_encoder.{inner}", "whole"),) if inner.startswith(_ENCODER) else ()


def image_tokens(config: Mapping[str, Any]) -> int:
    """How many text tokens an image becomes."""
    encoder = config["image_encoder"]
    return int((encoder["image_size"] // encoder["patch_size"]) ** 2)


def with_image_words(text: Tensor, conditioning: "Conditioning") -> Tensor:
    """Text `(n, t, d)` with the tokens of the images that are used in this step, weighted as in diffusers' pipeline."""
    used = [one for one in conditioning.controls if one.kind == "redux" and one.weight]
    if not used:
        return text
    each = (torch.cat([text, conditioning.tensors[one.tensor]], dim=1) * text.new_tensor(one.weight) for one in used)
    return torch.stack(list(each)).sum(dim=0)
