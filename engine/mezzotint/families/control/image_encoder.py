"""CLIP's image encoder of an IP-Adapter: where it is, and its configuration."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file, is_folder
from mezzotint.errors import MezzotintError, ModelRefused
from mezzotint.families.control.files import NetworkFiles, read_network
from mezzotint.families.control.shapes import Config, NamedShapes

_WHAT = "a CLIP image encoder"
_MOST_FILES = 64  # of a folder of encoders
# Of OpenCLIP's ViT-H and ViT-bigG, which IP-Adapters use; files do not contain them.
_USUAL: Config = {"num_attention_heads": 16, "hidden_act": "gelu", "layer_norm_eps": 1e-5}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageEncoder:
    """A CLIP image encoder before anything is loaded."""

    path: Path
    network: NetworkFiles
    config: Config

    def width(self, *, hidden: bool) -> object:
        """Width of its hidden states, or of its output."""
        return self.config["hidden_size" if hidden else "projection_dim"]


def find_encoder(adapter: Path, given: str | None, *, hidden: bool, width: int) -> ImageEncoder:
    """The image encoder of an adapter that takes its hidden states or output of this width; raises ModelRefused."""
    if given is not None:
        found = open_encoder(Path(given))
        if found.width(hidden=hidden) != width:
            raise ModelRefused(
                f"{plain(adapter, 300)}: the image encoder {plain(given, 300)} has the width "
                f"{found.width(hidden=hidden)}, and this IP-Adapter takes {width}; give another with encoder="
            )
        return found
    for path in _places(adapter):
        try:
            encoder = open_encoder(path)
        except MezzotintError:
            continue
        if encoder.width(hidden=hidden) == width:
            return encoder
    raise ModelRefused(
        f"{plain(adapter, 300)}: there is no image encoder of the width {width} in a folder image_encoder near it; "
        "give its folder or file with encoder=, such as encoder=models/image_encoder"
    )


def open_encoder(path: Path) -> ImageEncoder:
    """Read the headers of an image encoder, given by its folder, a file in that, or a file; raises ModelRefused."""
    if path.name.startswith("model.") and is_file(path.with_name("config.json")):
        path = path.parent
    network = read_network(path, _WHAT, library="transformers")
    return ImageEncoder(path=path, network=network, config=_config(path, network))


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


def _config(path: Path, network: NetworkFiles) -> Config:
    shapes = NamedShapes(network.shapes, path, _WHAT)
    width, channels, patch, _ = shapes.of("vision_model.embeddings.patch_embedding.weight", 4)
    across = math.isqrt(shapes.of("vision_model.embeddings.position_embedding.weight", 2)[0] - 1)
    said = {name: network.config.get(name, usual) for name, usual in _USUAL.items()}
    return said | {
        "hidden_size": width,
        "num_channels": channels,
        "patch_size": patch,
        "image_size": across * patch,
        "num_hidden_layers": len(shapes.count(r"vision_model\.encoder\.layers\.(\d+)\.")),
        "intermediate_size": shapes.of("vision_model.encoder.layers.0.mlp.fc1.weight", 2)[0],
        "projection_dim": shapes.of("visual_projection.weight", 2)[0],
    }
