"""A network's weights as they arrive: each put where it belongs, and quantized there and then where that was chosen."""

from pathlib import Path

import torch

from mezzotint.errors import ModelRefused
from mezzotint.families.family import ComponentSource, Network
from mezzotint.families.original_names import Placement
from mezzotint.families.quantized_entry import PlannedLayer, QuantizedEntry
from mezzotint.families.stored_layers import WholeLayer
from mezzotint.quantization.formats import Format, Tensors
from mezzotint.quantization.layers import buffer_name
from mezzotint.quantization.policy import Choice, formats_for
from mezzotint.quantization.swap import layers_of, quantized_layers, swap_in

_WEIGHT = ".weight"


class Filling:
    """One network, empty at first."""

    def __init__(
        self, source: ComponentSource, network: Network, dtype: torch.dtype, device: torch.device, choice: Choice | None
    ) -> None:
        self.source = source
        self._network, self._dtype, self._device = network, dtype, device
        self._formats: dict[str, Format] = {}
        self._filled: dict[str, torch.Tensor] = {}
        self.shapes = {name: tensor.shape for name, tensor in network.state_dict().items()}
        layers = {layer.name: layer for layer in layers_of(network)}
        self._layers = {name: layer.shape for name, layer in layers.items()}
        if choice is not None:
            self._formats = dict(formats_for(source.class_name, tuple(layers.values()), choice))
        self.entry: QuantizedEntry | None = None  # what the cache may have of it
        if choice is not None:
            planned = {name: PlannedLayer(shape=layers[name], format=each) for name, each in self._formats.items()}
            self.entry = QuantizedEntry(source=source, choice=choice, layers=planned, device=device)

    def put(self, placed: Placement, tensor: torch.Tensor, file: Path) -> None:
        """Take in a tensor of a file; ModelRefused when its shape or its numbers cannot be."""
        shape = self.shapes[placed.name]
        part = _checked(placed.take(tensor), shape, placed, file)
        layer = placed.name.removesuffix(_WEIGHT)
        if layer in self._formats and placed.name.endswith(_WEIGHT):
            try:
                tensors = self._formats[layer].quantize(part.to(self._device))
            except ModelRefused as error:
                raise ModelRefused(f"{file}: {placed.name}: {error}") from None
            self._keep(layer, tensors)
        else:
            self._filled[placed.name] = moved(part, self._dtype, self._device)

    def put_quantized(self, placed: Placement, whole: WholeLayer, file: Path) -> None:
        """Take in a layer that is quantized in its file; ModelRefused when the network has no such layer."""
        layer = placed.name.removesuffix(_WEIGHT)
        shape = self._layers.get(layer)
        if shape is None or placed.form != "whole" or whole.format.fits(shape) is not None:
            raise ModelRefused(f"{file}: {placed.name} is quantized, which cannot be for that layer")
        if whole.shape != shape:
            raise ModelRefused(
                f"{file}: {placed.name} of {placed.component} has shape {whole.shape}, its configuration says "
                f"{shape}; the file belongs to another model"
            )
        self._formats[layer] = whole.format
        self._keep(layer, whole.tensors)

    def tensors_of(self, layer: str) -> Tensors:
        """Those of a quantized layer that has come."""
        names = self._formats[layer].described(self._layers[layer])
        return {name: self._filled[buffer_name(layer, name)] for name in names}

    def finish(self) -> Network:
        """The network with all that came; ModelRefused when something did not."""
        network = self._network
        missing = [name for name in self._formats if buffer_name(name, "weight") not in self._filled]
        swap_in(network, {name: self._formats[name] for name in self._formats if name not in missing})
        network.load_state_dict(self._filled, strict=False, assign=True)
        if hasattr(network, "tie_weights"):
            network.tie_weights()
        empty = [name for name, parameter in network.named_parameters() if parameter.is_meta]
        empty += [name for name, buffer in network.named_buffers() if buffer.is_meta]
        if empty:
            raise ModelRefused(
                f"{self.source.files[0]}: {len(empty)} tensors of {self.source.name} are missing, the first is "
                f"{empty[0]}; the download is incomplete or belongs to another model"
            )
        network.requires_grad_(False).eval()
        exact = {id(layer) for _, layer in quantized_layers(network)}
        for module in network.modules():
            for name, buffer in module.named_buffers(recurse=False):
                if id(module) not in exact:
                    setattr(module, name, moved(buffer, self._dtype, self._device))  # what no file holds
        return network

    def _keep(self, layer: str, tensors: Tensors) -> None:
        for name, tensor in tensors.items():
            self._filled[buffer_name(layer, name)] = tensor.to(self._device)


def moved(tensor: torch.Tensor, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """On a device; numbers with a fraction in a format."""
    return tensor.to(device, dtype) if tensor.is_floating_point() else tensor.to(device)


def _checked(part: torch.Tensor, shape: torch.Size, placed: Placement, file: Path) -> torch.Tensor:
    if part.shape == shape:
        return part
    if part.shape[: len(shape)] == shape and part.numel() == shape.numel():
        return part.reshape(shape)  # a linear layer written as a 1x1 convolution
    raise ModelRefused(
        f"{file}: tensor {placed.name} of {placed.component} has shape {tuple(part.shape)}, "
        f"its configuration says {tuple(shape)}; the file belongs to another model"
    )
