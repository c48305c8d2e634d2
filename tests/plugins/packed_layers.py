"""Layers quantized by other programs' own libraries, for tests that read them."""

from collections.abc import Callable, Mapping
from typing import Any

Packed = tuple[dict[str, Any], Any]  # a layer's tensors by key suffix, and the weight they represent
_ROWS, _COLUMNS = 32, 64  # weights with multiples of these can be packed in every format


def by_comfy_kitchen(layout: str, format_: str) -> Callable[[Any], Packed]:
    """Pack with ComfyUI's library, with a description as in its files."""

    def pack(weight: Any) -> Packed:
        from comfy_kitchen.tensor import QuantizedTensor

        from mezzotint.quantization.layouts.layout import to_byte_tensor

        quantized = QuantizedTensor.from_float(weight, layout)
        parts = quantized.layout_cls.state_dict_tensors(quantized._qdata, quantized._params)
        tensors = {f"weight{end}": part for end, part in parts.items()}
        return tensors | {"comfy_quant": to_byte_tensor(f'{{"format": "{format_}"}}')}, quantized.dequantize()

    return pack


def in_4_bits(kind: str) -> Callable[[Any], Packed]:
    """Pack with bitsandbytes, in blocks of 64."""

    def pack(weight: Any) -> Packed:
        from bitsandbytes.functional import dequantize_4bit
        from bitsandbytes.nn import Linear4bit

        layer = Linear4bit(*reversed(weight.shape), bias=False, quant_type=kind)
        layer.load_state_dict({"weight": weight})
        layer = layer.to("cpu")
        return dict(layer.state_dict()), dequantize_4bit(layer.weight.data, layer.weight.quant_state)

    return pack


def in_8_bits(weight: Any) -> Packed:
    """Pack with bitsandbytes, row by row."""
    from bitsandbytes.nn import Linear8bitLt

    layer = Linear8bitLt(*reversed(weight.shape), bias=False, has_fp16_weights=False)
    layer.load_state_dict({"weight": weight})
    parts = dict(layer.to("cpu").state_dict())
    return parts, parts["weight"].float() * (parts["SCB"][:, None] / 127)


KINDS: Mapping[str, Callable[[Any], Packed]] = {
    "mxfp8": by_comfy_kitchen("TensorCoreMXFP8Layout", "mxfp8"),
    "nvfp4": by_comfy_kitchen("TensorCoreNVFP4Layout", "nvfp4"),
    "nf4": in_4_bits("nf4"),
    "fp4": in_4_bits("fp4"),
    "int8-weight": in_8_bits,
}


def packed(
    tensors: Mapping[str, Any], kind: str, *, leave: str = "embed_tokens"
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tensors with suitable layers packed, and the same dequantized by the library that packed them."""
    made, plain = {}, {}
    for name, tensor in tensors.items():
        layer = name.removesuffix(".weight")
        fits = tensor.ndim == 2 and tensor.shape[0] % _ROWS == 0 and tensor.shape[1] % _COLUMNS == 0
        made[name] = plain[name] = tensor
        if fits and layer != name and leave not in name:
            parts, plain[name] = KINDS[kind](tensor)
            made |= {f"{layer}.{end}": part for end, part in parts.items()}
    return made, plain
