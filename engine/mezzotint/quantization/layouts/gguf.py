"""Layers that stay packed in the blocks of GGUF files: their weights, by name and shape."""

import re
from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from mezzotint.checkpoints.gguf_header import read_gguf_header
from mezzotint.checkpoints.header import TensorSpec
from mezzotint.quantization.formats import Format
from mezzotint.quantization.gguf_blocks import KINDS, GgufBlocks
from mezzotint.quantization.layouts.stored import StoredLayer

_WEIGHT = ".weight"
_EMBEDDINGS = re.compile(r"(?:^|\.)(?:token_embd|embed_tokens|shared|wte)\.weight$")  # looked up, not multiplied


class _Packed:
    """Takes the bytes as they are."""

    def decode(self, layer: str, format_: Format, parts: Mapping[str, Tensor]) -> dict[str, Tensor]:  # noqa: ARG002
        """The format's only tensor."""
        return {"weight": parts["weight"]}


_PACKED = _Packed()


def find_packed_layers(path: Path) -> dict[str, StoredLayer]:
    """The matrices of a GGUF file that can stay packed, by the layer's name; embeddings are dequantized."""
    found = {}
    for name, tensor in read_gguf_header(path).tensors.items():
        if tensor.type not in KINDS or not name.endswith(_WEIGHT) or _EMBEDDINGS.search(name):
            continue
        format_, layer = GgufBlocks(kind=tensor.type), name.removesuffix(_WEIGHT)
        if format_.shape_problem(tensor.shape) is None:
            names = {"weight": name}
            found[layer] = StoredLayer(name=layer, format=format_, shape=tensor.shape, names=names, decoder=_PACKED)
    return found


def specs_on_disk(path: Path) -> dict[str, TensorSpec]:
    """The tensors of a GGUF file that can be read without dequantizing; packed ones as rows of bytes."""
    packed = {layer.names["weight"] for layer in find_packed_layers(path).values()}
    specs = {}
    for name, tensor in read_gguf_header(path).tensors.items():
        if name in packed:
            row = (tensor.end - tensor.start) // tensor.shape[0]
            specs[name] = TensorSpec(dtype="U8", shape=(tensor.shape[0], row), start=tensor.start, end=tensor.end)
        elif tensor.type not in KINDS:
            specs[name] = TensorSpec(dtype=tensor.type, shape=tensor.shape, start=tensor.start, end=tensor.end)
    return specs
