"""Quantizes a loaded network further in place: the last resort if a device is too small."""

import torch

from mezzotint.errors import ModelRefused
from mezzotint.families.family import LoadedModel, Network
from mezzotint.protocol import Scheme
from mezzotint.quantization.branched import set_branches
from mezzotint.quantization.layers import QuantizedLinear, layers_of, quantized_layers, swap_in
from mezzotint.quantization.policy import Choice, LayerShape, can_quantize, formats_for

_LADDER: tuple[Scheme, ...] = ("int8", "int4-lowrank")


def lower_precision(model: LoadedModel, component: str) -> str | None:
    """Quantize a network to the next scheme down and return it; None if there is none, or it is streamed from files."""
    network = model.networks[component]
    scheme = _next(network)
    class_name = model.sources.components[component].class_name
    if scheme is None or not can_quantize(class_name) or any(tensor.is_meta for tensor in network.parameters()):
        return None
    if model.loras is not None:
        set_branches(network, {})  # their weights are about to be replaced
    layers = {layer.name: layer for layer in layers_of(network)}
    layers |= {
        name: LayerShape(name=name, shape=tuple(layer.shape))
        for name, layer in quantized_layers(network)
        if isinstance(layer, QuantizedLinear)
    }
    try:
        formats = formats_for(class_name, tuple(layers.values()), Choice(scheme=scheme))
    except ModelRefused:
        formats = {}
    done = 0
    for name, format_ in formats.items():
        layer = network.get_submodule(name)
        weight = layer.weight.dequantized(torch.float32) if isinstance(layer, QuantizedLinear) else layer.weight
        if getattr(layer, "format", None) == format_:
            continue
        tensors = format_.quantize(weight)
        swap_in(network, {name: format_})
        network.get_submodule(name).set_tensors(tensors)
        done += 1
    if model.loras is not None:
        model.loras.put_back()
    model.lowered = model.lowered or bool(done)
    return scheme if done else None


def _next(network: Network) -> Scheme | None:
    """The scheme below the lowest that the network has."""
    schemes = {layer.format.scheme for _, layer in quantized_layers(network) if isinstance(layer, QuantizedLinear)}
    if "int4" in schemes or _LADDER[-1] in schemes:
        return None
    return _LADDER[1] if schemes & {"int8", "int8-weight"} else _LADDER[0]
