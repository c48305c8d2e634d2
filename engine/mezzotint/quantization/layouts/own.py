"""Our layout of 4-bit layers with a low-rank branch: each tensor under its name, plus `mezzotint_quant`."""

import json
from collections.abc import Mapping

import torch
from torch import Tensor

from mezzotint.quantization.formats import Format, LowRank4
from mezzotint.quantization.int4 import LARGEST_GROUP_SCALE
from mezzotint.quantization.layouts.layout import Parsed, Specs, described_as, refused, spec_of
from mezzotint.quantization.rotation import GROUPS

FORMAT = "int4_lowrank"
_LARGEST_RANK = 4096


class OwnLayout:
    """Layout of LowRank4 layers."""

    mark = ".mezzotint_quant"

    def parse(self, layer: str, description: Mapping[str, object], tensors: Specs) -> Parsed:
        """Parse a layer's description; raises ModelRefused if it is invalid."""
        if description.get("format") != FORMAT:
            raise refused(layer, "format", description.get("format"), FORMAT)
        rank, group = description.get("rank"), description.get("group", 0)
        if type(rank) is not int or not 1 <= rank <= _LARGEST_RANK:
            raise refused(layer, "rank", rank, f"1 to {_LARGEST_RANK}")
        if type(group) is not int or group not in (0, *GROUPS):
            raise refused(layer, "group", group, f"0 or one of {', '.join(map(str, GROUPS))}")
        packed = spec_of(layer, f"{layer}.weight", tensors).shape
        if len(packed) != 2:
            raise refused(layer, "the shape of its weight is", packed, "rows and packed columns")
        shape = (packed[0], packed[1] * 2)
        dynamic = description.get("dynamic", True)
        if type(dynamic) is not bool:
            raise refused(layer, "dynamic", dynamic, "true or false")
        format_ = LowRank4(rank=rank, group=group, dynamic=dynamic)
        return Parsed(format=format_, shape=shape, names={name: f"{layer}.{name}" for name in _NAMES})

    def decode(self, layer: str, format_: Format, parts: Mapping[str, Tensor]) -> dict[str, Tensor]:  # noqa: ARG002
        """Return the format's tensors; raises ModelRefused if a group scale would overflow 8 bits."""
        scales = parts["weight_group_scale"]
        if bool((scales > LARGEST_GROUP_SCALE).any()):
            raise refused(layer, "a group's scale is", int(scales.max()), f"at most {LARGEST_GROUP_SCALE}")
        return {name: parts[name] for name in _NAMES}

    def encode(
        self,
        layer: str,
        format_: Format,
        shape: tuple[int, ...],  # noqa: ARG002  required by Layout
        tensors: Mapping[str, Tensor],
        dtype: torch.dtype,  # noqa: ARG002
    ) -> dict[str, Tensor]:
        """Return the tensors to store."""
        if not isinstance(format_, LowRank4):
            raise TypeError(f"{format_} is kept in another layout")
        described = {"rank": format_.rank, "group": format_.group, "dynamic": format_.dynamic}
        told = json.dumps({"format": FORMAT, **described})
        encoded = {f"{layer}.{name}": tensor for name, tensor in tensors.items()}
        return {**encoded, layer + self.mark: described_as(told)}


_NAMES = ("weight", "weight_scale", "weight_group_scale", "weight_down", "weight_up")
