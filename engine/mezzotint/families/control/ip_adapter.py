"""IP-Adapters in files as h94 publishes them: which there are, and the configuration of their network."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from mezzotint.families.control.shapes import Config, NamedShapes

if TYPE_CHECKING:
    from mezzotint.families.loading.original_names import Form

_HEAD = 64  # channels of a resampler's attention head: arXiv 2308.06721's code and diffusers have no other
_ENCODER = ("vision_model.", "visual_projection.")
_EVERY_OTHER = 2  # layers are numbered with self-attention between them, from 1
_MOST_LAYERS = 1024
_RESAMPLER = (
    (r"layers\.(\d+)\.0\.norm1\.", r"layers.\1.ln0."),
    (r"layers\.(\d+)\.0\.norm2\.", r"layers.\1.ln1."),
    (r"layers\.(\d+)\.0\.to_out\.", r"layers.\1.attn.to_out.0."),
    (r"layers\.(\d+)\.0\.to_", r"layers.\1.attn.to_"),
    (r"layers\.(\d+)\.1\.0\.", r"layers.\1.ff.0."),
    (r"layers\.(\d+)\.1\.1\.", r"layers.\1.ff.1.net.0.proj."),
    (r"layers\.(\d+)\.1\.3\.", r"layers.\1.ff.1.net.2."),
    (r"^proj\.", "image_embeds."),
)


def is_ip_adapter(names: Mapping[str, object]) -> bool:
    """Whether these are the names of an IP-Adapter's tensors."""
    return any(name.startswith("ip_adapter.") for name in names)


def kind_not_used(names: Mapping[str, object]) -> str | None:
    """What kind of IP-Adapter it is if that is not supported."""
    if "image_proj.proj.3.weight" in names:
        return "an IP-Adapter Full Face"
    if any("_lora." in name for name in names) or "image_proj.proj.0.weight" in names:
        return "an IP-Adapter FaceID"
    known = "image_proj.latents" in names or "image_proj.proj.weight" in names
    return None if known else "an IP-Adapter of another kind"


def encoder_width(shapes: NamedShapes) -> tuple[bool, int]:
    """Whether it takes the image encoder's hidden states, and their width or that of its output."""
    if "image_proj.latents" in shapes.by_name:
        return True, shapes.of("image_proj.proj_in.weight", 2)[1]
    return False, shapes.of("image_proj.proj.weight", 2)[1]


def ip_adapter_config(shapes: NamedShapes, encoder: Config) -> Config:
    """Configuration of its network with this image encoder; raises ModelRefused if its tensors are not laid out so."""
    layers = shapes.count(r"ip_adapter\.(\d+)\.to_k_ip\.weight", first=1, step=_EVERY_OTHER, most=_MOST_LAYERS)
    keys = [shapes.of(f"ip_adapter.{number}.to_k_ip.weight", 2) for number in layers]
    resampled, seen = encoder_width(shapes)
    words = keys[0][1]
    projection: Config = {
        "image_embed_dim": seen,
        "cross_attention_dim": words,
        "num_image_text_embeds": shapes.of("image_proj.proj.weight", 2)[0] // words if not resampled else 0,
    }
    return {
        "_class_name": "ImagePrompt",
        "image_encoder": encoder,
        "resampled": resampled,
        "image_proj": _resampler(shapes) if resampled else projection,
        "words": words,
        "widths": [width for width, _ in keys],
    }


def _resampler(shapes: NamedShapes) -> Config:
    _, queries, hidden = shapes.of("image_proj.latents", 3)
    return {
        "embed_dims": shapes.of("image_proj.proj_in.weight", 2)[1],
        "output_dims": shapes.of("image_proj.proj_out.weight", 2)[0],
        "hidden_dims": hidden,
        "depth": len(shapes.count(r"image_proj\.layers\.(\d+)\.")),
        "dim_head": _HEAD,
        "heads": shapes.of("image_proj.layers.0.0.to_q.weight", 2)[0] // _HEAD,
        "num_queries": queries,
        "ffn_ratio": shapes.of("image_proj.layers.0.1.1.weight", 2)[0] // hidden,
    }


def ip_adapter_place(name: str) -> "tuple[tuple[str, Form], ...]":
    """The parameters that a tensor of the adapter or of its image encoder fills, and their forms."""
    from mezzotint.families.loading.original_names import Rows

    if name.startswith(_ENCODER):
        return ((f"image_encoder.{name}", "whole"),)
    if match := re.fullmatch(r"ip_adapter\.(\d+)\.to_([kv])_ip\.weight", name):
        return ((f"layers.{int(match[1]) // _EVERY_OTHER}.to_{match[2]}.weight", "whole"),)
    inner = name.removeprefix("image_proj.")
    for pattern, new in _RESAMPLER:
        inner = re.sub(pattern, new, inner)
    if ".to_kv." in inner:
        return tuple(
            (f"image_proj.{inner.replace('to_kv', part)}", Rows(half, 1, 2))
            for half, part in enumerate(("to_k", "to_v"))
        )
    return ((f"image_proj.{inner}", "whole"),)


def cross_attention_widths(unet: Mapping[str, object]) -> list[int]:
    """Channels of a U-Net's cross-attention layers: on the way down, on the way up, and in the middle."""
    widths = [int(str(each)) for each in _each(unet["block_out_channels"], 0)]
    count = len(widths)
    layers = [int(str(each)) for each in _each(unet.get("layers_per_block", 2), count)]
    depths = [int(str(each)) for each in _each(unet.get("transformer_layers_per_block", 1), count)]
    down = zip(_each(unet["down_block_types"], 0), widths, layers, depths, strict=True)
    up = zip(_each(unet["up_block_types"], 0), widths[::-1], layers[::-1], depths[::-1], strict=True)
    found = [width for kind, width, number, depth in down if "CrossAttn" in str(kind) for _ in range(number * depth)]
    found += [
        width for kind, width, number, depth in up if "CrossAttn" in str(kind) for _ in range((number + 1) * depth)
    ]
    return found + [widths[-1]] * depths[-1]


def _each(value: object, count: int) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else [value] * count
