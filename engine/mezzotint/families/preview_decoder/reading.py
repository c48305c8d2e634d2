"""Read a preview decoder from a safetensors file; names and shapes are checked before any weight is read."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from mezzotint.checkpoints.header import Header, TensorSpec, read_header
from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.checkpoints.read import read_tensors
from mezzotint.errors import ModelRefused
from mezzotint.families.autoencoder_space import LatentLayout
from mezzotint.families.preview_decoder.layout import decoder_tensors, layers_of, separable_of
from mezzotint.families.preview_decoder.separable import SeparableDecoder
from mezzotint.families.preview_decoder.tiny import TinyDecoder
from mezzotint.memory.tiling import SMALLEST_TILE, in_tiles

MAX_FILE = 64 * 2**20  # bytes: TAESD has 5 MB with its encoder, its widest relative 60
MOST_TILE = 64  # latents along a side
_TILE_PIXELS = 512
_WHOLE = 9  # channels of the image, of its weights in tiles, and of what is made of them
_LIVE = 3  # activations at full resolution at a time: of a block's input, and of two layers
_MOST_FACTOR = 32
_FLOATS = ("F32", "F16", "BF16")
_PATCHES = (1, 2)  # of latents that are sampled as one, along a side: FLUX.2's are 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewDecoder:
    """A decoder of latents as the sampler has them."""

    path: Path
    network: SeparableDecoder | TinyDecoder

    def patch(self, layout: LatentLayout) -> int | None:
        """Latents per sampled patch of a latent space, along a side; None if the decoder does not fit."""
        channels, factor = self.network.latent_channels, self.network.factor
        sampled = {patch: (channels * patch**2, factor * patch) for patch in _PATCHES}
        return next((patch for patch, space in sampled.items() if space == (layout.channels, layout.factor)), None)

    def tile(self, latents: Tensor, patch: int, room: int | None) -> int:
        """Side in latents of the largest tile for whose activations there are `room` bytes; None: any number."""
        most = min(MOST_TILE, max(1, _TILE_PIXELS // self.network.factor))
        if room is None:
            return most
        weights = list(self.network.parameters())
        whole = 4 * _WHOLE * latents[0, 0].numel() * (patch * self.network.factor) ** 2  # in float32
        room -= whole + sum(weight.numel() * weight.element_size() for weight in weights)
        each = _LIVE * self.network.widest * self.network.factor**2 * weights[0].element_size()
        return min(most, max(SMALLEST_TILE, math.isqrt(max(0, room) // each)))

    def pixels(self, latents: Tensor, patch: int = 1, tile: int = MOST_TILE) -> Tensor:
        """Decode sampled latents `(b, c p p, h, w)` to pixels `(b, 3, p f h, p f w)`, about -1..1.

        Larger images are decoded in tiles of at most `tile` latents along a side.
        """
        weight = next(self.network.parameters())
        latents = latents.to(weight.device, weight.dtype)
        if patch > 1:
            latents = nn.functional.pixel_shuffle(latents, patch)
        if max(latents.shape[-2:]) <= tile:
            return self.network(latents)  # type: ignore[no-any-return]
        return in_tiles(self.network, latents, tile, takes=1, gives=self.network.factor)


def read_preview_decoder(path: Path) -> PreviewDecoder:
    """Read a decoder, on the CPU with the file's dtype; raises ModelRefused if the file is none, or damaged."""
    header = _checked_header(path)
    try:
        network, names = _network(header)
        _check(network, {own: header.tensors[name] for name, own in names.items()})
    except ValueError as error:
        raise ModelRefused(f"{plain(path, 300)} is no preview decoder: {plain(error)}") from None
    read = read_tensors([path], on_bytes=lambda _: None, cancelled=lambda: False, names=names)
    network.load_state_dict({names[name]: tensor for name, tensor in read}, assign=True)
    return PreviewDecoder(path=path, network=network.eval().requires_grad_(False))


def _checked_header(path: Path) -> Header:
    header = read_header(path)
    if header.bytes > MAX_FILE:
        raise ModelRefused(
            f"{plain(path, 300)} has {size(header.bytes)}; preview decoders have at most {size(MAX_FILE)}"
        )
    for name, spec in header.tensors.items():
        if spec.dtype not in _FLOATS:
            raise ModelRefused(
                f"{plain(path, 300)}: '{plain(name, 60)}' has the dtype {spec.dtype}; preview decoders have "
                f"{', '.join(_FLOATS)}"
            )
    return header


def _network(header: Header) -> tuple[SeparableDecoder | TinyDecoder, dict[str, str]]:
    """The network without memory, and its parameters' names by names in the file."""
    numbered = decoder_tensors(header.tensors)
    with torch.device("meta"):
        if not numbered:
            return SeparableDecoder(separable_of(header.tensors)), {name: name for name in header.tensors}
        layers = layers_of({own: header.tensors[name] for name, own in numbered.items()})
        return TinyDecoder(layers), {name: f"layers.{own}" for name, own in numbered.items()}


def _check(network: SeparableDecoder | TinyDecoder, found: Mapping[str, TensorSpec]) -> None:
    """Raise ValueError unless the file has exactly the network's parameters and it gives RGB images."""
    if network.channels != 3 or network.factor > _MOST_FACTOR:
        raise ValueError(
            f"it enlarges {network.factor} times, to {network.channels} channels; expected at most {_MOST_FACTOR} "
            "times, to 3"
        )
    wanted = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    for name in sorted(wanted.keys() | found.keys()):
        shape = found[name].shape if name in found else None
        if shape != wanted.get(name):
            has = "is absent" if shape is None else f"has the shape {list(shape)}"
            raise ValueError(f"{name} {has}; expected {list(wanted[name]) if name in wanted else 'none'}")
