"""What a layout of quantized layers in files has to tell."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from mezzotint.checkpoints.header import TensorSpec
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused
from mezzotint.quantization.formats import Format

Specs = Mapping[str, TensorSpec]
MARK = "mark"  # the tensor of bytes that describes a layer


class Parsed(NamedTuple):
    """A layer as its description tells it: its format, its weight's shape, and where each tensor lies in the file."""

    format: Format
    shape: tuple[int, ...]
    names: dict[str, str]


class Decoder(Protocol):
    """One way of reading quantized layers from a file."""

    def decode(self, layer: str, format_: Format, parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The format's tensors, of the file's under the names that `parse` gave."""


class Layout(Decoder, Protocol):
    """One way of keeping quantized layers in a file, each with a tensor that describes it."""

    @property
    def mark(self) -> str:
        """How the names end of tensors that describe a layer."""

    def parse(self, layer: str, description: Mapping[str, object], tensors: Specs) -> Parsed:
        """Understand a description; ModelRefused when it makes no sense."""

    def encode(
        self, layer: str, format_: Format, shape: tuple[int, ...], tensors: Mapping[str, Tensor], dtype: torch.dtype
    ) -> dict[str, Tensor]:
        """The file's tensors, the description among them."""


def spec_of(layer: str, name: str, tensors: Specs) -> TensorSpec:
    """The tensor of that name; ModelRefused when the file lacks it."""
    if name not in tensors:
        raise ModelRefused(f"the quantized layer {plain(layer, 200)} lacks {plain(name, 200)}; the file is damaged")
    return tensors[name]


def refused(layer: str, key: str, value: object, wanted: str) -> ModelRefused:
    """A description that cannot be."""
    return ModelRefused(
        f"the quantized layer {plain(layer, 200)} says {key} {plain(value, 60)}; what can be read is {wanted}"
    )


def flag(layer: str, description: Mapping[str, object], key: str) -> bool:
    """Yes or no, no where nothing is said; ModelRefused when it is anything else."""
    value = description.get(key, False)
    if not isinstance(value, bool):
        raise refused(layer, key, value, "true or false")
    return value


def described_as(data: str) -> Tensor:
    """A description as a tensor of bytes."""
    return torch.frombuffer(bytearray(data.encode()), dtype=torch.uint8)
