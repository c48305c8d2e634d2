"""What a network's weights take in memory, told without reading them."""

from mezzotint.families.family import ComponentSource
from mezzotint.families.loading import empty_network
from mezzotint.quantization.policy import Choice, formats_for
from mezzotint.quantization.swap import layers_of

_HALF = 2  # bytes of a number in 16 bits


def network_bytes(source: ComponentSource, choice: Choice | None) -> int:
    """Bytes of a network's parameters, quantized as chosen, and the rest of them in 16 bits."""
    network = empty_network(source)
    whole: int = sum(parameter.numel() for parameter in network.parameters()) * _HALF
    if choice is None:
        return whole
    layers = {layer.name: layer.shape for layer in layers_of(network)}
    formats = formats_for(source.class_name, layers_of(network), choice)
    saved = sum(network.get_submodule(name).weight.numel() * _HALF for name in formats)
    return (
        whole
        - saved
        + sum(tensor.bytes for name, format_ in formats.items() for tensor in format_.described(layers[name]).values())
    )
