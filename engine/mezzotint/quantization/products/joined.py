"""Several layers with the same input by one product: queries, keys and values, with norms and rotations of heads."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from mezzotint.dispatch.library import Arguments
from mezzotint.quantization.linear import GatedWeight, Heads, JoinedWeight, QuantizedWeight

_COLUMNS = 64  # of which the outputs of each layer are a multiple: of narrow tiles
# Otherwise narrow tiles cost more than the launches that they save, by the kernels' own model of costs.
_WIDE_COLUMNS, _MOST_NARROW = 128, 384
HEAD_SIZES = (64, 128)
_NORM, _ROTATE = 1, 2  # MztLinearPart.flags of kernels/csrc/api.h


Layer = tuple[QuantizedWeight, Tensor | None]  # and its bias


def may_join(columns: int, heads: Heads | None = None) -> bool:
    """Whether a layer with so many outputs is worth joining with others."""
    if columns % (_COLUMNS if heads is None else max(_COLUMNS, heads.size)):
        return False
    return columns % _WIDE_COLUMNS == 0 or columns <= _MOST_NARROW


def joined_weight(layers: Sequence[Layer], heads: Heads | None = None) -> JoinedWeight:
    """Weights of layers with the same input and format."""
    first = layers[0][0]
    return JoinedWeight(
        format=first.format,
        tensors={},
        shape=torch.Size((sum(weight.shape[0] for weight, _ in layers), first.shape[1])),
        parts=tuple(weight for weight, _ in layers),
        biases=tuple(bias for _, bias in layers),
        heads=heads,
    )


def gated_weight(value: Layer, gate: Layer) -> GatedWeight:
    """The weight of a gated linear unit."""
    return GatedWeight(
        format=value[0].format,
        tensors={},
        shape=value[0].shape,
        parts=(value[0], gate[0]),
        biases=(value[1], gate[1]),
    )


def rows_of(layer: Layer, *counts: int) -> list[Layer]:
    """The weight of 8 bits by its rows, so many to each part; nothing is copied."""
    weight, bias = layer
    tensors = {name: torch.split(tensor, list(counts)) for name, tensor in weight.tensors.items()}
    biases = [None] * len(counts) if bias is None else torch.split(bias, list(counts))
    return [
        (
            replace(
                weight,
                tensors={name: parts[number] for name, parts in tensors.items()},
                shape=torch.Size((count, weight.shape[1])),
            ),
            biases[number],
        )
        for number, count in enumerate(counts)
    ]


def point_to_parts(arguments: Arguments, weight: JoinedWeight) -> None:
    """Fill in the weights of 8 bits, biases and heads."""
    heads = weight.heads
    arguments.weight_bits, arguments.part_count = 8, len(weight.parts)
    arguments.weight_stride = weight.shape[1]
    for number, (part, bias) in enumerate(zip(weight.parts, weight.biases, strict=True)):
        into = arguments.parts[number]
        into.weight, into.weight_scales = part.tensors["weight"].data_ptr(), part.tensors["weight_scale"].data_ptr()
        into.bias, into.out_columns = 0 if bias is None else bias.data_ptr(), part.shape[0]
        if heads is not None and heads.parts[number]:
            norm = heads.norms[number]
            into.flags = (_NORM if heads.epsilon is not None else 0) | (_ROTATE if heads.rotations is not None else 0)
            into.norm_weight = 0 if norm is None else norm.data_ptr()
    if heads is not None:
        arguments.head_dim, arguments.epsilon = heads.size, heads.epsilon or 0.0
        if heads.rotations is not None:
            arguments.rotations, arguments.rotation_rows = heads.rotations.data_ptr(), len(heads.rotations)
