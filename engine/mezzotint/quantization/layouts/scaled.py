"""Layers of 8 bits that nothing describes but the tensors beside their weights: scales of other programs.

ComfyUI's `scale_weight` and `weight_scale`, and transformers' and DeepSeek's `weight_scale_inv`, which despite its name
is multiplied, too. A scale of another name refuses the file, for the weight without it would be garbage.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from mezzotint.checkpoints.header import TensorSpec
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused
from mezzotint.quantization.formats import Format, Int8
from mezzotint.quantization.fp8 import Fp8, ScaledWeight
from mezzotint.quantization.layouts.comfyui import ComfyUiLayout, fp8_layer
from mezzotint.quantization.layouts.layout import Decoder, Parsed, Specs
from mezzotint.quantization.layouts.undescribed import INTEGERS, program_of

WEIGHT_SCALES = ("scale_weight", "weight_scale", "weight_scale_inv")
INPUT_SCALES = ("scale_input", "input_scale", "scale_output", "output_scale")  # unused: inputs get scales of their own
_FLOATS = {"F8_E4M3": torch.float8_e4m3fn, "F8_E5M2": torch.float8_e5m2}
_SCALE_DTYPES = ("F64", "F32", "F16", "BF16")
_USUAL_BLOCKS = (128, 64, 32, 16, 256, 512)
_ADVICE = "get the model in fp8 with one scale for each layer, as a GGUF or in 16 bits"
_COMFYUI = ComfyUiLayout()


def scaled_layers(tensors: Specs, known: Collection[str]) -> Iterator[tuple[str, Parsed, Decoder]]:
    """The layers in 8 bits other than those already known; raises ModelRefused, naming what is not understood."""
    beside = _by_layer(tensors)
    for name, spec in tensors.items():
        layer = name.removesuffix(".weight")
        if program := program_of(name):
            raise ModelRefused(f"{plain(name, 200)}: layers quantized by {program} are not supported; {_ADVICE}")
        if layer in known:
            continue
        if layer == name:
            _check_unscaled(name, spec, tensors)
        elif scale := _scale_of(layer, spec, beside.get(layer, {})):
            yield layer, *_scaled(layer, spec, scale, tensors[scale])
        elif spec.dtype in INTEGERS:
            raise ModelRefused(
                f"the weight of {plain(layer, 200)} is {spec.dtype} without a scale or a description of what its "
                f"numbers stand for; {_ADVICE}"
            )
        elif spec.dtype == "F8_E4M3" and len(spec.shape) == 2:
            yield layer, fp8_layer(layer, None, tensors), _COMFYUI


def _by_layer(tensors: Specs) -> dict[str, dict[str, str]]:
    """For each layer the tensors of scales beside its weight, by the part of their names after the layer's."""
    beside: dict[str, dict[str, str]] = {}
    for name in tensors:
        layer, _, part = name.rpartition(".")
        if layer.endswith(".weight"):
            layer, part = layer.removesuffix(".weight"), f"weight.{part}"
        if any(word in part.lower() for word in ("scale", "zero_point", "zeropoint", "amax")):
            beside.setdefault(layer, {})[part] = name
    return beside


def _check_unscaled(name: str, spec: TensorSpec, tensors: Specs) -> None:
    """Raise ModelRefused for a tensor other than a layer's weight that is in 8 bits and has a scale."""
    if not spec.dtype.startswith("F8_"):
        return
    layer, _, part = name.rpartition(".")
    start = f"{layer}." if layer else ""
    scale = next((each for each in (f"{name}_scale", f"{start}scale_{part}") if each in tensors), None)
    if scale is not None and part not in WEIGHT_SCALES:
        raise ModelRefused(f"{plain(name, 200)} is {spec.dtype} with a scale, which only weights can be; {_ADVICE}")


def _scale_of(layer: str, spec: TensorSpec, beside: Mapping[str, str]) -> str | None:
    """The scale of a weight in 8 bits; raises ModelRefused if one of those beside it is not known."""
    if not spec.dtype.startswith("F8_") and spec.dtype not in INTEGERS:
        return None
    scales = {part: name for part, name in beside.items() if part not in INPUT_SCALES}
    known = [name for part, name in scales.items() if part in WEIGHT_SCALES]
    if len(scales) > 1 or len(known) < len(scales):
        strange = next((name for name in scales.values() if name not in known), known[0] if known else "")
        raise ModelRefused(
            f"the weight of {plain(layer, 200)} is {spec.dtype} with {plain(strange, 200)}, which is no known scale; "
            f"{_ADVICE}"
        )
    return known[0] if known else None


def _scaled(layer: str, spec: TensorSpec, name: str, scale: TensorSpec) -> tuple[Parsed, Decoder]:
    """A layer with a scale, in a format with kernels if there is one; raises ModelRefused if they do not fit."""
    sides = _sides(spec, scale)
    if sides is None:
        raise ModelRefused(
            f"the quantized layer {plain(layer, 200)}: scale shape {scale.shape} of {scale.dtype} does not fit its "
            f"weight {spec.shape} of {spec.dtype}: supported are floats of the weight, of rows or of blocks; {_ADVICE}"
        )
    names = {"weight": f"{layer}.weight", "weight_scale": name}
    whole_rows = sides[1] >= spec.shape[1]
    if whole_rows and len(spec.shape) == 2 and spec.dtype == "I8" and sides[0] in (1, spec.shape[0]):
        return Parsed(format=Int8(dynamic=False), shape=spec.shape, names=names), _COMFYUI
    if whole_rows and len(spec.shape) == 2 and spec.dtype == "F8_E4M3" and sides[0] in (1, spec.shape[0]):
        single = sides[0] == spec.shape[0]
        format_ = Fp8(inputs="either") if single else Fp8(by_rows=True)
        return Parsed(format=format_, shape=spec.shape, names=names), _COMFYUI if single else Rows()
    block = 0 if whole_rows else sides[1]
    scaled = ScaledWeight(dtype={**_FLOATS, "I8": torch.int8}[spec.dtype], block=block)
    return Parsed(format=scaled, shape=spec.shape, names=names), Blocks(rows=sides[0])


def _sides(spec: TensorSpec, scale: TensorSpec) -> tuple[int, int] | None:
    """Rows and columns that share one of the scales; None if these do not fit the weight."""
    if spec.dtype not in (*_FLOATS, "I8") or scale.dtype not in _SCALE_DTYPES or len(spec.shape) < 2:
        return None
    rows, columns = spec.shape[0], spec.shape[1]
    counts = tuple(scale.shape)
    while len(counts) > 1 and counts[-1] == 1:
        counts = counts[:-1]
    if counts in ((), (1,)):
        return rows, columns
    if len(counts) > 2 or (len(counts) == 2 and len(spec.shape) > 2) or scale.shape == counts[:1] != (rows,):
        return None
    down, across = _side(rows, counts[0]), _side(columns, counts[1]) if len(counts) == 2 else columns
    return (down, across) if down and across else None


def _side(size: int, count: int) -> int:
    """How many share each of `count` scales; 0 if that cannot be."""
    if count in (1, size):
        return size // count
    usual = next((block for block in _USUAL_BLOCKS if -(-size // block) == count), 0)
    return usual or (0 if not count or size % count else size // count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Reads weights of 8-bit floats with a scale for each row."""

    def decode(self, layer: str, format_: Format, parts: Mapping[str, Tensor]) -> dict[str, Tensor]:  # noqa: ARG002
        """Return the format's tensors."""
        return {"weight": parts["weight"], "weight_scale": parts["weight_scale"].float().reshape(-1, 1)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """Reads weights of 8 bits with scales of `rows` rows, or of blocks in these."""

    rows: int

    def decode(self, layer: str, format_: Format, parts: Mapping[str, Tensor]) -> dict[str, Tensor]:  # noqa: ARG002
        """Return the format's tensors: a row of scales for each row."""
        weight, scale = parts["weight"], parts["weight_scale"].float()
        scale = scale.reshape(-(-weight.shape[0] // self.rows), -1)
        return {"weight": weight, "weight_scale": scale.repeat_interleave(self.rows, dim=0)[: weight.shape[0]]}
