"""Bytes of a network's weights by block and scheme, from shapes alone.

Networks with a quantization policy are counted as it would quantize them. For others, which cannot be quantized yet,
each linear layer in a block is counted in the scheme's own format, or in 8 bits if that does not fit, and all else in
16 bits, so that planning can say what they would need.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from torch import Tensor, nn

from mezzotint.errors import ModelRefused
from mezzotint.memory.footprints.footprint import ALIKE, BlockFootprint, Scheme
from mezzotint.memory.fp32_parameters import keep_in_fp32
from mezzotint.quantization.codebook4 import Codebook4
from mezzotint.quantization.formats import Format, Int4, Int8, LowRank4, Nf4
from mezzotint.quantization.layers import layers_of
from mezzotint.quantization.policy import RANK, Choice, LayerShape, can_quantize, formats_for
from mezzotint.quantization.svdquant.format import SvdQuant

SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
HALF = 2  # bytes of a 16-bit number
_WEIGHT = ".weight"
_OWN: Mapping[str, Format] = {
    "int8": Int8(dynamic=True),
    "int8-weight": Int8(dynamic=False),
    "int4": Nf4(),
    "int4-lowrank": LowRank4(rank=RANK),
    "int4-rot": Int4(),
    "int4-codebook": Codebook4(),
    "svdquant": SvdQuant(rank=RANK),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightBytes:
    """Bytes of a network's weights."""

    blocks: tuple[BlockFootprint, ...]
    outside: Mapping[Scheme, int]


def weight_bytes(network: nn.Module, class_name: str, blocks: Sequence[str]) -> WeightBytes:
    """Count a network's weights; `blocks` names modules, none inside another. A shared weight counts once."""
    sizes = dict(_sizes(network))
    layers = tuple(layer for layer in layers_of(network) if layer.name + _WEIGHT in sizes)
    inside: dict[str, dict[Scheme, int]] = {name: {} for name in blocks}
    outside: dict[Scheme, int] = {}
    for scheme in SCHEMES:
        changed = _quantized(layers, class_name, ALIKE.get(scheme, scheme), blocks)
        if changed is None:
            continue
        for name in blocks:
            inside[name][scheme] = 0
        outside[scheme] = 0
        for name, size in (sizes | changed).items():
            block = block_of(name, inside)
            (outside if block is None else inside[block])[scheme] += size
    footprints = tuple(BlockFootprint(name=name, bytes=sizes) for name, sizes in inside.items())
    return WeightBytes(blocks=footprints, outside=outside)


def block_of(name: str, blocks: Mapping[str, object]) -> str | None:
    """Return the block that contains the tensor with this name, or None."""
    while name:
        name = name.rpartition(".")[0]
        if name in blocks:
            return name
    return None


def _sizes(network: nn.Module) -> Iterator[tuple[str, int]]:
    class_name = type(network).__name__
    for name, tensor in [*network.named_parameters(), *network.named_buffers(), *_tables(network)]:
        half = tensor.is_floating_point() and not keep_in_fp32(class_name, name)
        yield name, tensor.numel() * (HALF if half else tensor.element_size())


def _tables(network: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """Tensors in plain attributes, such as complex rotary embeddings, which as buffers would be cast."""
    for name, module in network.named_modules():
        yield from ((f"{name}.{key}", each) for key, each in vars(module).items() if isinstance(each, Tensor))


def _quantized(
    layers: tuple[LayerShape, ...], class_name: str, scheme: Scheme, blocks: Sequence[str]
) -> dict[str, int] | None:
    """Bytes of the weights that a scheme quantizes; None if it fits no layer."""
    if scheme == "none":
        return {}
    try:
        formats = _formats(layers, class_name, scheme, blocks)
    except ModelRefused:
        return None
    shapes = {layer.name: layer.shape for layer in layers}
    specs = {name: each.part_specs(shapes[name]).values() for name, each in formats.items()}
    return {name + _WEIGHT: sum(tensor.bytes for tensor in tensors) for name, tensors in specs.items()}


def _formats(
    layers: tuple[LayerShape, ...], class_name: str, scheme: str, blocks: Sequence[str]
) -> Mapping[str, Format]:
    if can_quantize(class_name):
        return formats_for(class_name, layers, Choice(scheme=scheme))  # type: ignore[arg-type]
    names = dict.fromkeys(blocks)
    inside = [each for each in layers if not each.is_convolution and block_of(each.name, names) is not None]
    fitting = {layer.name: _first_that_fits(layer, (_OWN[scheme], _OWN["int8"])) for layer in inside}
    return {name: each for name, each in fitting.items() if each is not None}


def _first_that_fits(layer: LayerShape, formats: Sequence[Format]) -> Format | None:
    return next((each for each in formats if each.shape_problem(layer.shape) is None), None)
