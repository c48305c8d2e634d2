"""The memory of a network's weights, computed without reading them."""

import math

from mezzotint.families.family import ComponentSource
from mezzotint.families.loading.networks import empty_network
from mezzotint.quantization.layers import layers_of
from mezzotint.quantization.policy import Choice, formats_for

_HALF = 2  # bytes of a 16-bit number


def network_bytes(source: ComponentSource, choice: Choice | None) -> int:
    """Bytes of a network's parameters, quantized as chosen, with the rest in 16 bits."""
    network = empty_network(source)
    whole: int = sum(parameter.numel() for parameter in network.parameters()) * _HALF
    if choice is None:
        return whole
    layers = {layer.name: layer.shape for layer in layers_of(network)}
    formats = formats_for(source.class_name, layers_of(network), choice)
    saved = sum(math.prod(layers[name]) for name in formats) * _HALF
    kept = [each for name, chosen in formats.items() for each in chosen.part_specs(layers[name]).values()]
    return whole - saved + sum(each.bytes for each in kept)
