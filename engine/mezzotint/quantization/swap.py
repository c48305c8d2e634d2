"""Replace a network's layers by quantized ones."""

from collections.abc import Iterator, Mapping
from typing import Any

from torch import nn

from mezzotint.quantization.formats import Format
from mezzotint.quantization.layers import QuantizedConv2d, QuantizedLayer, QuantizedLinear
from mezzotint.quantization.policy import LayerShape


def layers_of(network: nn.Module) -> tuple[LayerShape, ...]:
    """Quantizable layers: linear layers and two-dimensional convolutions, in the network's order."""
    return tuple(
        LayerShape(name=name, shape=tuple(module.weight.shape))
        for name, module in network.named_modules()
        if type(module) is nn.Linear or (type(module) is nn.Conv2d and module.padding_mode == "zeros")
    )


def swap_in(network: nn.Module, formats: Mapping[str, Format]) -> None:
    """Replace each named layer by an empty quantized one with the same bias."""
    for name, format_ in formats.items():
        old = network.get_submodule(name)
        parent, _, child = name.rpartition(".")
        setattr(network.get_submodule(parent), child, _quantized(old, format_))


def quantized_layers(network: nn.Module) -> Iterator[tuple[str, QuantizedLayer]]:
    """Quantized layers of a network, by name."""
    return ((name, module) for name, module in network.named_modules() if isinstance(module, QuantizedLayer))


def _quantized(old: Any, format_: Format) -> QuantizedLayer:  # noqa: ANN401  a linear layer or a convolution
    if isinstance(old, nn.Conv2d):
        return QuantizedConv2d(format_, old)
    bias = None if old.bias is None else old.bias.detach()
    return QuantizedLinear(format_, tuple(old.weight.shape), bias)
