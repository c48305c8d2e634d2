"""bitsandbytes' layouts.

4 bits: packed `weight`, `absmax`, tables of code values, and `quant_state.bitsandbytes__nf4` or `__fp4`. 8 bits
(arXiv 2208.07339): `weight`, `SCB`, the largest magnitude of each row, to which 127 corresponds, and `weight_format`,
which must say row-major.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mezzotint.checkpoints.strict_json import parse_json_object
from mezzotint.errors import ModelRefused
from mezzotint.quantization.formats import Format, Int8, Nf4
from mezzotint.quantization.fp4 import Fp4, fp4_values
from mezzotint.quantization.layouts.layout import (
    DESCRIPTION,
    Parsed,
    Specs,
    invalid_description,
    spec_of,
    to_byte_tensor,
)
from mezzotint.quantization.nf4 import BLOCK, NESTED_BLOCK, dynamic_values, nf4_values

_STATE = "quant_state"
_LARGEST_SIDE = 2**24
_LARGEST_CODE = 127
_LARGEST_OFFSET = torch.finfo(torch.float32).max


@dataclass(frozen=True, slots=True, kw_only=True)
class BitsAndBytesLayout:
    """Layout of Nf4 and Fp4 layers."""

    kind: str = "nf4"

    @property
    def suffix(self) -> str:
        """Suffix of the names of tensors that describe a layer."""
        return f".weight.quant_state.bitsandbytes__{self.kind}"

    def parse(self, layer: str, description: Mapping[str, object], tensors: Specs) -> Parsed:
        """Parse a layer's description; raises ModelRefused if it is invalid."""
        if description.get("quant_type") != self.kind:
            raise invalid_description(layer, "quant_type", description.get("quant_type"), self.kind)
        if description.get("blocksize") != BLOCK:
            raise invalid_description(layer, "blocksize", description.get("blocksize"), str(BLOCK))
        shape = _sides(description.get("shape"))
        if shape is None:
            raise invalid_description(layer, "shape", description.get("shape"), "two positive integers")
        double = f"{layer}.weight.nested_absmax" in tensors
        if double and description.get("nested_blocksize") != NESTED_BLOCK:
            raise invalid_description(layer, "nested_blocksize", description.get("nested_blocksize"), str(NESTED_BLOCK))
        if double:
            _offset(layer, description)
        names = {"weight": f"{layer}.weight"}
        for name in ("absmax", "quant_map", *(("nested_absmax", "nested_quant_map") if double else ())):
            names[name] = f"{layer}.weight.{name}"
        format_ = Nf4(double=double) if self.kind == "nf4" else Fp4(double=double)
        return Parsed(format=format_, shape=shape, names=names)

    def decode(self, layer: str, format_: Format, parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the format's tensors; raises ModelRefused if the tables of code values are not the expected ones."""
        self._check_table(layer, parts["quant_map"], nf4_values() if self.kind == "nf4" else fp4_values())
        tensors = {"weight": parts["weight"].reshape(-1, 1), "absmax": parts["absmax"]}
        if isinstance(format_, Nf4 | Fp4) and format_.double:
            self._check_table(layer, parts["nested_quant_map"], dynamic_values())
            description = parse_json_object(parts[DESCRIPTION].numpy().tobytes(), layer)
            tensors |= {
                "nested_absmax": parts["nested_absmax"],
                "nested_offset": torch.tensor(_offset(layer, description)),
            }
        return tensors

    def encode(
        self, layer: str, format_: Format, shape: tuple[int, ...], tensors: Mapping[str, Tensor], dtype: torch.dtype
    ) -> dict[str, Tensor]:
        """Return the tensors to store."""
        if not isinstance(format_, Nf4):
            raise TypeError(f"{format_} is only read")
        description: dict[str, object] = {
            "quant_type": "nf4",
            "blocksize": BLOCK,
            "dtype": str(dtype).removeprefix("torch."),
            "shape": list(shape),
        }
        weight = f"{layer}.weight"
        encoded = {
            weight: tensors["weight"],
            f"{weight}.absmax": tensors["absmax"],
            f"{weight}.quant_map": nf4_values().clone(),
        }
        if format_.double:
            description |= {"nested_blocksize": NESTED_BLOCK, "nested_dtype": "float32"}
            description["nested_offset"] = float(tensors["nested_offset"])
            encoded[f"{weight}.nested_absmax"] = tensors["nested_absmax"]
            encoded[f"{weight}.nested_quant_map"] = dynamic_values().clone()
        return {**encoded, layer + self.suffix: to_byte_tensor(json.dumps(description))}

    def _check_table(self, layer: str, table: Tensor, wanted: Tensor) -> None:
        if table.shape != wanted.shape or not torch.allclose(table.float(), wanted, atol=1e-6):
            whose = f"{self.kind.upper()}'s"
            raise ModelRefused(f"the code table of the quantized layer {layer} is not {whose}; the file is damaged")


class RowsOf8Bits:
    """Layout of Int8 layers, recognized by a tensor name and without a description."""

    suffix = ".SCB"

    def parse(self, layer: str, tensors: Specs) -> Parsed:
        """Parse a layer; raises ModelRefused if it is invalid."""
        weight, scale = (spec_of(layer, f"{layer}.{name}", tensors) for name in ("weight", "SCB"))
        if weight.dtype != "I8" or len(weight.shape) != 2:
            raise invalid_description(layer, "weight", f"{weight.dtype} {weight.shape}", "I8 of 2 dimensions")
        if scale.shape != weight.shape[:1]:
            raise invalid_description(layer, "SCB shape", scale.shape, str(weight.shape[:1]))
        names = {name: f"{layer}.{name}" for name in ("weight", "SCB", "weight_format") if f"{layer}.{name}" in tensors}
        return Parsed(format=Int8(dynamic=False), shape=weight.shape, names=names)

    def decode(self, layer: str, format_: Format, parts: Mapping[str, Tensor]) -> dict[str, Tensor]:  # noqa: ARG002
        """Return the format's tensors; raises ModelRefused if the weight is not row-major."""
        order = parts.get("weight_format")
        if order is not None and bool(order.any()):
            raise invalid_description(layer, "weight_format", order.flatten()[0].item(), "0 (row-major)")
        return {"weight": parts["weight"], "weight_scale": parts["SCB"].float()[:, None] / _LARGEST_CODE}


def diffusers_config(*, double: bool, kept: Sequence[str]) -> dict[str, object]:
    """The `quantization_config` that diffusers expects in config.json."""
    return {
        "quant_method": "bitsandbytes",
        "load_in_4bit": True,
        "load_in_8bit": False,
        "bnb_4bit_quant_type": "nf4",
        "bnb_4bit_use_double_quant": double,
        "bnb_4bit_compute_dtype": "float16",
        "bnb_4bit_quant_storage": "uint8",
        "llm_int8_skip_modules": list(kept),
    }


def _offset(layer: str, description: Mapping[str, object]) -> float:
    value = description.get("nested_offset")
    if not isinstance(value, int | float) or not abs(value) <= _LARGEST_OFFSET:
        raise invalid_description(layer, "nested_offset", value, "a 32-bit number")
    return float(value)


def _sides(shape: object) -> tuple[int, ...] | None:
    if not isinstance(shape, list) or len(shape) != 2:
        return None
    return tuple(shape) if all(type(side) is int and 0 < side <= _LARGEST_SIDE for side in shape) else None
