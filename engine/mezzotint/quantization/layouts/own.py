"""Our layout of 4-bit layers with a low-rank branch: each tensor under its name, plus `mezzotint_quant`."""

import json
from collections.abc import Mapping

import torch
from torch import Tensor

from mezzotint.quantization.formats import Format, LowRank4
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
_LARGEST_RANK = 4096


class OwnLayout:
    """Layout of LowRank4 and SvdQuant layers."""

    suffix = ".mezzotint_quant"

    def parse(self, layer: str, description: Mapping[str, object], tensors: Specs) -> Parsed:
        """Parse a layer's description; raises ModelRefused if it is invalid."""
        kind = description.get("format")
        if kind not in (FORMAT, SVDQUANT):
            raise invalid_description(layer, "format", kind, f"{FORMAT} and {SVDQUANT}")
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

    def decode(self, layer: str, format_: Format, parts: Mapping[str, Tensor]) -> dict[str, Tensor]:  # noqa: ARG002
        """Return the format's tensors; raises ModelRefused if a group scale would overflow 8 bits."""
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
        if not isinstance(format_, LowRank4 | SvdQuant):
            raise TypeError(f"{format_} is kept in another layout")
        settings = {"rank": format_.rank, "group": format_.group, "dynamic": format_.dynamic}
        description = json.dumps({"format": FORMAT if isinstance(format_, LowRank4) else SVDQUANT, **settings})
        encoded = {f"{layer}.{name}": tensor for name, tensor in tensors.items()}
        return {**encoded, layer + self.suffix: to_byte_tensor(description)}
