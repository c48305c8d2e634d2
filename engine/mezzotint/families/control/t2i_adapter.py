"""T2I-Adapters of diffusers (arXiv 2302.08453): their configuration, by their tensors and the U-Net beside them."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from mezzotint.families.control.shapes import Config, NamedShapes

AdapterType: TypeAlias = Literal["full_adapter", "full_adapter_xl", "light_adapter"]
_PREFIX = "adapter.body."
_CHANNELS = (1, 3)  # of images: grey or colours


def is_t2i_adapter(names: Mapping[str, object]) -> bool:
    """Whether these are the names of a T2I-Adapter's tensors in diffusers."""
    return any(name.startswith(_PREFIX) for name in names)


def t2i_adapter_config(shapes: NamedShapes, vae_factor: int) -> Config:
    """Configuration for latents of so many pixels; raises ModelRefused if its tensors are not laid out so."""
    levels = shapes.count(r"adapter\.body\.(\d+)\.")
    light = "adapter.conv_in.weight" not in shapes.by_name
    last = len(shapes.count(r"adapter\.body\.0\.resnets\.(\d+)\.")) - 1
    first = shapes.of("adapter.body.0.in_conv.weight" if light else "adapter.conv_in.weight", 4)[1]
    half = 2 * vae_factor  # pixels per feature of adapters for SDXL, whose first level has half the sides
    of_half = first in [channels * half**2 for channels in _CHANNELS]
    factor = half if of_half and not light else vae_factor
    part = "out_conv" if light else f"resnets.{last}.block2"
    widths = [shapes.of(f"{_PREFIX}{level}.{part}.weight", 4)[0] for level in levels]
    kind: AdapterType = "light_adapter" if light else "full_adapter_xl" if of_half else "full_adapter"
    return {
        "_class_name": "T2IAdapter",
        "in_channels": first // factor**2,
        "channels": widths[:-1] if light else widths,
        "num_res_blocks": last + 1,
        "downscale_factor": factor,
        "adapter_type": kind,
    }


def features_of(config: Config) -> list[tuple[object, int]]:
    """Channels of each feature, and how often the sides of the latents are halved for it."""
    channels, kind = config["channels"], config["adapter_type"]
    widths = list(channels) if isinstance(channels, list | tuple) else []
    if kind == "light_adapter":
        widths += widths[-1:]
    of_xl = kind == "full_adapter_xl"  # begins at half the sides, and shrinks once
    return [(width, 1 + (level > 1) if of_xl else level) for level, width in enumerate(widths)]


def why_other_features(config: Config, unet: Mapping[str, object]) -> str | None:
    """Why a U-Net cannot take its features; None if it can. The middle block may take a further one."""
    if config["in_channels"] not in _CHANNELS:
        return f"it takes {config['in_channels']} numbers per pixel; images have 3 or, in grey, 1"
    wanted, found = _taken(unet), features_of(config)
    if found[: len(wanted)] == wanted and len(found) - len(wanted) in (0, 1):
        return None
    return f"its features are (channels, halvings) {found}, the model takes {wanted}"


def _taken(unet: Mapping[str, object]) -> list[tuple[object, int]]:
    """As `features_of`, for what each level adds to: before it shrinks if it attends to text, otherwise after."""
    widths, kinds = unet.get("block_out_channels"), unet.get("down_block_types")
    if not isinstance(widths, list | tuple) or not isinstance(kinds, list | tuple):
        return []
    last = len(widths) - 1
    after = ("CrossAttn" not in str(kind) and level < last for level, kind in enumerate(kinds))
    return [(width, level + shrunk) for level, (width, shrunk) in enumerate(zip(widths, after, strict=False))]
