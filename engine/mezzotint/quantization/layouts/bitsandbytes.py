"""bitsandbytes' NF4 layers: packed `weight`, `absmax`, tables of values, and `quant_state.bitsandbytes__nf4`."""

import json
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from mezzotint.checkpoints.strict_json import parse_json_object
from mezzotint.errors import ModelRefused
from mezzotint.quantization.formats import Format, Nf4
from mezzotint.quantization.layouts.layout import MARK, Parsed, Specs, described_as, refused
from mezzotint.quantization.nf4 import BLOCK, NESTED_BLOCK, dynamic_values, nf4_values

_STATE = "quant_state"
_LARGEST_SIDE = 2**24
_LARGEST_OFFSET = torch.finfo(torch.float32).max


class BitsAndBytesLayout:
    """Layers of the format Nf4."""

    mark = ".weight.quant_state.bitsandbytes__nf4"

    def parse(self, layer: str, description: Mapping[str, object], tensors: Specs) -> Parsed:
        """Understand a description; ModelRefused when it makes no sense."""
        if description.get("quant_type") != "nf4":
            raise refused(layer, "quant_type", description.get("quant_type"), "nf4")
        if description.get("blocksize") != BLOCK:
            raise refused(layer, "blocksize", description.get("blocksize"), str(BLOCK))
        shape = _sides(description.get("shape"))
        if shape is None:
            raise refused(layer, "shape", description.get("shape"), "two sides")
        double = f"{layer}.weight.nested_absmax" in tensors
        if double and description.get("nested_blocksize") != NESTED_BLOCK:
            raise refused(layer, "nested_blocksize", description.get("nested_blocksize"), str(NESTED_BLOCK))
        if double:
            _offset(layer, description)
        names = {"weight": f"{layer}.weight"}
        for name in ("absmax", "quant_map", *(("nested_absmax", "nested_quant_map") if double else ())):
            names[name] = f"{layer}.weight.{name}"
        return Parsed(format=Nf4(double=double), shape=shape, names=names)

    def decode(self, layer: str, format_: Format, parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The format's tensors; ModelRefused when codes stand for other values than NF4's."""
        _check_table(layer, parts["quant_map"], nf4_values())
        tensors = {"weight": parts["weight"].reshape(-1, 1), "absmax": parts["absmax"]}
        if isinstance(format_, Nf4) and format_.double:
            _check_table(layer, parts["nested_quant_map"], dynamic_values())
            told = parse_json_object(parts[MARK].numpy().tobytes(), layer)
            tensors |= {"nested_absmax": parts["nested_absmax"], "nested_offset": torch.tensor(_offset(layer, told))}
        return tensors

    def encode(
        self, layer: str, format_: Format, shape: tuple[int, ...], tensors: Mapping[str, Tensor], dtype: torch.dtype
    ) -> dict[str, Tensor]:
        """The file's tensors."""
        told: dict[str, object] = {
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
        if isinstance(format_, Nf4) and format_.double:
            told |= {"nested_blocksize": NESTED_BLOCK, "nested_dtype": "float32"}
            told["nested_offset"] = float(tensors["nested_offset"])
            encoded[f"{weight}.nested_absmax"] = tensors["nested_absmax"]
            encoded[f"{weight}.nested_quant_map"] = dynamic_values().clone()
        return {**encoded, layer + self.mark: described_as(json.dumps(told))}


def diffusers_config(*, double: bool, kept: Sequence[str]) -> dict[str, object]:
    """What diffusers wants to be told in config.json."""
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
        raise refused(layer, "nested_offset", value, "a number of 32 bits")
    return float(value)


def _check_table(layer: str, table: Tensor, wanted: Tensor) -> None:
    if table.shape != wanted.shape or not torch.allclose(table.float(), wanted, atol=1e-6):
        raise ModelRefused(
            f"the codes of the quantized layer {layer} stand for values that are not NF4's; it is damaged"
        )


def _sides(shape: object) -> tuple[int, ...] | None:
    if not isinstance(shape, list) or len(shape) != 2:
        return None
    return tuple(shape) if all(type(side) is int and 0 < side <= _LARGEST_SIDE for side in shape) else None
