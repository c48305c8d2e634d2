"""Protocols and helpers of file layouts for quantized layers."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from mezzotint.checkpoints.header import TensorSpec
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused
from mezzotint.quantization.formats import Format

Specs = Mapping[str, TensorSpec]
DESCRIPTION = "description"  # key of the byte tensor that describes a layer


class Parsed(NamedTuple):
    """A parsed layer: its format, the shape of its weight, and the file's name of each tensor."""

    format: Format
    shape: tuple[int, ...]
    names: dict[str, str]


class Decoder(Protocol):
    """Reads quantized layers from a file."""

    def decode(self, layer: str, format_: Format, parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the format's tensors; `parts` are the file's, under the names from `parse`."""


class Layout(Decoder, Protocol):
    """A file layout in which each quantized layer has a tensor that describes it."""

    @property
    def suffix(self) -> str:
        """Suffix of the names of tensors that describe a layer."""

    def parse(self, layer: str, description: Mapping[str, object], tensors: Specs) -> Parsed:
        """Parse a layer's description; raises ModelRefused if it is invalid."""

    def encode(
        self, layer: str, format_: Format, shape: tuple[int, ...], tensors: Mapping[str, Tensor], dtype: torch.dtype
    ) -> dict[str, Tensor]:
        """Return the tensors to store, including the description."""


def spec_of(layer: str, name: str, tensors: Specs) -> TensorSpec:
    """Return the named tensor's spec; raises ModelRefused if the file lacks it."""
    if name not in tensors:
        raise ModelRefused(f"the quantized layer {plain(layer, 200)} lacks {plain(name, 200)}; the file is damaged")
    return tensors[name]


def invalid_description(layer: str, key: str, value: object, wanted: str) -> ModelRefused:
    """Error for an invalid value in a layer's description."""
    return ModelRefused(
        f"the quantized layer {plain(layer, 200)}: {key} {plain(value, 60)} is not supported, only {wanted}"
    )


def flag(layer: str, description: Mapping[str, object], key: str) -> bool:
    """Return a boolean of the description, False if absent; raises ModelRefused if it is not a boolean."""
    value = description.get(key, False)
    if not isinstance(value, bool):
        raise invalid_description(layer, key, value, "true or false")
    return value


def to_byte_tensor(data: str) -> Tensor:
    """Encode a description as a byte tensor."""
    return torch.frombuffer(bytearray(data.encode()), dtype=torch.uint8)
