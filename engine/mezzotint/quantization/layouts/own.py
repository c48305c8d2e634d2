"""Our layout of 4-bit layers with a low-rank branch, and of 8-bit floats with a scale per row.

Each tensor under its name, plus `mezzotint_quant`.
"""

import json
from collections.abc import Mapping

import torch
from torch import Tensor

from mezzotint.quantization.formats import Format, LowRank4
from mezzotint.quantization.fp8 import Fp8
from mezzotint.quantization.int4 import LARGEST_GROUP_SCALE
from mezzotint.quantization.layouts.layout import (
    DESCRIPTION,
    Parsed,
    Specs,
    invalid_description,
    spec_of,
    to_byte_tensor,
)
from mezzotint.quantization.rotation import GROUPS
from mezzotint.quantization.svdquant.format import SvdQuant

FORMAT, SVDQUANT = "int4_lowrank", "svdquant"
FP8_FORMAT = "float8_rows"
_LARGEST_RANK = 4096


class OwnLayout:
    """Layout of LowRank4 and SvdQuant layers, and of Fp8 layers with a scale per row."""

    suffix = ".mezzotint_quant"

    def parse(self, layer: str, description: Mapping[str, object], tensors: Specs) -> Parsed:
        """Parse a layer's description; raises ModelRefused if it is invalid."""
        kind = description.get("format")
        if kind == FP8_FORMAT:
            return _fp8_layer(layer, description, tensors)
        if kind not in (FORMAT, SVDQUANT):
            raise invalid_description(layer, "format", kind, f"{FORMAT}, {SVDQUANT} and {FP8_FORMAT}")
        rank, group = description.get("rank"), description.get("group", 0)
        if type(rank) is not int or not 1 <= rank <= _LARGEST_RANK:
            raise invalid_description(layer, "rank", rank, f"1 to {_LARGEST_RANK}")
        if type(group) is not int or group not in (0, *GROUPS):
            raise invalid_description(layer, "group", group, f"0 or one of {', '.join(map(str, GROUPS))}")
        packed = spec_of(layer, f"{layer}.weight", tensors).shape
        if len(packed) != 2:
            raise invalid_description(layer, "weight shape", packed, "2 dimensions")
        shape = (packed[0], packed[1] * 2)
        dynamic = description.get("dynamic", True)
        if type(dynamic) is not bool:
            raise invalid_description(layer, "dynamic", dynamic, "true or false")
        format_ = (LowRank4 if kind == FORMAT else SvdQuant)(rank=rank, group=group, dynamic=dynamic)
        return Parsed(
            format=format_, shape=shape, names={name: f"{layer}.{name}" for name in format_.part_specs(shape)}
        )

    def decode(self, layer: str, format_: Format, parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the format's tensors; raises ModelRefused if a group scale would overflow 8 bits."""
        if isinstance(format_, Fp8):
            return {name: parts[name] for name in _FP8_NAMES}
        scales = parts.get("weight_group_scale")
        if scales is not None and bool((scales > LARGEST_GROUP_SCALE).any()):
            raise invalid_description(layer, "group scale", int(scales.max()), f"at most {LARGEST_GROUP_SCALE}")
        return {name: part for name, part in parts.items() if name != DESCRIPTION}

    def encode(
        self,
        layer: str,
        format_: Format,
        shape: tuple[int, ...],  # noqa: ARG002  required by Layout
        tensors: Mapping[str, Tensor],
        dtype: torch.dtype,  # noqa: ARG002
    ) -> dict[str, Tensor]:
        """Return the tensors to store."""
        encoded = {f"{layer}.{name}": tensor for name, tensor in tensors.items()}
        return {**encoded, layer + self.suffix: to_byte_tensor(json.dumps(_description_of(format_)))}


def _description_of(format_: Format) -> dict[str, object]:
    if isinstance(format_, Fp8) and format_.by_rows:
        return {"format": FP8_FORMAT, "dynamic": format_.inputs != "kept"}
    if not isinstance(format_, LowRank4 | SvdQuant):
        raise TypeError(f"{format_} is kept in another layout")
    kind = FORMAT if isinstance(format_, LowRank4) else SVDQUANT
    return {"format": kind, "rank": format_.rank, "group": format_.group, "dynamic": format_.dynamic}


def _fp8_layer(layer: str, description: Mapping[str, object], tensors: Specs) -> Parsed:
    """Parse a layer of 8-bit floats with a scale per row; raises ModelRefused if it is invalid."""
    weight = spec_of(layer, f"{layer}.weight", tensors)
    if weight.dtype != "F8_E4M3" or len(weight.shape) != 2:
        raise invalid_description(layer, "weight", f"{weight.dtype} {weight.shape}", "F8_E4M3 of 2 dimensions")
    dynamic = description.get("dynamic", True)
    if type(dynamic) is not bool:
        raise invalid_description(layer, "dynamic", dynamic, "true or false")
    format_ = Fp8(by_rows=True, inputs="quantized" if dynamic else "kept")
    return Parsed(format=format_, shape=weight.shape, names={name: f"{layer}.{name}" for name in _FP8_NAMES})


_FP8_NAMES = ("weight", "weight_scale")
