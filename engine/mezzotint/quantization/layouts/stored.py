"""Quantized layers in safetensors files: in ComfyUI's layout, in bitsandbytes', in Nunchaku's, and in our own.

A layer `m` has its weight in `m.weight`, and next to it a byte tensor with a description in JSON; not in Nunchaku's.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from mezzotint.checkpoints.header import TensorSpec
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.strict_json import parse_json_object
from mezzotint.errors import ModelRefused
from mezzotint.quantization.formats import Format, LowRank4, Nf4
from mezzotint.quantization.fp8 import Fp8
from mezzotint.quantization.layouts.bitsandbytes import BitsAndBytesLayout, RowsOf8Bits, diffusers_config
from mezzotint.quantization.layouts.comfyui import ComfyUiLayout, from_metadata, to_metadata
from mezzotint.quantization.layouts.layout import DESCRIPTION, Decoder, Layout, Parsed
from mezzotint.quantization.layouts.nunchaku import nunchaku_layers
from mezzotint.quantization.layouts.own import OwnLayout
from mezzotint.quantization.layouts.scaled import scaled_layers
from mezzotint.quantization.svdquant.format import SvdQuant

Read = Callable[[str], Tensor]
LARGEST_DESCRIPTION = 4096  # bytes
_COMFYUI, _OWN, _BITSANDBYTES, _ROWS = ComfyUiLayout(), OwnLayout(), BitsAndBytesLayout(), RowsOf8Bits()
_LAYOUTS: tuple[Layout, ...] = (_COMFYUI, _OWN, _BITSANDBYTES, BitsAndBytesLayout(kind="fp4"))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLayer:
    """A quantized layer of a file."""

    name: str
    format: Format
    shape: tuple[int, ...]  # shape of the weight
    names: Mapping[str, str]  # from the layout's tensor names to those in the file
    decoder: Decoder
    turned: bool = False  # whether no tensor is in the file as it is in memory


def find_stored_layers(
    tensors: Mapping[str, TensorSpec], metadata: Mapping[str, str], read: Read
) -> dict[str, StoredLayer]:
    """Find the quantized layers among these tensors, by name; raises ModelRefused, naming the layer, if one is bad."""
    return {layer.name: layer for layer in _found(tensors, metadata, read)}


def _found(tensors: Mapping[str, TensorSpec], metadata: Mapping[str, str], read: Read) -> Iterator[StoredLayer]:
    described = list(_described(tensors, metadata, read))
    yield from described
    for layer, parsed, decoder in nunchaku_layers(tensors):
        yield replace(_checked(layer, parsed, tensors, decoder), turned=True)
    for name in tensors:
        if ".quant_state." in name and not name.endswith(tuple(layout.suffix for layout in _LAYOUTS)):
            kind = plain(name.rpartition(".")[2], 40)
            raise ModelRefused(f"{plain(name, 200)}: layers of the type {kind} are not supported, only nf4 and fp4")
    for layer, parsed, decoder in scaled_layers(tensors, {each.name for each in described}):
        yield _checked(layer, parsed, tensors, decoder)


def _described(tensors: Mapping[str, TensorSpec], metadata: Mapping[str, str], read: Read) -> Iterator[StoredLayer]:
    """Layers with a description: in a tensor beside the weight, or in the file's metadata."""
    from_file_metadata = from_metadata(metadata)
    for name in tensors:
        for layout in _LAYOUTS:
            if name.endswith(layout.suffix):
                layer = name.removesuffix(layout.suffix)
                from_file_metadata.pop(layer, None)
                parsed = layout.parse(layer, _description(name, tensors, read), tensors)
                yield _checked(layer, parsed, tensors, layout, name)
        if name.endswith(_ROWS.suffix):
            layer = name.removesuffix(_ROWS.suffix)
            yield _checked(layer, _ROWS.parse(layer, tensors), tensors, _ROWS)
    for layer, description in from_file_metadata.items():
        if f"{layer}.weight" in tensors:
            yield _checked(layer, _COMFYUI.parse(layer, description, tensors), tensors, _COMFYUI)


def _description(name: str, tensors: Mapping[str, TensorSpec], read: Read) -> dict[str, object]:
    size = tensors[name].end - tensors[name].start
    if size > LARGEST_DESCRIPTION or tensors[name].dtype != "U8":
        raise ModelRefused(f"{plain(name, 200)} is not a layer description: {size} bytes of {tensors[name].dtype}")
    return parse_json_object(read(name).numpy().tobytes(), name)


def _checked(
    layer: str, parsed: Parsed, tensors: Mapping[str, TensorSpec], decoder: Decoder, description: str | None = None
) -> StoredLayer:
    missing = [name for name in parsed.names.values() if name not in tensors]
    if missing:
        raise ModelRefused(
            f"the quantized layer {plain(layer, 200)} lacks {plain(missing[0], 200)}; the file is damaged"
        )
    why = parsed.format.shape_problem(parsed.shape)
    if why is not None:
        raise ModelRefused(f"the quantized layer {plain(layer, 200)} is invalid: {why}")
    names = parsed.names if description is None else {**parsed.names, DESCRIPTION: description}
    return StoredLayer(name=layer, format=parsed.format, shape=parsed.shape, names=names, decoder=decoder)


def decode_layer(layer: StoredLayer, parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the format's tensors from the file's, and the bias of some; raises ModelRefused if they are inconsistent.

    The weight may be a tensor without data, on the meta device, whose numbers are not checked then.
    """
    named = {ours: parts[name] for ours, name in layer.names.items()}
    tensors = layer.decoder.decode(layer.name, layer.format, named)
    for name, wanted in layer.format.part_specs(layer.shape).items():
        found = tensors[name]
        if tuple(found.shape) != wanted.shape or found.dtype != wanted.dtype:
            raise ModelRefused(
                f"the quantized layer {plain(layer.name, 200)}: its {name} is {found.dtype} {tuple(found.shape)}, "
                f"expected {wanted.dtype} {wanted.shape}; the file is damaged"
            )
        if found.is_floating_point() and not found.is_meta and not _finite(found):
            raise ModelRefused(f"the quantized layer {plain(layer.name, 200)}: its {name} contains NaN or infinity")
    return tensors


def _finite(tensor: Tensor) -> bool:
    """Whether all numbers are finite; torch cannot test 8-bit floats: in e4m3 one code (of either sign) is NaN."""
    if tensor.dtype == torch.float8_e4m3fn:
        return not bool((tensor.view(torch.uint8) & 0x7F == 0x7F).any())
    if tensor.dtype == torch.float8_e5m2:
        return not bool((tensor.view(torch.uint8) & 0x7C == 0x7C).any())
    return bool(torch.isfinite(tensor).all())


def encode_layer(
    name: str, format_: Format, shape: Sequence[int], tensors: Mapping[str, Tensor], dtype: torch.dtype
) -> dict[str, Tensor]:
    """Return the tensors to store for a layer; `dtype` is that of the weight before quantization."""
    return _layout_of(format_).encode(name, format_, tuple(shape), tensors, dtype)


def file_metadata(layers: Mapping[str, Format]) -> dict[str, str]:
    """Return the file metadata that describes the layers."""
    return to_metadata({name: each for name, each in layers.items() if _layout_of(each) is _COMFYUI})


def diffusers_quantization_config(layers: Mapping[str, Format], kept: Sequence[str]) -> dict[str, object]:
    """Return config.json's `quantization_config` for diffusers; `kept` are the linear layers that are not quantized."""
    return diffusers_config(double=all(isinstance(each, Nf4) and each.double for each in layers.values()), kept=kept)


def _layout_of(format_: Format) -> Layout:
    if isinstance(format_, Nf4):
        return _BITSANDBYTES
    own = isinstance(format_, LowRank4 | SvdQuant) or (isinstance(format_, Fp8) and format_.by_rows)
    return _OWN if own else _COMFYUI
