"""One file of weights to one file of weights: tensor by tensor, quantized where that was chosen."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.checkpoints.header import read_header
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.read import read_tensors
from mezzotint.checkpoints.write import SafetensorsWriter, header_room
from mezzotint.conversion.report import LayerReport
from mezzotint.errors import ModelRefused
from mezzotint.quantization.formats import Format
from mezzotint.quantization.stored import encode_layer, file_metadata

if TYPE_CHECKING:
    import torch

_TENSORS_OF_A_LAYER = 8
_WEIGHT = ".weight"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The layer that a tensor of a file is the weight of."""

    component: str
    layer: str  # in the network
    format: Format


def convert_file(
    source: Path,
    output: Path,
    targets: Mapping[str, Target],
    *,
    on_bytes: Callable[[int], None],
    cancelled: Callable[[], bool],
) -> tuple[LayerReport, ...]:
    """Write `output` from `source`, the tensors named in `targets` quantized, all others as they are."""
    header = read_header(source)
    counts = {name: _TENSORS_OF_A_LAYER if name in targets else 1 for name in header.tensors}
    formats = {name.removesuffix(_WEIGHT): targets[name].format for name in header.tensors if name in targets}
    metadata = {**header.metadata, **file_metadata(formats)}
    reports = []
    with SafetensorsWriter(output, header_room(counts, metadata)) as file:
        file.metadata = metadata
        for name, tensor in read_tensors([source], on_bytes=on_bytes, cancelled=cancelled):
            target = targets.get(name)
            if target is None:
                file.add(name, tensor)
                continue
            encoded, report = quantize_layer(name, tensor, target, source)
            for part, data in encoded.items():
                file.add(part, data)
            reports.append(report)
    return tuple(reports)


def quantize_layer(
    name: str, tensor: "torch.Tensor", target: Target, source: Path
) -> "tuple[dict[str, torch.Tensor], LayerReport]":
    """A layer's tensors as a file holds them, and what it lost; ModelRefused when it has numbers that are none."""
    import torch

    weight = tensor.float()
    if not bool(torch.isfinite(weight).all()):
        raise ModelRefused(f"{plain(source, 300)}: {name} holds numbers that are not finite")
    tensors = target.format.quantize(weight)
    stored = name.removesuffix(_WEIGHT)
    encoded = encode_layer(stored, target.format, tuple(weight.shape), tensors, tensor.dtype)
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
