"""Assembles layers that are quantized in their files, as their tensors arrive."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.checkpoints.header import Header, TensorSpec, read_header
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.read import read_tensors
from mezzotint.checkpoints.weight_file import is_delta_file, is_gguf, weight_specs
from mezzotint.quantization.layouts.undescribed import may_be_quantized

if TYPE_CHECKING:
    import torch

    from mezzotint.families.loading.original_names import Form, Placement
    from mezzotint.quantization.formats import Format, Tensors
    from mezzotint.quantization.layouts.stored import StoredLayer

_WEIGHT = ".weight"
_PACKED, _NUNCHAKU = ".qweight", ".wscales"  # ends of the names of codes and scales for other programs' kernels


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeLayer:
    """A quantized layer with all its tensors."""

    weight_name: str  # as if it were not quantized
    format: "Format"
    shape: tuple[int, ...]  # of the weight
    tensors: "Tensors"
    bytes: int  # in the file
    bias: "torch.Tensor | None" = None  # if the file has it in another order, too


def whole_layer(layer: "StoredLayer", parts: "Tensors") -> WholeLayer:
    """The layer that tensors of its files make; raises ModelRefused if they are inconsistent."""
    from mezzotint.quantization.layouts.stored import decode_layer

    size, tensors = sum(part.nbytes for part in parts.values()), decode_layer(layer, parts)
    name, bias = layer.name + _WEIGHT, tensors.pop("bias", None)
    return WholeLayer(weight_name=name, format=layer.format, shape=layer.shape, tensors=tensors, bytes=size, bias=bias)


def in_form(whole: WholeLayer, form: "Form") -> WholeLayer:
    """A layer in that form if it is of rows, else as it is; raises ModelRefused like `rows_of`."""
    from mezzotint.families.loading.original_names import Rows

    return rows_of(whole, form) if form == "swapped" or isinstance(form, Rows) else whole


def can_dequantize(format_: "Format") -> bool:
    """Whether a layer of this format is dequantized where a network needs its weight in full precision."""
    from mezzotint.quantization.block_floats import Mxfp8, Nvfp4
    from mezzotint.quantization.fp8 import Fp8, ScaledWeight
    from mezzotint.quantization.gguf_blocks import GgufBlocks

    return isinstance(format_, Fp8 | Mxfp8 | Nvfp4 | GgufBlocks | ScaledWeight)


def is_always_dequantized(format_: "Format") -> bool:
    """Whether no layer of this format stays in it in memory."""
    from mezzotint.quantization.fp8 import ScaledWeight

    return isinstance(format_, ScaledWeight)


def dequantized(whole: WholeLayer, dtype: "torch.dtype") -> "torch.Tensor":
    """The weight of a layer in full precision."""
    import torch

    return whole.format.dequantize(whole.tensors, torch.Size(whole.shape), dtype)


def rows_of(whole: WholeLayer, form: "Form") -> WholeLayer:
    """A layer's rows in that form: some, or swapped halves; raises ModelRefused if the format couples rows."""
    from mezzotint.errors import ModelRefused
    from mezzotint.families.loading.original_names import Placement, Rows
    from mezzotint.quantization.block_floats import Mxfp8, Nvfp4
    from mezzotint.quantization.codebook4 import Codebook4
    from mezzotint.quantization.formats import Int8, Nf4
    from mezzotint.quantization.fp4 import Fp4
    from mezzotint.quantization.fp8 import Fp8, ScaledWeight
    from mezzotint.quantization.gguf_blocks import GgufBlocks
    from mezzotint.quantization.nf4 import BLOCK
    from mezzotint.quantization.svdquant.format import SvdQuant

    of_rows = Int8 | Codebook4 | Fp8 | Mxfp8 | Nvfp4 | GgufBlocks | ScaledWeight | SvdQuant
    rows = whole.shape[0]
    taken = form.share(rows) if isinstance(form, Rows) else rows
    flat = isinstance(whole.format, Nf4 | Fp4) and whole.shape[1] % BLOCK == 0
    whole = _by_rows(whole) if flat else whole
    if not (flat or isinstance(whole.format, of_rows)) or (isinstance(form, Rows) and rows % form.of):
        raise ModelRefused(
            f"{whole.weight_name} holds in one layer what this program has in several or in another order, quantized "
            f"as {whole.format.scheme}, which cannot be taken apart; get the model in float16, bfloat16, fp8 or int8"
        )
    placed = Placement(component="", name=whole.weight_name, form=form)
    tensors = {name: _rows_taken(placed, name, each, rows) for name, each in whole.tensors.items()}
    if isinstance(whole.format, SvdQuant):
        tensors["weight_scale"] = placed.take(whole.tensors["weight_scale"].t()).t().contiguous()
    if flat:
        tensors = {"weight": tensors["weight"].view(-1, 1), "absmax": tensors["absmax"].flatten()}
    size, bias = whole.bytes * taken // max(1, rows), None if whole.bias is None else placed.take(whole.bias)
    return replace(whole, tensors=tensors, shape=(taken, *whole.shape[1:]), bytes=size, bias=bias)


_SHARED = ("weight_codebook", "weight_smooth", "weight_down")  # what all rows have in common


def _rows_taken(placed: "Placement", name: str, tensor: "torch.Tensor", rows: int) -> "torch.Tensor":
    """One of a layer's tensors for its rows in a form; as it is if it does not have one row for each of the weight."""
    of_rows = tensor.ndim and tensor.shape[0] == rows and name not in _SHARED
    return placed.take(tensor).contiguous() if of_rows else tensor


def _by_rows(whole: WholeLayer) -> WholeLayer:
    """A layer of 4-bit blocks, none of which lies in two rows, with its codes and magnitudes row by row."""
    from mezzotint.quantization.formats import Nf4, block_magnitudes
    from mezzotint.quantization.fp4 import Fp4

    rows = whole.shape[0]
    format_ = Nf4(double=False) if isinstance(whole.format, Nf4) else Fp4(double=False)
    tensors = {
        "weight": whole.tensors["weight"].view(rows, -1),
        "absmax": block_magnitudes(whole.tensors).view(rows, -1),
    }
    return replace(whole, format=format_, tensors=tensors)


class StoredLayers:
    """The quantized layers of some files; `names` are all tensors that belong to them."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._layers = find_layers(files)
        self._layer_of = {name: layer for layer in self._layers.values() for name in layer.names.values()}
        self._waiting: dict[str, dict[str, torch.Tensor]] = {name: {} for name in self._layers}

    @property
    def names(self) -> frozenset[str]:
        """Names of the tensors that belong to quantized layers."""
        return frozenset(self._layer_of)

    def weight_of(self, name: str) -> str:
        """Name of the weight, as if it were not quantized, of the layer that a tensor belongs to."""
        return self._layer_of[name].name + _WEIGHT

    def bytes_by_weight(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Bytes of each layer by the name of its weight, given those of all tensors."""
        return {
            layer.name + _WEIGHT: sum(sizes[name] for name in set(layer.names.values()))
            for layer in self._layers.values()
        }

    def take(self, name: str, tensor: "torch.Tensor") -> WholeLayer | None:
        """Store a tensor; returns its layer once that is complete."""
        layer = self._layer_of.get(name)
        if layer is None:
            return None
        parts = self._waiting[layer.name]
        parts[name] = tensor
        if len(parts) < len(set(layer.names.values())):
            return None
        self._waiting[layer.name] = {}
        return whole_layer(layer, parts)


def logical_header(header: Header) -> Header:
    """A file's header as if nothing were quantized: full shapes, and no tensors that only serve dequantization."""
    if not _has_quantized(header.tensors, header.metadata):
        _check_readable([header.path], header.tensors)
        return header
    layers = find_layers([header.path])
    parts = {name for layer in layers.values() for name in layer.names.values()}
    tensors = {name: spec for name, spec in header.tensors.items() if name not in parts}
    for layer in layers.values():
        weight = layer.name + _WEIGHT
        tensors[weight] = replace(header.tensors[layer.names["weight"]], shape=layer.shape)
    return replace(header, tensors=tensors)


def weight_names(path: Path) -> tuple[str, ...]:
    """The names of a file's tensors, and those that weights of layers would have that are stored under other names."""
    tensors = weight_specs(path)
    packed = any(name.endswith(_PACKED) for name in tensors)
    return (*tensors, *(layer + _WEIGHT for layer in (find_layers([path]) if packed else ())))


def find_layers(files: Sequence[Path]) -> "dict[str, StoredLayer]":
    """The quantized layers of some files, by name; raises ModelRefused naming an invalid one."""
    if any(map(is_gguf, files)):
        from mezzotint.quantization.layouts.gguf import find_packed_layers

        return {name: layer for path in files for name, layer in find_packed_layers(path).items()}
    if any(map(is_delta_file, files)):
        return {}  # its tensors are whole
    headers = [read_header(path) for path in files]
    tensors: dict[str, TensorSpec] = {}
    metadata: dict[str, str] = {}
    for header in headers:
        tensors |= header.tensors
        metadata |= header.metadata
    _check_readable(files, tensors)
    if not _has_quantized(tensors, metadata):
        return {}
    from mezzotint.quantization.layouts.stored import find_stored_layers

    return find_stored_layers(tensors, metadata, _descriptions(files, tensors).__getitem__)


def _check_readable(files: Sequence[Path], tensors: Mapping[str, TensorSpec]) -> None:
    """Raise ModelRefused for layers in the kernel layout of another program that cannot be read."""
    from mezzotint.errors import ModelRefused

    packed = next((name for name in tensors if name.endswith(_PACKED)), None)
    if packed is None:
        return
    if any(name.endswith(_NUNCHAKU) for name in tensors):
        from mezzotint.quantization.layouts.nunchaku import why_unreadable

        why = why_unreadable(tensors)
        if why is not None:
            raise ModelRefused(f"{plain(files[0], 300)}: {why}")
        return
    awq = any(name.endswith(".scaled_zeros") for name in tensors)
    kind = "Nunchaku's text encoder (AWQ)" if awq else "GPTQ or AWQ"
    raise ModelRefused(
        f"{plain(files[0], 300)}: 4-bit layers of {kind}, such as {plain(packed, 100)}, are laid out for kernels of "
        "their own and cannot be read; get the model in fp8, as a GGUF or in 16 bits"
    )


def _has_quantized(tensors: Mapping[str, TensorSpec], metadata: Mapping[str, str]) -> bool:
    told = "_quantization_metadata" in metadata or any(name.endswith(_NUNCHAKU) for name in tensors)
    return told or any(map(_says_quantized, tensors)) or may_be_quantized(tensors)


def _says_quantized(name: str) -> bool:
    return name.endswith((".comfy_quant", ".mezzotint_quant", ".SCB")) or ".quant_state." in name


def _descriptions(files: Sequence[Path], tensors: Mapping[str, TensorSpec]) -> "dict[str, torch.Tensor]":
    """Tensors that describe layers, read together: a file has hundreds, and each read starts with its header."""
    from mezzotint.quantization.layouts.stored import LARGEST_DESCRIPTION

    small = {name for name, spec in tensors.items() if spec.end - spec.start <= LARGEST_DESCRIPTION}
    names = {name for name in small if _says_quantized(name)}
    return dict(read_tensors(files, on_bytes=lambda _: None, cancelled=lambda: False, names=names))
