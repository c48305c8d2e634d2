"""The image encoder of an IP-Adapter or Redux: where it is, and its configuration."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file, is_folder
from mezzotint.errors import MezzotintError, ModelRefused
from mezzotint.families.control.files import NetworkFiles, read_network
from mezzotint.families.control.shapes import Config, NamedShapes

_PREFIX = "vision_model."  # not of SigLIP's in newer versions of transformers
_MOST_FILES = 64  # of a folder of encoders
# Of OpenCLIP's ViT-H and ViT-bigG, which IP-Adapters use, and of SigLIP's; files do not contain them.
_CLIP: Config = {"num_attention_heads": 16, "hidden_act": "gelu", "layer_norm_eps": 1e-5}
_SIGLIP: Config = {"hidden_act": "gelu_pytorch_tanh", "layer_norm_eps": 1e-6}
_HEADS = {1152: 16}  # of SigLIP's So400m, by width; others have 64 channels each


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageEncoder:
    """An image encoder before anything is loaded."""

    path: Path
    network: NetworkFiles
    config: Config

    def width(self, *, hidden: bool) -> object:
        """Width of its hidden states, or of its output."""
        return self.config["hidden_size" if hidden else "projection_dim"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderKind:
    """A kind of image encoders."""

    name: str
    config: Callable[[NamedShapes, Mapping[str, object]], Config]  # by shapes and what its folder says


def find_encoder(
    adapter: Path, given: str | None, *, width: int, hidden: bool = True, kind: EncoderKind | None = None
) -> ImageEncoder:
    """The image encoder of an adapter that takes its hidden states or output of this width; raises ModelRefused.

    `kind`: CLIP's if None.
    """
    if given is not None:
        found = open_encoder(Path(given), kind or CLIP)
        if found.width(hidden=hidden) != width:
            raise ModelRefused(
                f"{plain(adapter, 300)}: the image encoder {plain(given, 300)} has the width "
                f"{found.width(hidden=hidden)}, and {width} is needed; give another with encoder="
            )
        return found
    for path in _places(adapter):
        try:
            encoder = open_encoder(path, kind or CLIP)
        except MezzotintError:
            continue
        if encoder.width(hidden=hidden) == width:
            return encoder
    raise ModelRefused(
        f"{plain(adapter, 300)}: there is no image encoder of the width {width} in a folder image_encoder near it; "
        f"give the folder or file of {(kind or CLIP).name} with encoder=, such as encoder=models/image_encoder"
    )


def open_encoder(path: Path, kind: EncoderKind) -> ImageEncoder:
    """Read the headers of an image encoder, given by its folder, a file in that, or a file; raises ModelRefused."""
    if path.name.startswith("model.") and is_file(path.with_name("config.json")):
        path = path.parent
    network = read_network(path, kind.name, library="transformers")
    shapes = {name.removeprefix(_PREFIX): shape for name, shape in network.shapes.items()}
    config = kind.config(NamedShapes(shapes, path, kind.name), network.config)
    return ImageEncoder(path=path, network=network, config=config)


def _places(adapter: Path) -> Iterator[Path]:
    """Where publishers and other programs put it: h94's repository, ComfyUI's folders."""
    above = adapter.absolute().parents[:3]
    for folder in above:
        yield from (
            place for place in (folder / "image_encoder", folder / "models" / "image_encoder") if is_folder(place)
        )
    for folder in above:
        if is_folder(folder / "clip_vision"):
            yield from sorted(filter(is_file, (folder / "clip_vision").glob("*.safetensors")))[:_MOST_FILES]


def _clip(shapes: NamedShapes, said: Mapping[str, object]) -> Config:
    across = math.isqrt(shapes.of("embeddings.position_embedding.weight", 2)[0] - 1)
    usual = {name: said.get(name, one) for name, one in _CLIP.items()}
    return usual | _transformer(shapes, across) | {"projection_dim": shapes.of("visual_projection.weight", 2)[0]}


def _siglip(shapes: NamedShapes, said: Mapping[str, object]) -> Config:
    positions, width = shapes.of("embeddings.position_embedding.weight", 2)
    across = math.isqrt(positions)
    if across**2 != positions:
        raise ModelRefused(f"it has {positions} positions, which is no square: no SigLIP image encoder")
    usual = {name: said.get(name, one) for name, one in _SIGLIP.items()}
    heads = said.get("num_attention_heads", _HEADS.get(width, max(1, width // 64)))
    return usual | _transformer(shapes, across) | {"num_attention_heads": heads, "vision_use_head": False}


def _transformer(shapes: NamedShapes, across: int) -> Config:
    """What both have, for so many patches along a side."""
    width, channels, patch, _ = shapes.of("embeddings.patch_embedding.weight", 4)
    return {
        "hidden_size": width,
        "num_channels": channels,
        "patch_size": patch,
        "image_size": across * patch,
        "num_hidden_layers": len(shapes.count(r"encoder\.layers\.(\d+)\.")),
        "intermediate_size": shapes.of("encoder.layers.0.mlp.fc1.weight", 2)[0],
    }


CLIP = EncoderKind(name="a CLIP image encoder", config=_clip)
SIGLIP = EncoderKind(name="a SigLIP image encoder", config=_siglip)
