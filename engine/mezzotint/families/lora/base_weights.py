"""The weights of a network without LoRAs, wherever they are kept."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

from mezzotint.memory.host import Source
from mezzotint.quantization.branched import MergedConv2d, MergedLinear
from mezzotint.quantization.layers import QuantizedLayer, buffer_name

Sources = Callable[[str], Mapping[str, Source]]  # of the weights of a component, by name


def in_network(_: str) -> Mapping[str, Source]:
    """No sources: the network has its weights itself."""
    return {}


def base_weight(
    network: nn.Module, name: str, sources: Mapping[str, Source], device: torch.device | None = None
) -> Tensor:
    """A layer's weight `(n, ...)`; a quantized one in float32, dequantized on the device if there is room for it."""
    layer = network.get_submodule(name)
    if isinstance(layer, QuantizedLayer):
        tensors = _tensors(network, name, layer, sources)
        try:
            return _dequantized(layer, tensors, device)
        except torch.OutOfMemoryError:
            return _dequantized(layer, tensors, torch.device("cpu"))
    if f"{name}.weight" in sources:
        return sources[f"{name}.weight"].tensor()
    plain = layer.plain[0] if isinstance(layer, MergedLinear | MergedConv2d) else layer
    return plain.get_parameter("weight")


def _tensors(network: nn.Module, name: str, layer: QuantizedLayer, sources: Mapping[str, Source]) -> dict[str, Tensor]:
    names = {part: buffer_name(name, part) for part in layer.format.part_specs(layer.shape)}
    return {
        part: sources[full].tensor() if full in sources else network.get_buffer(full) for part, full in names.items()
    }


def _dequantized(layer: QuantizedLayer, tensors: Mapping[str, Tensor], device: torch.device | None) -> Tensor:
    moved = {part: tensor if device is None else tensor.to(device) for part, tensor in tensors.items()}
    return layer.format.dequantize(moved, layer.shape, torch.float32)
