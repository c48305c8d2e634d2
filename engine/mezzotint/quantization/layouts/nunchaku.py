"""Nunchaku's layout: layers of SVDQuant in INT4, and of AWQ for modulation; put into our order as they are read.

A layer `m` has its weight in `m.qweight`; docs/decisions/0007-nunchaku-files.md has the orders of all tensors. In
FLUX.1's files, `out_proj` and `mlp_fc2` of a single-stream block are columns of the network's `proj_out`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused
from mezzotint.quantization.formats import Format
from mezzotint.quantization.gguf_blocks import GgufBlocks
from mezzotint.quantization.int4 import GROUP
from mezzotint.quantization.layouts.layout import Decoder, Parsed, Specs, invalid_description, spec_of
from mezzotint.quantization.svdquant.format import SvdQuant

PACKED, MARK = ".qweight", ".wscales"  # ends of the names of a layer's codes and scales
BIAS = "bias"  # key of a layer's bias among its decoded tensors
SHIFT = 0.171875  # which Nunchaku adds to what is multiplied after a GELU, to round it to codes without a sign
_NAMES = "|".join(
    (
        r"(?:single_)?transformer_blocks\.\d+\.(?:qkv_proj|out_proj|mlp_fc[12]|norm\.linear)",  # of FLUX.1
        r"transformer_blocks\.\d+\.(?:(?:qkv|out)_proj_context|mlp_context_fc[12]|norm1(?:_context)?\.linear)",
        r"transformer_blocks\.\d+\.attn\.(?:to_qkv|add_qkv_proj|to_out\.0|to_add_out)",  # of Qwen-Image
        r"transformer_blocks\.\d+\.(?:img|txt)_(?:mlp\.net\.(?:0\.proj|2)|mod\.1)",
        r"(?:layers|(?:noise|context)_refiner)\.\d+\.attention\.to_(?:qkv|out\.0)",  # of Z-Image
        r"(?:layers|(?:noise|context)_refiner)\.\d+\.feed_forward\.net\.(?:0\.proj|2)",
    )
)
_LAYER = re.compile(rf"(?:.+\.)?(?:{_NAMES})\.qweight")
_JOINED = re.compile(r"((?:.+\.)?single_transformer_blocks\.\d+)\.(?:out_proj|mlp_fc2)")
_AFTER_GELU = re.compile(r".+\.(?:mlp_(?:context_)?fc2|(?:img|txt)_mlp\.net\.2)")
_MODULATION = re.compile(r".+\.(?:norm1(?:_context)?\.linear|norm\.linear|(?:img|txt)_mod\.1)")
_PARTS = {  # and what files of Qwen-Image and Z-Image call them
    "wscales": "wscales",
    "smooth": "smooth_factor",
    "lora_down": "proj_down",
    "lora_up": "proj_up",
    BIAS: BIAS,
}
_FIRST = "first_"  # before the parts of the first of two layers that are one
_FLOATS = ("F16", "BF16")
_TILE, _RANK_STEP, _LARGEST_RANK = 128, 16, 4096
_ROWS = 256  # of a weight that are unpacked at a time
_ENTRY = re.compile(r"(?:^|\.)x_embedder\.weight$")


def why_unreadable(tensors: Specs) -> str | None:
    """What of Nunchaku's cannot be read, and what to do; None if all can."""
    fp4 = next((name for name, spec in tensors.items() if name.endswith(MARK) and spec.dtype == "F8_E4M3"), None)
    fp4 = fp4 or next((name for name in tensors if name.endswith((".wtscale", ".wcscales"))), None)
    if fp4 is not None:
        return (
            f"layers of Nunchaku (SVDQuant) in FP4, such as {plain(fp4, 100)}, cannot be read, only those in INT4; get "
            "the model's file whose name begins with svdq-int4, or the model in fp8, as a GGUF or in 16 bits"
        )
    unknown = next((name for name in tensors if name.endswith(PACKED) and not _LAYER.fullmatch(name)), None)
    if unknown is not None:
        return (
            f"4-bit layers of Nunchaku (SVDQuant), such as {plain(unknown, 100)}, can be read of FLUX.1, Qwen-Image "
            "and Z-Image only; get the model in fp8, as a GGUF or in 16 bits"
        )
    if any("single_transformer_blocks." in name for name in tensors) and not any(map(_ENTRY.search, tensors)):
        return (
            "the blocks of FLUX.1 by Nunchaku (SVDQuant) without the rest of the network; get the model in one file, "
            "such as svdq-int4_r32-flux.1-dev.safetensors, or in fp8, as a GGUF or in 16 bits"
        )
    return None


def nunchaku_layers(tensors: Specs) -> Iterator[tuple[str, Parsed, Decoder]]:
    """The layers, by the names that they have or make up; raises ModelRefused, naming the layer, if one is invalid."""
    for name in tensors:
        if not _LAYER.fullmatch(name):
            continue
        layer = name.removesuffix(PACKED)
        joined, after_gelu = _JOINED.fullmatch(layer), _AFTER_GELU.fullmatch(layer) is not None
        if _MODULATION.fullmatch(layer):
            chunks = 3 if layer.endswith(".norm.linear") else 6
            yield layer, _modulation(layer, chunks, tensors), Modulation(chunks=chunks)
        elif joined is None:
            yield layer, _product({"": layer}, tensors, dynamic=not after_gelu), Product(after_gelu=after_gelu)
        elif after_gelu:
            both = {_FIRST: f"{joined[1]}.out_proj", "": layer}
            yield f"{joined[1]}.proj_out", _product(both, tensors, dynamic=False), Product(after_gelu=True)


def _product(layers: Mapping[str, str], tensors: Specs, *, dynamic: bool) -> Parsed:
    """Parse the layers that make up one, side by side, by the prefix of their parts."""
    sides = [_sides(layer, tensors) for layer in layers.values()]
    if len({n for n, _, _ in sides}) > 1:
        raise invalid_description(layers[""], "rows", sides[-1][0], f"{sides[0][0]}, as its neighbour has")
    names: dict[str, str] = {}
    for prefix, layer in layers.items():
        named = {part: _named(layer, part, tensors) for part in _PARTS}
        names |= {prefix + part: name for part, name in named.items() if name in tensors}
        names[f"{prefix}weight"] = layer + PACKED
    format_ = SvdQuant(rank=sum(rank for _, _, rank in sides), dynamic=dynamic)
    return Parsed(format=format_, shape=(sides[0][0], sum(k for _, k, _ in sides)), names=names)


def _sides(layer: str, tensors: Specs) -> tuple[int, int, int]:
    """Rows, columns and rank of a layer of SVDQuant; raises ModelRefused if its tensors do not fit each other."""
    packed, down = (spec_of(layer, _named(layer, part, tensors), tensors) for part in ("qweight", "lora_down"))
    n, k = _whole_tiles(layer, packed.dtype, packed.shape)
    rank = down.shape[1] if len(down.shape) == 2 else 0
    if not 0 < rank <= _LARGEST_RANK or rank % _RANK_STEP:
        raise invalid_description(layer, "lora_down", down.shape, f"{k} rows and a multiple of {_RANK_STEP} columns")
    wanted = {"wscales": (k // GROUP, n), "smooth": (k,), "lora_down": (k, rank), "lora_up": (n, rank), BIAS: (n,)}
    _check_floats(layer, wanted, tensors)
    return n, k, rank


def _named(layer: str, part: str, tensors: Specs) -> str:
    """The name of a layer's tensor, which has one of two."""
    other = f"{layer}.{_PARTS.get(part, part)}"
    return other if other in tensors else f"{layer}.{part}"


def _whole_tiles(layer: str, dtype: str, shape: tuple[int, ...]) -> tuple[int, int]:
    n, k = (shape[0], 2 * shape[1]) if len(shape) == 2 else (0, 0)
    if dtype != "I8" or not n or not k or n % _TILE or k % _TILE:
        wanted = f"I8 with a multiple of {_TILE} rows and of {_TILE // 2} columns"
        raise invalid_description(layer, "qweight", f"{dtype} {shape}", wanted)
    return n, k


def _modulation(layer: str, chunks: int, tensors: Specs) -> Parsed:
    """Parse a layer of AWQ; raises ModelRefused if its tensors do not fit each other."""
    packed = spec_of(layer, layer + PACKED, tensors)
    n, k = (4 * packed.shape[0], 2 * packed.shape[1]) if len(packed.shape) == 2 else (0, 0)
    if packed.dtype != "I32" or not n or not k or n % (4 * chunks) or k % GROUP:
        wanted = f"I32 with a multiple of {chunks} rows and of {GROUP // 2} columns"
        raise invalid_description(layer, "qweight", f"{packed.dtype} {packed.shape}", wanted)
    wanted_floats = {"wscales": (k // GROUP, n), "wzeros": (k // GROUP, n), BIAS: (n,)}
    _check_floats(layer, wanted_floats, tensors)
    names = {part: f"{layer}.{part}" for part in wanted_floats if f"{layer}.{part}" in tensors}
    return Parsed(format=GgufBlocks(kind="Q4_1"), shape=(n, k), names=names | {"weight": layer + PACKED})


def _check_floats(layer: str, wanted: Mapping[str, tuple[int, ...]], tensors: Specs) -> None:
    for part, shape in wanted.items():
        name = _named(layer, part, tensors)
        if part == BIAS and name not in tensors:
            continue
        found = spec_of(layer, name, tensors)
        if found.dtype not in _FLOATS or found.shape != shape:
            raise invalid_description(layer, part, f"{found.dtype} {found.shape}", f"F16 or BF16 {shape}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """Reads a layer of SVDQuant, or two that are one; without what Nunchaku adds after a GELU."""

    after_gelu: bool

    def decode(self, layer: str, format_: Format, parts: Mapping[str, Tensor]) -> dict[str, Tensor]:  # noqa: ARG002
        """Return the format's tensors, and the bias if there is one."""
        first = {part.removeprefix(_FIRST): each for part, each in parts.items() if part.startswith(_FIRST)}
        pieces = [*([_piece(first)] if first else []), _piece(parts)]
        biases = [each.pop(BIAS) for each in pieces if BIAS in each]
        if self.after_gelu:
            biases.append(_of_shift(pieces[-1]))
        sides = {"weight": 1, "weight_scale": 0, "weight_smooth": 0, "weight_up": 1}
        whole = {name: torch.cat([each[name] for each in pieces], dim) for name, dim in sides.items()}
        downs = [each["weight_down"] for each in pieces]
        whole["weight_down"] = torch.block_diag(*downs)  # type: ignore[no-untyped-call]
        return whole | ({BIAS: torch.stack(biases).sum(dim=0)} if biases else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Modulation:
    """Reads a layer of AWQ, whose rows are those of the network's `chunks` in turn, with 1 added to scales' biases."""

    chunks: int

    def decode(self, layer: str, format_: Format, parts: Mapping[str, Tensor]) -> dict[str, Tensor]:  # noqa: ARG002
        """Return the blocks, and the bias if there is one; raises ModelRefused for numbers that are none."""
        scales = [parts[part].t().half() for part in ("wscales", "wzeros")]
        if not all(bool(each.isfinite().all()) for each in scales):
            raise ModelRefused(f"the quantized layer {plain(layer, 200)}: its scales contain NaN or infinity")
        halves = [each.repeat_interleave(2, 1)[..., None].view(torch.uint8) for each in scales]  # of groups
        blocks = torch.cat([*halves, _blocks_of_32(parts["weight"])], dim=2).flatten(1)
        tensors = {"weight": self._in_chunks(blocks)}
        if BIAS in parts:
            bias = self._in_chunks(parts[BIAS].float()).view(self.chunks, -1)
            bias[[1, -2] if self.chunks > 3 else [1]] -= 1
            tensors[BIAS] = bias.flatten()
        return tensors

    def _in_chunks(self, rows: Tensor) -> Tensor:
        return rows.view(-1, self.chunks, *rows.shape[1:]).transpose(0, 1).flatten(0, 1)


def _piece(parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The format's tensors of one of Nunchaku's layers, and its bias."""
    n, tensors = parts["weight"].shape[0], {}
    if BIAS in parts:
        tensors[BIAS] = _groups(parts[BIAS], n).flatten().float()
    return tensors | {
        "weight": _codes(parts["weight"]),
        "weight_scale": _groups(parts["wscales"], n).half(),
        "weight_smooth": _groups(parts["smooth"], parts["smooth"].shape[0]).flatten().float().reciprocal(),
        "weight_down": _branch(parts["lora_down"]).permute(1, 4, 2, 0, 5, 3, 6).reshape(-1, len(parts["lora_down"])),
        "weight_up": _branch(parts["lora_up"]).permute(0, 4, 2, 1, 5, 3, 6).reshape(n, -1),
    }


def _codes(packed: Tensor) -> Tensor:
    """Codes `(n, k / 2)`, two in a byte: words of 8 columns are moved as wholes."""
    n, half = packed.shape
    words = packed.contiguous().view(torch.int32).view(n // _TILE, 2 * half // GROUP, 8, 8, 4, 2, 2)
    return words.permute(0, 2, 5, 3, 1, 6, 4).reshape(n, -1).view(torch.uint8)


def _groups(numbers: Tensor, rows: int) -> Tensor:
    """Numbers `(groups, rows)`."""
    tiles = numbers.reshape(rows // _TILE, -1, 8, 4, 2, 2)
    return tiles.permute(1, 0, 2, 4, 3, 5).reshape(-1, rows)


def _branch(factor: Tensor) -> Tensor:
    """A factor `(rows, rank)` of the low-rank branch in float16, with an axis for each level of its order."""
    rows, rank = factor.shape
    return factor.half().view(rows // 16, rank // 16, 8, 4, 2, 2, 2)


def _blocks_of_32(packed: Tensor) -> Tensor:
    """AWQ's codes as Q4_1 has them: `(n, k / 32, 16)` bytes, with column i and i + 16 of 32 in byte i."""
    n, k = 4 * packed.shape[0], 2 * packed.shape[1]
    pairs = packed.contiguous().view(torch.uint8).view(n // 4, k // GROUP, 4, 2, 8, 2)
    low, high = pairs.transpose(1, 2).reshape(n, k // 32, 8, 2).unbind(dim=3)  # columns c, c + 8; c + 16, c + 24
    return torch.cat([low & 15 | high << 4, low >> 4 | high & 0xF0], dim=2)


def _of_shift(piece: Mapping[str, Tensor]) -> Tensor:
    """What a constant `SHIFT` in all inputs adds to the outputs `(n)` of the quantized part."""
    smooth, count = piece["weight_smooth"].view(-1, GROUP // 2, 2), -(-len(piece["weight"]) // _ROWS)
    rows = zip(piece["weight"].chunk(count), piece["weight_scale"].chunk(count, dim=1), strict=True)
    sums = [(_sums(codes.view(torch.int8), smooth) * scale.t().float()).sum(dim=1) for codes, scale in rows]
    return torch.cat(sums) * SHIFT


def _sums(packed: Tensor, factors: Tensor) -> Tensor:
    """Codes in pairs `(n, k / 2)` times factors `(k / 64, 32, 2)`, added up by groups of columns: `(n, k / 64)`."""
    even, odd = ((half >> 4).view(len(packed), *factors.shape[:2]).float() for half in (packed << 4, packed))
    sums = torch.einsum("ngc,gc->ng", even, factors[..., 0])
    return sums + torch.einsum("ngc,gc->ng", odd, factors[..., 1])
