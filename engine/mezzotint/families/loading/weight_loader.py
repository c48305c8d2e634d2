"""Assigns a network's weights as they arrive, quantizing on load where that was chosen."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import torch

from mezzotint.errors import ModelRefused
from mezzotint.families.control.control_lora import Patches
from mezzotint.families.family import ComponentSource, Network
from mezzotint.families.loading.original_names import Placement, Rows
from mezzotint.families.loading.quantized_entry import PlannedLayer, QuantizedEntry
from mezzotint.families.loading.stored_layers import (
    WholeLayer,
    can_dequantize,
    dequantized,
    in_form,
    is_always_dequantized,
)
from mezzotint.memory.fp32_parameters import keep_in_fp32
from mezzotint.memory.host import Source
from mezzotint.quantization.formats import Format, Tensors
from mezzotint.quantization.gguf_blocks import GgufBlocks
from mezzotint.quantization.layers import buffer_name, layers_of, quantized_layers, swap_in
from mezzotint.quantization.policy import Choice, formats_for, is_kept

_WEIGHT = ".weight"


class WeightLoader:
    """Fills one network, which is empty at first."""

    def __init__(
        self,
        source: ComponentSource,
        network: Network,
        dtype: torch.dtype,
        device: torch.device,
        choice: Choice | None,
        home: torch.device | None = None,
    ) -> None:
        """`device` does the quantizing; weights are kept on `home`, or on `device` if None."""
        self.source, self.dtype = source, dtype
        self.network, self._device, self._home = network, device, home or device
        self.on_disk: dict[str, Source] = {}  # by parameter: what is streamed from files
        self._formats: dict[str, Format] = {}
        self._filled: dict[str, torch.Tensor] = {}
        self.shapes = {name: tensor.shape for name, tensor in network.state_dict().items()}
        self.patches = Patches(source.patch, self.shapes)
        layers = {layer.name: layer for layer in layers_of(network)}
        self._layers = {name: layer.shape for name, layer in layers.items()}
        if choice is not None:
            self._formats = dict(formats_for(source.class_name, tuple(layers.values()), choice))
        self.entry: QuantizedEntry | None = None  # its entry in the cache
        if choice is not None:
            planned = {name: PlannedLayer(shape=layers[name], format=each) for name, each in self._formats.items()}
            self.entry = QuantizedEntry(source=source, choice=choice, layers=planned, device=device)

    def put(self, placed: Placement, tensor: torch.Tensor, file: Path) -> None:
        """Add a tensor of a file; raises ModelRefused if its shape or values are invalid."""
        if self.is_quantized(placed.name):
            self._keep(placed.name.removesuffix(_WEIGHT), self.quantize(placed, tensor, file))
        else:
            taken = self.patches.of(placed.name, placed.take(tensor))
            part = _checked(taken, self.shapes[placed.name], placed, file)
            self._filled[placed.name] = moved(part, self.dtype_of(placed.name), self._home)

    def dtype_of(self, name: str) -> torch.dtype:
        """The format that a parameter is kept in, if it is of numbers with a fraction."""
        return torch.float32 if keep_in_fp32(self.source.class_name, name) else self.dtype

    def is_quantized(self, name: str) -> bool:
        """Whether a parameter is quantized on load."""
        return name.endswith(_WEIGHT) and name.removesuffix(_WEIGHT) in self._formats

    def changes(self, name: str) -> bool:
        """Whether a parameter becomes another on load: quantized, or patched."""
        return self.is_quantized(name) or name in self.patches.names

    def quantize(self, placed: Placement, tensor: torch.Tensor, file: Path) -> Tensors:
        """Quantize a weight; raises ModelRefused if its shape or values are invalid."""
        part = _checked(placed.take(tensor), self.shapes[placed.name], placed, file)
        try:
            return self._formats[placed.name.removesuffix(_WEIGHT)].quantize(part.to(self._device))
        except ModelRefused as error:
            raise ModelRefused(f"{file}: {placed.name}: {error}") from None

    def checked_shape(self, placed: Placement, shape: tuple[int, ...], file: Path) -> tuple[int, ...]:
        """Parameter shape for a file's tensor of `shape`; raises ModelRefused if they do not match."""
        wanted = self.shapes[placed.name]
        _checked(placed.take(torch.empty(shape, device="meta")), wanted, placed, file)
        return tuple(wanted)

    def put_on_disk(self, name: str, source: Source) -> None:
        """Read a parameter or buffer from its file whenever it is needed."""
        self.on_disk[name] = source
        self._filled[name] = torch.empty(source.layout.shape, dtype=source.layout.dtype, device="meta")

    def is_dequantized(self, weight: str, whole: WholeLayer) -> bool:
        """Whether a layer that is quantized in its file cannot stay so: an embedding, or what networks look into."""
        layer = weight.removesuffix(_WEIGHT)
        shape = self._layers.get(layer)
        loose = shape is None or is_kept(self.source.class_name, layer) or is_always_dequantized(whole.format)
        if isinstance(whole.format, GgufBlocks):
            loose |= whole.shape != shape or whole.format.shape_problem(whole.shape) is not None
        return loose and can_dequantize(whole.format)

    def put_quantized_on_disk(self, weight: str, kept: WholeLayer, sources: Mapping[str, Source]) -> bool:
        """Same for tensors of a quantized layer that are not in `kept`; False if the network has no such layer."""
        layer = weight.removesuffix(_WEIGHT)
        if self._layers.get(layer) != kept.shape or kept.format.shape_problem(kept.shape) is not None:
            return False
        self._formats[layer] = kept.format
        self._keep(layer, kept.tensors)
        for name, source in sources.items():
            self.put_on_disk(buffer_name(layer, name), source)
        return True

    def put_bias(self, weight: str, whole: WholeLayer, file: Path) -> None:
        """Add the bias that a layer brings, if it does; raises ModelRefused if its shape is invalid."""
        name = weight.removesuffix(_WEIGHT) + ".bias"
        if whole.bias is not None and name in self.shapes:
            self.put(Placement(component=self.source.name, name=name, form="whole"), whole.bias, file)

    def put_quantized(self, placed: Placement, whole: WholeLayer, file: Path) -> None:
        """Add a layer that is quantized in its file; raises ModelRefused if the network has no such layer."""
        if placed.form == "swapped" or isinstance(placed.form, Rows):
            whole, placed = in_form(whole, placed.form), replace(placed, form="whole")
        self.put_bias(placed.name, whole, file)
        layer = placed.name.removesuffix(_WEIGHT)
        shape = self._layers.get(layer)
        other_form = isinstance(whole.format, GgufBlocks) and placed.form != "whole"
        if other_form or self.is_dequantized(placed.name, whole):
            self.put(placed, dequantized(whole, self.dtype), file)
            return
        if shape is None or placed.form != "whole" or whole.format.shape_problem(shape) is not None:
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
        names = self._formats[layer].part_specs(self._layers[layer])
        return {name: self._filled[buffer_name(layer, name)] for name in names}

    def finish(self) -> Network:
        """Return the network with all weights; raises ModelRefused if some are missing."""
        network = self.network
        missing = [name for name in self._formats if buffer_name(name, "weight") not in self._filled]
        swap_in(network, {name: self._formats[name] for name in self._formats if name not in missing})
        network.load_state_dict(self._filled, strict=False, assign=True)
        if hasattr(network, "tie_weights"):
            network.tie_weights()
        self._share_sources()
        states = (*network.named_parameters(), *network.named_buffers())
        empty = [name for name, tensor in states if tensor.is_meta and name not in self.on_disk]
        if empty:
            raise ModelRefused(
                f"{self.source.files[0]}: {len(empty)} tensors of {self.source.name} are missing, the first is "
                f"{empty[0]}; the download is incomplete or belongs to another model"
            )
        network.requires_grad_(False).eval()
        exact = {id(layer) for _, layer in quantized_layers(network)}
        for module in network.modules():
            for name, buffer in module.named_buffers(recurse=False):
                if id(module) not in exact and not buffer.is_meta:
                    setattr(module, name, self._cast(buffer))  # absent from files
        return network

    def _cast(self, buffer: torch.Tensor) -> torch.Tensor:
        """Cast to the network's dtype, as diffusers does; transformers never rounds position frequencies."""
        keeps = self.source.library == "transformers"
        return buffer.to(self._home) if keeps else moved(buffer, self.dtype, self._home)

    def _share_sources(self) -> None:
        """Give tied parameters, which have several names, the same source."""
        names: dict[int, list[str]] = {}
        for name, parameter in self.network.named_parameters(remove_duplicate=False):
            names.setdefault(id(parameter), []).append(name)
        for same in names.values():
            source = next((self.on_disk[name] for name in same if name in self.on_disk), None)
            if source is not None:
                self.on_disk |= dict.fromkeys(same, source)

    def _keep(self, layer: str, tensors: Tensors) -> None:
        for name, tensor in tensors.items():
            self._filled[buffer_name(layer, name)] = tensor.to(self._home)


def moved(tensor: torch.Tensor, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Move a tensor to a device, casting floating-point values to `dtype`."""
    return tensor.to(device, dtype) if tensor.is_floating_point() else tensor.to(device)


def _checked(part: torch.Tensor, shape: torch.Size, placed: Placement, file: Path) -> torch.Tensor:
    if part.shape == shape:
        return part
    if [side for side in part.shape if side != 1] == [side for side in shape if side != 1]:
        return part.reshape(shape)  # a linear layer stored as a 1x1 convolution, or a row without its first axis
    raise ModelRefused(
        f"{file}: tensor {placed.name} of {placed.component} has shape {tuple(part.shape)}, "
        f"its configuration says {tuple(shape)}; the file belongs to another model"
    )
