"""FLUX.1 Redux: an image as further text tokens, of SigLIP's image encoder (arXiv 2303.15343) and a projection."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mezzotint.families.control.shapes import Config, NamedShapes

if TYPE_CHECKING:
    from mezzotint.families.loading.original_names import Form

_PREFIX = "vision_model."
_ENCODER = ("embeddings.", "encoder.", "post_layernorm.")  # with that prefix or not; files may have other networks, too


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
