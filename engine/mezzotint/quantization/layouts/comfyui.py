"""ComfyUI's layout: `weight`, `weight_scale`, `comfy_quant`; int8_tensorwise with or without ConvRot, convrot_w4a4.

convrot_w4a4 and asym_w4a8_int8 have two numbers of 4 bits in a byte, the even column in the low half, in tensors that
are called I8. The latter's scales are `weight_s_rel`, of groups, and `weight_s_channel`, of rows.

Block scales (mxfp8, nvfp4) are tiled, and nvfp4 has an additional per-tensor scale in `weight_scale_2`: see
comfy-kitchen 0.2, tensor/mxfp8.py and tensor/nvfp4.py.

Rows may share a scale (which is then expanded) or have one each. `full_precision_matrix_mult` means that only the
weight is quantized. Files may instead describe all layers at once, in `_quantization_metadata`.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor

from mezzotint.checkpoints.strict_json import parse_json_object
from mezzotint.errors import ModelRefused
from mezzotint.quantization.block_floats import MX_BLOCK, NV_BLOCK, Mxfp8, Nvfp4, tiled, tiled_size, untiled
from mezzotint.quantization.codebook4 import CODES, GROUP, Codebook4
from mezzotint.quantization.formats import Format, Int4, Int8
from mezzotint.quantization.fp8 import Fp8, Inputs, decoded
from mezzotint.quantization.layouts.layout import Parsed, Specs, flag, invalid_description, spec_of, to_byte_tensor
from mezzotint.quantization.rotation import GROUPS

FORMAT = "int8_tensorwise"
INT4_FORMAT = "convrot_w4a4"
CODEBOOK_FORMAT = "asym_w4a8_int8"
FP8_FORMAT = "float8_e4m3fn"
_BLOCK_FORMATS: Mapping[object, Mxfp8 | Nvfp4] = {"mxfp8": Mxfp8(), "nvfp4": Nvfp4()}
_BYTES = ("U8", "F8_E8M0")  # dtypes of exponents
_PIXELS = "quantize_pixels"  # our own key, of convolutions, which the others' files do not have in 8 bits
_METADATA = "_quantization_metadata"
_CODEBOOK_NAMES = {
    "weight": "weight",
    "weight_scale": "weight_s_channel",
    "weight_group_scale": "weight_s_rel",
    "weight_codebook": "weight_codebook",
}
_SCALE_DTYPE = torch.float8_e4m3fn  # of blocks of nvfp4
_VERSION = "1.0"
_USUAL_GROUP = 256
_PACKED = ("I8", "U8")  # dtypes of pairs of 4-bit numbers
_NOT_A_NUMBER = 255  # NaN as an E8M0 exponent


class ComfyUiLayout:
    """Layout of Int8, Int4, Codebook4, Fp8, Mxfp8 and Nvfp4 layers."""

    suffix = ".comfy_quant"

    def parse(self, layer: str, description: Mapping[str, object], tensors: Specs) -> Parsed:
        """Parse a layer's description; raises ModelRefused if it is invalid."""
        if description.get("format") == FP8_FORMAT:
            kept = flag(layer, description, "full_precision_matrix_mult")
            return fp8_layer(layer, f"{layer}.weight_scale", tensors, inputs="kept" if kept else "either")
        if isinstance(name := description.get("format"), str) and name in _BLOCK_FORMATS:
            return _block_layer(layer, _BLOCK_FORMATS[name], description, tensors)
        if name == INT4_FORMAT:
            return _int4_layer(layer, description, tensors)
        if name == CODEBOOK_FORMAT:
            return _codebook_layer(layer, description, tensors)
        if name != FORMAT:
            known = (FORMAT, INT4_FORMAT, CODEBOOK_FORMAT, FP8_FORMAT, *map(str, _BLOCK_FORMATS))
            raise invalid_description(layer, "format", name, ", ".join(known))
        group = _rotated(layer, description) if flag(layer, description, "convrot") else 0
        names = {"weight": f"{layer}.weight", "weight_scale": f"{layer}.weight_scale"}
        weight, scale = (spec_of(layer, each, tensors) for each in names.values())
        rows = weight.shape[0] if weight.shape else 0
        if weight.dtype != "I8" or len(weight.shape) not in {2, 4}:
            raise invalid_description(layer, "weight", f"{weight.dtype} {weight.shape}", "I8 of 2 or 4 dimensions")
        if scale.shape not in {(), (1,), (1, 1), (rows,), (rows, 1)}:
            raise invalid_description(layer, "weight_scale shape", scale.shape, f"{(rows, 1)} or a single number")
        dynamic = not flag(layer, description, "full_precision_matrix_mult") and len(weight.shape) == 2
        format_ = Int8(dynamic=dynamic, group=group, pixels=flag(layer, description, _PIXELS))
        return Parsed(format=format_, shape=weight.shape, names=names)

    def decode(self, layer: str, format_: Format, parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the format's tensors."""
        if isinstance(format_, Fp8):
            return decoded(parts)
        if isinstance(format_, Mxfp8):
            return _decoded_mxfp8(layer, parts)
        if isinstance(format_, Nvfp4):
            return _decoded_nvfp4(parts)
        if isinstance(format_, Codebook4):
            return _decoded_codebook(parts)
        weight, scale = parts["weight"], parts["weight_scale"]
        if not scale.is_floating_point():
            raise invalid_description(layer, "weight_scale dtype", scale.dtype, "floating point")
        if isinstance(format_, Int4):
            weight = weight.view(torch.uint8)
        return {"weight": weight, "weight_scale": scale.float().reshape(-1, 1).expand(weight.shape[0], 1).contiguous()}

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
        if isinstance(format_, Int4):
            packed, scale = tensors["weight"].view(torch.int8), tensors["weight_scale"].flatten()
            encoded |= {f"{layer}.weight": packed, f"{layer}.weight_scale": scale}
        if isinstance(format_, Codebook4):
            encoded = {f"{layer}.{_CODEBOOK_NAMES[name]}": tensor for name, tensor in tensors.items()}
            encoded[f"{layer}.weight"] = tensors["weight"].view(torch.int8)
            encoded[f"{layer}.weight_s_channel"] = tensors["weight_scale"].flatten()
        if isinstance(format_, Nvfp4):
            encoded[f"{layer}.weight_scale"] = tiled(tensors["weight_scale"].view(torch.uint8)).view(_SCALE_DTYPE)
            encoded[f"{layer}.weight_scale_2"] = tensors["weight_scale_2"].reshape(())
        return {**encoded, layer + self.suffix: to_byte_tensor(json.dumps(description_of(format_)))}


def fp8_layer(layer: str, scale: str | None, tensors: Specs, inputs: Inputs = "either") -> Parsed:
    """Parse a layer of 8-bit floats; `scale` names its scale tensor, if any. Raises ModelRefused if it is invalid.

    A scale that the file has for inputs is not used: kernels give each row of them its own.
    """
    weight = spec_of(layer, f"{layer}.weight", tensors)
    if weight.dtype != "F8_E4M3" or len(weight.shape) != 2:
        raise invalid_description(layer, "weight", f"{weight.dtype} {weight.shape}", "F8_E4M3 of 2 dimensions")
    names = {"weight": f"{layer}.weight"}
    if scale is not None:
        if (found := spec_of(layer, scale, tensors)).shape not in {(), (1,), (1, 1)}:
            raise invalid_description(layer, "scale shape", found.shape, "a single number")
        names["weight_scale"] = scale
    return Parsed(format=Fp8(inputs=inputs), shape=weight.shape, names=names)


def _int4_layer(layer: str, description: Mapping[str, object], tensors: Specs) -> Parsed:
    """Parse a layer of convrot_w4a4; raises ModelRefused if it is invalid.

    If its inputs are to have 8 bits (`linear_dtype`), they keep 16 here.
    """
    inputs = description.get("linear_dtype", "int4")
    if inputs not in ("int4", "int8"):
        raise invalid_description(layer, "linear_dtype", inputs, "int4 or int8")
    group = _rotated(layer, description)
    names = {"weight": f"{layer}.weight", "weight_scale": f"{layer}.weight_scale"}
    scale = spec_of(layer, names["weight_scale"], tensors)
    rows, pairs = _packed_shape(layer, tensors)
    if scale.shape not in {(rows,), (rows, 1)}:
        raise invalid_description(layer, "weight_scale shape", scale.shape, f"{(rows,)} or {(rows, 1)}")
    dynamic = inputs == "int4" and not flag(layer, description, "full_precision_matrix_mult")
    return Parsed(format=Int4(dynamic=dynamic, group=group), shape=(rows, 2 * pairs), names=names)


def _codebook_layer(layer: str, description: Mapping[str, object], tensors: Specs) -> Parsed:
    """Parse a layer of asym_w4a8_int8; raises ModelRefused if it is invalid."""
    if (size := description.get("group_size", GROUP)) != GROUP or type(size) is not int:
        raise invalid_description(layer, "group_size", size, str(GROUP))
    if (more := f"{layer}.weight_correction") in tensors:
        raise invalid_description(layer, "weight_correction", tensors[more].shape, "codebooks without corrections")
    group = _rotated(layer, description) if "convrot" not in description or flag(layer, description, "convrot") else 0
    names = {ours: f"{layer}.{theirs}" for ours, theirs in _CODEBOOK_NAMES.items()}
    rows, pairs = _packed_shape(layer, tensors)
    known: dict[str, tuple[tuple[tuple[int, ...], ...], tuple[str, ...]]] = {
        "weight_scale": (((rows,), (rows, 1)), ("F32",)),
        "weight_group_scale": (((rows, 2 * pairs // GROUP),), ("F8_E4M3", "U8")),
        "weight_codebook": (((CODES,),), ("F32",)),
    }
    for part, (shapes, dtypes) in known.items():
        found = spec_of(layer, names[part], tensors)
        if found.shape not in shapes or found.dtype not in dtypes:
            wanted = f"{dtypes[0]} {shapes[0]}"
            raise invalid_description(layer, _CODEBOOK_NAMES[part], f"{found.dtype} {found.shape}", wanted)
    dynamic = not flag(layer, description, "full_precision_matrix_mult")
    return Parsed(format=Codebook4(dynamic=dynamic, group=group), shape=(rows, 2 * pairs), names=names)


def _packed_shape(layer: str, tensors: Specs) -> tuple[int, int]:
    """Rows and bytes of a weight with two numbers to a byte."""
    weight = spec_of(layer, f"{layer}.weight", tensors)
    if weight.dtype not in _PACKED or len(weight.shape) != 2:
        raise invalid_description(layer, "weight", f"{weight.dtype} {weight.shape}", "I8 or U8 of 2 dimensions")
    return weight.shape[0], weight.shape[1]


def _rotated(layer: str, description: Mapping[str, object]) -> int:
    """Columns that are rotated together."""
    group = description.get("convrot_groupsize", _USUAL_GROUP)
    if type(group) is not int or group not in (0, *GROUPS):
        raise invalid_description(layer, "convrot_groupsize", group, f"0 or one of {', '.join(map(str, GROUPS))}")
    return group


def _block_layer(layer: str, format_: Mxfp8 | Nvfp4, description: Mapping[str, object], tensors: Specs) -> Parsed:
    """Parse a layer with block scales; raises ModelRefused if it is invalid."""
    if flag(layer, description, "convrot"):
        raise invalid_description(layer, "convrot", description["convrot"], f"{format_.scheme} without rotation")
    part = "weight_scale" if isinstance(format_, Nvfp4) else "weight_exponent"
    names = {"weight": f"{layer}.weight", part: f"{layer}.weight_scale"}
    weight, scale = (spec_of(layer, name, tensors) for name in names.values())
    packed, block, scales = (2, NV_BLOCK, ("F8_E4M3",)) if isinstance(format_, Nvfp4) else (1, MX_BLOCK, _BYTES)
    dtype = "U8" if packed == 2 else "F8_E4M3"
    if weight.dtype != dtype or len(weight.shape) != 2:
        raise invalid_description(layer, "weight", f"{weight.dtype} {weight.shape}", f"{dtype} of 2 dimensions")
    shape = (weight.shape[0], weight.shape[1] * packed)
    wanted = tiled_size(shape[0], shape[1] // block)
    if scale.dtype not in scales or math.prod(scale.shape) != wanted:
        raise invalid_description(layer, "weight_scale", f"{scale.dtype} {scale.shape}", f"{wanted} of {scales[0]}")
    if isinstance(format_, Nvfp4):
        names["weight_scale_2"] = f"{layer}.weight_scale_2"
        if (found := spec_of(layer, names["weight_scale_2"], tensors)).shape not in {(), (1,)}:
            raise invalid_description(layer, "weight_scale_2 shape", found.shape, "a single number")
    dynamic = not flag(layer, description, "full_precision_matrix_mult")
    return Parsed(format=replace(format_, dynamic=dynamic), shape=shape, names=names)


def _decoded_mxfp8(layer: str, parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
    rows, columns = parts["weight"].shape
    exponent = untiled(parts["weight_exponent"].view(torch.uint8), rows, columns // MX_BLOCK)
    if bool((exponent == _NOT_A_NUMBER).any()):
        raise invalid_description(layer, "block exponent", _NOT_A_NUMBER, "0 to 254")
    return {"weight": parts["weight"], "weight_exponent": exponent}


def _decoded_nvfp4(parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
    rows, pairs = parts["weight"].shape
    scale = untiled(parts["weight_scale"], rows, 2 * pairs // NV_BLOCK)
    whole = parts["weight_scale_2"].float().reshape(1)
    return {"weight": parts["weight"], "weight_scale": scale, "weight_scale_2": whole}


def _decoded_codebook(parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {
        "weight": parts["weight"].view(torch.uint8),
        "weight_scale": parts["weight_scale"].reshape(-1, 1),
        "weight_group_scale": parts["weight_group_scale"].view(torch.float8_e4m3fn),
        "weight_codebook": parts["weight_codebook"],
    }


def description_of(format_: Format) -> dict[str, object]:
    """Return a layer's description as stored in files."""
    if isinstance(format_, Fp8):
        return {"format": FP8_FORMAT, **({"full_precision_matrix_mult": True} if format_.inputs == "kept" else {})}
    if isinstance(format_, Int4):
        return {"format": INT4_FORMAT, "convrot_groupsize": format_.group, **_plain(format_)}
    if isinstance(format_, Codebook4):
        return {"format": CODEBOOK_FORMAT, "group_size": GROUP, **_rotation(format_.group), **_plain(format_)}
    if isinstance(format_, Nvfp4):
        return {"format": format_.scheme, **_plain(format_)}
    if not isinstance(format_, Int8):
        raise TypeError(f"ComfyUI has no format for {format_}")
    rotation = _rotation(format_.group) if format_.group else {}
    return {"format": FORMAT, **rotation, **_plain(format_), **({_PIXELS: True} if format_.pixels else {})}


def _rotation(group: int) -> dict[str, object]:
    return {"convrot": bool(group), "convrot_groupsize": group or _USUAL_GROUP}


def _plain(format_: Int8 | Int4 | Codebook4 | Nvfp4) -> dict[str, object]:
    return {} if format_.dynamic else {"full_precision_matrix_mult": True}


def to_metadata(layers: Mapping[str, Format]) -> dict[str, str]:
    """Return the file metadata that describes all layers."""
    if not layers:
        return {}
    descriptions = {name: description_of(format_) for name, format_ in layers.items()}
    return {_METADATA: json.dumps({"format_version": _VERSION, "layers": descriptions})}


def from_metadata(metadata: Mapping[str, str]) -> dict[str, Mapping[str, object]]:
    """Return the layer descriptions in a file's metadata, by layer name; raises ModelRefused if they are damaged."""
    if _METADATA not in metadata:
        return {}
    whole = parse_json_object(metadata[_METADATA].encode(), _METADATA)
    layers = whole.get("layers", {})
    if not isinstance(layers, dict) or not all(isinstance(each, dict) for each in layers.values()):
        raise ModelRefused(f"{_METADATA} lists no layers; the file is damaged")
    return layers
