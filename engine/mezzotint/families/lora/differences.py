"""Whole differences of weights, biases and norms in a LoRA file: `.diff`, `.diff_b`, `.w_norm`, `.b_norm` (LyCORIS)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from mezzotint.checkpoints.header import TensorSpec
from mezzotint.families.lora.keys import DIFFERENCES, Part, Place

Parameter = Literal["weight", "bias"]
_MOST_SIDES = 4  # of a convolution's weight


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightDifference:
    """What is added to one parameter of a layer, which may be a norm; `name`: of the tensor."""

    place: Place
    layer: str
    parameter: Parameter
    name: str
    shape: tuple[int, ...]


def differences(
    place: Place, layer: str, names: Mapping[Part, str], tensors: Mapping[str, TensorSpec]
) -> tuple[WeightDifference, ...]:
    """Those among a layer's tensors; raises ValueError, naming the tensor, for an impossible shape."""
    found = []
    for part, name in names.items():
        if part in DIFFERENCES:
            parameter: Parameter = "bias" if part in ("diff_b", "b_norm") else "weight"
            shape = tensors[name].shape
            if not 1 <= len(shape) <= (1 if parameter == "bias" else _MOST_SIDES) or 0 in shape:
                raise ValueError(name)
            found.append(WeightDifference(place=place, layer=layer, parameter=parameter, name=name, shape=shape))
    return tuple(found)
