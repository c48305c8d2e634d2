"""Quantization policy: which layers of a network are quantized, and in which format.

Kept in full precision, as in several programs and papers: first and last projections, embeddings of timestep, size and
text that become modulation, and the ends of deep text encoders. Keys and values of cross-attention are computed once
per prompt and see a first token a hundred times larger than the others (MixDQ, arXiv 2405.17873): their weights are
quantized, but never their inputs.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mezzotint.errors import ModelRefused
from mezzotint.protocol import Scheme
from mezzotint.quantization.block_floats import Nvfp4
from mezzotint.quantization.codebook4 import Codebook4
from mezzotint.quantization.formats import Format, Int4, Int8, LowRank4, Nf4
from mezzotint.quantization.fp8 import Fp8
from mezzotint.quantization.rotation import best_group
from mezzotint.quantization.svdquant.format import SvdQuant

RANK = 32
_RANK_STEP = 16
_BRANCH_PAYS = 0.9
_LEAST_GROUP = 64  # of a rotation that ComfyUI reads with weights and inputs in 4 bits
_SHALLOW = 6  # text encoders with fewer layers have no ends to keep

_UNET = r"conv_in|conv_out|time_embedding\..*|add_embedding\..*|class_embedding\..*|.*\.time_emb_proj"
_PIXART = r"pos_embed\..*|adaln_single\..*|caption_projection\..*|proj_out"
_KEPT = {
    "UNet2DConditionModel": _UNET,
    "PixArtTransformer2DModel": _PIXART,
    "PixArtVariantTransformer2DModel": rf"{_PIXART}|detour\.score|condition\..*",
    "CLIPTextModel": r"",
    "CLIPTextModelWithProjection": r"text_projection",
    "T5EncoderModel": r"",
    "Gemma2Model": r"embed_tokens",
    "Qwen3Model": r"embed_tokens",
    "Qwen2_5_VLTextModel": r"embed_tokens",
    "Qwen2_5_VLModel": r"language_model\.embed_tokens|visual\.(?!blocks\.).*",
    "Qwen3VLTextModel": r"embed_tokens",
    "ImagePrompt": r".*",
    "ReduxPrompt": r".*",
}
_TRANSFORMER = "Transformer2DModel"  # suffix of classes whose blocks are in lists
_OUTSIDE_BLOCKS = r"(?!.*\.\d+\.).*"
_LAYER_OF_ENCODER = re.compile(r"(?:.*\.)?(?:layers|block)\.(\d+)\..*")
# Layers whose weights are quantized but not their inputs: text tokens, and the embedding of timestep and size.
_PLAIN_INPUTS = re.compile(r".*\.attn2\.to_[kv]|.*(modulation|_mod|norm\d?(_context)?\.linear)(\.\d+)?")
_OF_THE_IMAGE = {"SD3Transformer2DModel": re.compile(r".*\.attn2\.to_[kv]")}  # a second self-attention, by class


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerShape:
    """A quantizable layer: its name in the network and the shape of its weight."""

    name: str
    shape: tuple[int, ...]

    @property
    def is_convolution(self) -> bool:
        """Whether the layer is a convolution."""
        return len(self.shape) == 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The user's quantization settings for one network."""

    scheme: Scheme
    rotate: bool = True
    double: bool = True  # of NF4
    rank: int = RANK
    convolutions: bool = True
    int8_convolutions: bool = False  # with scheme int8: quantize those of 3x3 convolutions of U-Nets, too
    single_format: bool = False  # skip layers that the scheme does not fit, so that other programs can read the file


def can_quantize(class_name: str) -> bool:
    """Whether there is a quantization policy for this class of networks."""
    return _kept(class_name) is not None


def is_kept(class_name: str, layer: str) -> bool:
    """Whether the policy of this class keeps the layer in full precision; False for unknown classes."""
    kept = _kept(class_name)
    return kept is not None and re.fullmatch(kept, layer) is not None


def _kept(class_name: str) -> str | None:
    """Regex of layer names kept in full precision; None for unknown classes."""
    return _KEPT.get(class_name, _OUTSIDE_BLOCKS if class_name.endswith(_TRANSFORMER) else None)


def keeps_inputs(class_name: str, layer: str) -> bool:
    """Whether this layer's inputs are to stay in 16 bits: few of them decide much, and they cost little time."""
    return _is_encoder(class_name) or _PLAIN_INPUTS.fullmatch(layer) is not None


def formats_for(class_name: str, layers: tuple[LayerShape, ...], choice: Choice) -> Mapping[str, Format]:
    """Format of each layer to quantize, by name; raises ModelRefused if the scheme fits none."""
    if not can_quantize(class_name):
        known = ", ".join(_KEPT)
        raise ModelRefused(f"networks of the class {class_name} cannot be quantized; these can: {known}")
    formats = dict(_chosen(class_name, layers, choice))
    own = [name for name, chosen in formats.items() if chosen.scheme == choice.scheme]
    if not own:
        raise ModelRefused(
            f"no layer of {class_name} can be quantized to {choice.scheme}: they are too small, or their sizes are not "
            "multiples of its block size; try int8"
        )
    return formats


def _chosen(class_name: str, layers: tuple[LayerShape, ...], choice: Choice) -> Iterator[tuple[str, Format]]:
    kept = re.compile(_kept(class_name) or "")
    depth = max((number for layer in layers if (number := _number(layer.name)) is not None), default=0) + 1
    for layer in layers:
        if kept.fullmatch(layer.name) or (_is_encoder(class_name) and _is_end(layer.name, depth)):
            continue
        if layer.is_convolution and not choice.convolutions:
            continue
        chosen = _first_that_fits(layer, choice, plain_input=_has_plain_input(class_name, layer.name))
        if chosen is not None:
            yield layer.name, chosen


def _has_plain_input(class_name: str, layer: str) -> bool:
    """Whether the layer's input is never quantized."""
    image = _OF_THE_IMAGE.get(class_name)
    return _PLAIN_INPUTS.fullmatch(layer) is not None and (image is None or image.fullmatch(layer) is None)


def _first_that_fits(layer: LayerShape, choice: Choice, *, plain_input: bool) -> Format | None:
    candidates = _candidates(layer, choice, plain_input=plain_input)
    return next((each for each in candidates if each.shape_problem(layer.shape) is None), None)


def _candidates(layer: LayerShape, choice: Choice, *, plain_input: bool) -> Iterator[Format]:
    """Candidate formats, from the best for the scheme to one that always fits."""
    if choice.single_format:
        native = _native_format(layer, choice)
        if not isinstance(native, Int4) or native.group >= _LEAST_GROUP:
            yield native
        return
    if layer.is_convolution:
        pixels = choice.int8_convolutions and choice.scheme == "int8"
        yield from (Int8(dynamic=False, pixels=pixels), Int8(dynamic=False))
        return
    group = best_group(layer.shape[1]) if choice.rotate else 0
    dynamic = choice.scheme != "int8-weight" and not plain_input
    if choice.scheme == "int4":
        yield Nf4(double=choice.double)
    if choice.scheme in ("int4-lowrank", "svdquant"):
        yield from _worth_their_branch(layer, choice, group, dynamic=dynamic)
    if choice.scheme == "int4-rot":
        yield Int4(dynamic=dynamic, group=group)
    if choice.scheme == "int4-codebook":
        yield Codebook4(dynamic=dynamic, group=group)
    if choice.scheme == "nvfp4":
        yield Nvfp4(dynamic=dynamic)
    if choice.scheme == "fp8":
        yield Fp8(by_rows=True, inputs="quantized" if dynamic else "kept")
    yield Int8(dynamic=dynamic, group=group)


def _worth_their_branch(layer: LayerShape, choice: Choice, group: int, *, dynamic: bool) -> Iterator[Format]:
    """Low-rank formats that are smaller than 8 bits, from the largest rank down in steps that the kernels support."""
    most = _BRANCH_PAYS * sum(each.bytes for each in Int8(dynamic=True).part_specs(layer.shape).values())
    kind = SvdQuant if choice.scheme == "svdquant" else LowRank4
    for rank in range(choice.rank, 0, -_RANK_STEP):
        tried = kind(rank=rank, group=group, dynamic=dynamic)
        if (
            tried.shape_problem(layer.shape) is None
            and sum(each.bytes for each in tried.part_specs(layer.shape).values()) <= most
        ):
            yield tried


def _native_format(layer: LayerShape, choice: Choice) -> Format:
    """The scheme's native format."""
    group = best_group(layer.shape[1]) if choice.rotate else 0
    if choice.scheme == "int4":
        return Nf4(double=choice.double)
    if choice.scheme == "int4-lowrank":
        return LowRank4(rank=choice.rank, group=group)
    if choice.scheme == "svdquant":
        return SvdQuant(rank=choice.rank, group=group)
    if choice.scheme == "int4-rot":
        return Int4(dynamic=True, group=group)
    if choice.scheme == "int4-codebook":
        return Codebook4(group=group)
    if choice.scheme == "fp8":
        return Fp8(inputs="either")
    if choice.scheme == "nvfp4":
        return Nvfp4()
    return Int8(dynamic=choice.scheme == "int8", group=group)


def _is_encoder(class_name: str) -> bool:
    return class_name.startswith(("CLIP", "Gemma", "T5", "Qwen"))


def _is_end(name: str, depth: int) -> bool:
    number = _number(name)
    return depth >= _SHALLOW and number is not None and number in {0, depth - 1}


def _number(name: str) -> int | None:
    found = _LAYER_OF_ENCODER.fullmatch(name)
    return None if found is None else int(found[1])
