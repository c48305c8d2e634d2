"""Converts one weight file to another, tensor by tensor, quantizing the chosen layers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.checkpoints.header import Header
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.weight_file import read_weights, weight_header
from mezzotint.checkpoints.write import WRITABLE, SafetensorsWriter, header_room
from mezzotint.conversion.report import LayerReport
from mezzotint.errors import ModelRefused
from mezzotint.quantization.formats import Format
from mezzotint.quantization.layouts.stored import encode_layer, file_metadata

if TYPE_CHECKING:
    import torch

_TENSORS_OF_A_LAYER = 8
_WEIGHT = ".weight"
_NUMBERS = ("F64", "F32", "F16", "BF16", "F8_E4M3", "F8_E5M2")  # dtypes of weights, by their names in safetensors files


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The layer whose weight a tensor of a file is."""

    component: str
    layer: str  # in the network
    format: Format
    shape: tuple[int, ...]  # of the layer's weight
    balance: "torch.Tensor | None" = field(default=None, compare=False)  # typical magnitudes of the input's columns


def convert_file(
    source: Path,
    output: Path,
    targets: Mapping[str, Target],
    *,
    on_bytes: Callable[[int], None],
    cancelled: Callable[[], bool],
) -> tuple[LayerReport, ...]:
    """Write `output` from `source`: the tensors named in `targets` quantized, all others unchanged."""
    header = weight_header(source)
    check(header, targets)
    counts = {name: _TENSORS_OF_A_LAYER if name in targets else 1 for name in header.tensors}
    formats = {name.removesuffix(_WEIGHT): targets[name].format for name in header.tensors if name in targets}
    metadata = {**header.metadata, **file_metadata(formats)}
    reports = []
    with SafetensorsWriter(output, header_room(counts, metadata)) as file:
        file.metadata = metadata
        for name, tensor in read_weights([source], on_bytes=on_bytes, cancelled=cancelled):
            target = targets.get(name)
            if target is None:
                file.add(name, tensor)
                continue
            encoded, report = quantize_layer(name, tensor, target, source)
            for part, data in encoded.items():
                file.add(part, data)
            reports.append(report)
    return tuple(reports)


def check(header: Header, targets: Mapping[str, Target]) -> None:
    """Raise ModelRefused if the header shows a tensor that cannot be copied, or a weight that cannot be quantized."""
    for name, spec in header.tensors.items():
        where, target = f"{plain(header.path, 300)}: {plain(name, 200)}", targets.get(name)
        if spec.dtype not in WRITABLE:
            raise ModelRefused(f"{where} has the dtype {spec.dtype}, which cannot be copied")
        if target is None:
            continue
        if spec.dtype not in _NUMBERS:
            raise ModelRefused(f"{where} has the dtype {spec.dtype}; supported are {', '.join(_NUMBERS)}")
        if spec.shape != target.shape and spec.shape != (*target.shape, 1, 1):
            raise ModelRefused(
                f"{where} has shape {spec.shape}, its configuration says {target.shape}; "
                "the file belongs to another model"
            )


def quantize_layer(
    name: str, tensor: "torch.Tensor", target: Target, source: Path
) -> "tuple[dict[str, torch.Tensor], LayerReport]":
    """A layer's tensors as stored in a file, and its report; raises ModelRefused if it cannot be quantized."""
    import torch

    weight = tensor.reshape(target.shape).float()
    try:
        tensors = target.format.quantize(weight, target.balance)
    except ModelRefused as error:
        raise ModelRefused(f"{plain(source, 300)}: {plain(name, 200)}: {error}") from None
    encoded = encode_layer(name.removesuffix(_WEIGHT), target.format, target.shape, tensors, tensor.dtype)
    whole = float(weight.norm())
    lost = target.format.dequantize(tensors, weight.shape, torch.float32).sub_(weight)
    report = LayerReport(
        component=target.component,
        name=target.layer,
        scheme=target.format.scheme,
        bytes_before=tensor.nbytes,
        bytes_after=sum(part.nbytes for part in encoded.values()),
        error=float(lost.norm()) / whole if whole else 0.0,
    )
    return encoded, report
