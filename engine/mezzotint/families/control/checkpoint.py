"""A control network on disk: a folder or file, recognised by its tensors, with their names in diffusers' network."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mezzotint.checkpoints.allowed_classes import CONTROLS
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused
from mezzotint.families.control.control_lora import is_control_lora
from mezzotint.families.control.files import NetworkFiles, Shapes, read_network
from mezzotint.families.control.image_encoder import SIGLIP, ImageEncoder, find_encoder
from mezzotint.families.control.ip_adapter import encoder_width, ip_adapter_place, is_ip_adapter, kind_not_used
from mezzotint.families.control.names import ORIGINAL_PREFIX, original_place
from mezzotint.families.control.redux import is_redux, redux_place, redux_width
from mezzotint.families.control.settings import ControlKind
from mezzotint.families.control.shapes import NamedShapes
from mezzotint.families.control.t2i_adapter import is_t2i_adapter
from mezzotint.families.control.transformer_config import FLUX_MARK, MARK, MODES, QWEN_MARK, Z_IMAGE_MARK
from mezzotint.families.control.z_image import refined_by
from mezzotint.families.family import Original
from mezzotint.families.foreign import kind_of_file

_NOT_USED: tuple[tuple[str, str], ...] = (
    (r"^double_blocks\.", "XLabs' ControlNet of FLUX.1"),
    (r"^(body\.\d+\.(in_conv|resnets|block1)|conv_in\.weight$)", "a T2I-Adapter under its original names"),
    (r"(^|\.)lora_controlnet$", "a Control-LoRA"),
    (r"^lllite_", "a ControlNet-LLLite"),
    (r"(^|\.)(controlnet_blocks|controlnet_x_embedder)\.", "a ControlNet of another transformer than FLUX.1, "
     "Qwen-Image and Z-Image"),
)  # fmt: skip
_MARK = re.compile(r"(^|\.)(controlnet_cond_embedding|input_hint_block)\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlCheckpoint:
    """A control network before anything is loaded."""

    path: Path  # as given
    kind: ControlKind = "controlnet"
    files: tuple[Path, ...]  # of an IP-Adapter or Redux its own and its image encoder's
    shapes: Shapes  # by diffusers' names; of an IP-Adapter by those of its file
    original: Original | None  # naming of its file if that is not diffusers'
    config: Mapping[str, object]  # of its folder, or of an image encoder; of a file what only its numbers tell
    bytes: int

    @property
    def is_union(self) -> bool:
        """Whether one network follows images of several kinds."""
        return self.modes > 0

    @property
    def modes(self) -> int:
        """How many kinds of images it tells apart; 0: it is not told."""
        return next((self.shapes[name][0] for name in ("task_embedding", MODES) if self.shapes.get(name)), 0)


def open_control(path: Path, encoder: str | None = None) -> ControlCheckpoint:
    """Read the headers of a control network; raises ModelRefused, saying what is wrong or what the file is instead.

    `encoder`: the image encoder of an IP-Adapter or Redux; None: one near it.
    """
    network = read_network(path, "a ControlNet", classes=CONTROLS)
    if is_ip_adapter(network.shapes):
        return _ip_adapter(path, network, encoder)
    if is_redux(network.shapes):
        return _redux(path, network, encoder)
    if encoder is not None:
        raise ModelRefused(
            f"{plain(path, 300)}: neither an IP-Adapter nor Redux, and only those take an encoder; leave that out"
        )
    kind: ControlKind | None = "flux-control" if is_control_lora(network.shapes) else _kind_by_names(network.shapes)
    if kind is not None:
        return ControlCheckpoint(
            path=path,
            kind=kind,
            files=network.files,
            shapes=network.shapes,
            original=None,
            config=network.config or (refined_by(network) if kind == "z-image-controlnet" else {}),
            bytes=network.bytes,
        )
    if MARK in network.shapes or not any(map(_MARK.search, network.shapes)):
        raise ModelRefused(
            f"{plain(path, 300)}: no ControlNet but {_kind(network.shapes)}; give a ControlNet of a U-Net"
        )
    shapes, original = network.shapes, _original(network.shapes)
    if original is not None:
        inner = {name.removeprefix(original.prefix): shape for name, shape in shapes.items()}
        shapes = {new: shape for name, shape in inner.items() for new, _ in original.place(name)}
    return ControlCheckpoint(
        path=path, files=network.files, shapes=shapes, original=original, config=network.config, bytes=network.bytes
    )


def control_files(path: Path, encoder: str | None = None) -> tuple[Path, ...]:
    """The weight files of a control network, and of its image encoder if it has one; raises ModelRefused."""
    return open_control(path, encoder).files


def _kind_by_names(names: Shapes) -> ControlKind | None:
    """The kind of a network that only diffusers' names are read of."""
    if is_t2i_adapter(names):
        return "t2i-adapter"
    if Z_IMAGE_MARK in names:
        return "z-image-controlnet"
    of_pixels = any(name.startswith("input_hint_block.") for name in names)
    if MARK not in names or of_pixels:
        return None
    marks: tuple[tuple[str, ControlKind], ...] = ((FLUX_MARK, "flux-controlnet"), (QWEN_MARK, "qwen-controlnet"))
    return next((kind for mark, kind in marks if mark in names), None)


def _ip_adapter(path: Path, network: NetworkFiles, encoder: str | None) -> ControlCheckpoint:
    other = kind_not_used(network.shapes)
    if other is not None:
        raise ModelRefused(f"{plain(path, 300)}: {other}, which is not supported; give a plain one, Plus or Plus Face")
    hidden, width = encoder_width(NamedShapes(network.shapes, path, "an IP-Adapter"))
    found = find_encoder(path, encoder, hidden=hidden, width=width)
    return _with_encoder(path, "ip-adapter", network, found, Original(prefix="", place=ip_adapter_place))


def _redux(path: Path, network: NetworkFiles, encoder: str | None) -> ControlCheckpoint:
    width = redux_width(NamedShapes(network.shapes, path, "Redux"))
    found = find_encoder(path, encoder, width=width, kind=SIGLIP)
    return _with_encoder(path, "redux", network, found, Original(prefix="", place=redux_place))


def _with_encoder(
    path: Path, kind: ControlKind, network: NetworkFiles, encoder: ImageEncoder, original: Original
) -> ControlCheckpoint:
    """An image prompt's network and the encoder of its images, as one."""
    return ControlCheckpoint(
        path=path,
        kind=kind,
        files=(*network.files, *encoder.network.files),
        shapes=network.shapes,
        original=original,
        config=encoder.config,
        bytes=network.bytes + encoder.network.bytes,
    )


def _kind(names: Shapes) -> str:
    for pattern, kind in _NOT_USED:
        expression = re.compile(pattern)
        if any(map(expression.search, names)):
            return f"{kind}, which is not supported"
    return kind_of_file(names)


def _original(names: Shapes) -> Original | None:
    """The naming of a file that is not diffusers'; with or without the prefix that whole checkpoints have."""
    if not any("input_hint_block." in name for name in names):
        return None
    prefix = ORIGINAL_PREFIX if any(name.startswith(ORIGINAL_PREFIX) for name in names) else ""
    inner = tuple(name.removeprefix(prefix) for name in names)
    return Original(prefix=prefix, place=partial(original_place, inner))
