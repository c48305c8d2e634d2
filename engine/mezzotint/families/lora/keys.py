"""Parses the tensor names of LoRAs from any program: the layer that they are for, and the part that they are.

kohya joins a layer's path with underscores; diffusers and peft keep its dots. Both are normalized to underscores, which
is still unique within a network.
"""

import re
from dataclasses import dataclass
from typing import Literal, get_args

from mezzotint.families.loading.original_names import UNET, Layout, place

Place = Literal["denoiser", "text_encoder", "text_encoder_2", "text_encoder_3"]
LoraPart = Literal["down", "up", "mid"]
LohaPart = Literal["hada_w1_a", "hada_w1_b", "hada_t1", "hada_w2_a", "hada_w2_b", "hada_t2"]
LokrPart = Literal["lokr_w1", "lokr_w1_a", "lokr_w1_b", "lokr_w2", "lokr_w2_a", "lokr_w2_b", "lokr_t2"]
DoraPart = Literal["magnitude", "dora_scale"]  # of each output in peft's files; of each output or input in LyCORIS's
OftPart = Literal["oft_blocks", "oft_diag", "rescale", "oft_R", "scaled_oft"]
DiffPart = Literal["diff", "diff_b", "w_norm", "b_norm"]  # whole differences of weights and biases
Part = LoraPart | LohaPart | LokrPart | DoraPart | OftPart | DiffPart | Literal["alpha", "bias"]
DIFFERENCES: tuple[DiffPart, ...] = get_args(DiffPart)

_PARTS: dict[str, Part] = {
    **{part: part for kind in (LoraPart, LohaPart, LokrPart, OftPart, DiffPart) for part in get_args(kind)},
    "A": "down",
    "B": "up",
}
_FACTOR = re.compile(
    r"(?P<layer>.+?)[._]lora(?:_linear_layer)?[._](?P<part>down|up|mid|A|B)(?:\.default(?:_\d+)?)?\.weight"
)
_LYCORIS = re.compile(r"(?P<layer>.+?)\.(?P<part>hada_(?:w[12]_[ab]|t[12])|lokr_(?:w[12](?:_[ab])?|t2))(?:\.default)?")
_OFT = re.compile(
    r"(?P<layer>.+?)(?:\.oft_R(?:\.default)?(?=\.scaled_oft))?"
    r"\.(?P<part>oft_blocks|oft_diag|rescale|oft_R|scaled_oft)(?:\.default(?:_\d+)?)?(?:\.weight)?"
)
_MAGNITUDE = re.compile(
    r"(?P<layer>.+?)(?:[._]lora(?:_linear_layer)?)?"
    r"(?:\.(?P<part>dora_scale)|\.lora_magnitude_vector(?:\.default(?:_\d+)?)?(?:\.weight)?)"
)
_DIFFERENCE = re.compile(r"(?P<layer>.+?)\.(?P<part>diff|diff_b|w_norm|b_norm)")
_BIAS = re.compile(r"(?P<layer>.+?)[._]lora(?:_linear_layer)?[._](?:up|B)(?:\.default(?:_\d+)?)?\.bias")
# cloneofsimo's scripts number the layers, XLabs' trainer for FLUX.1 has one name for the layers of a block.
_NUMBERED = re.compile(r"(?P<place>unet|text_encoder):(?P<number>\d{1,5}):(?P<part>down|up)")
_XLABS = re.compile(
    r"(?:diffusion_model\.|transformer\.)?(?P<block>(?:double|single)_blocks\.\d+)\.processor\.(?P<layer>qkv|proj)_lora"
    r"(?P<stream>[12]?)\.(?P<part>down|up)\.weight"
)
_XLABS_LAYERS = {  # by the stream of image or text, and the layer
    **{
        (stream, layer): f"{part}_attn.{layer}"
        for stream, part in (("1", "img"), ("2", "txt"))
        for layer in ("qkv", "proj")
    },
    ("", "qkv"): "attn.qkv",
    ("", "proj"): "linear2",
}
_NUMBER = "number_"
_ALPHA = re.compile(r"(?P<layer>.+?)(?:[._]lora(?:_linear_layer)?)?\.alpha")
_KOHYA = re.compile(r"(?:lora_(unet|transformer|te1|te2|te3|te)|lycoris|oft_unet)_(.+)")
_WRAPPED = re.compile(r"(?:base_model\.model\.)+")
_PLACES: dict[str, Place] = {
    "unet": "denoiser",
    "transformer": "denoiser",
    "diffusion_model": "denoiser",
    "te": "text_encoder",
    "te1": "text_encoder",
    "te2": "text_encoder_2",
    "te3": "text_encoder_3",
    "text_encoder": "text_encoder",
    "text_encoder_2": "text_encoder_2",
    "text_encoder_3": "text_encoder_3",
}
_OLD_ATTENTION = re.compile(r"self_attn_to_(?:(q|k|v)|out(?:_0)?)$")
_BESIDE_NUMBERS = re.compile(r"(?<=\d)_|_(?=\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What a tensor is: one part of what is added to a layer."""

    place: Place
    layer: str  # its path, with underscores
    part: Part


def parse_key(name: str) -> Key | None:
    """Parse the name of a tensor; None if unknown."""
    other = _of_other_trainers(name)
    if other is not None:
        return other
    found = _FACTOR.fullmatch(name) or _LYCORIS.fullmatch(name) or _OFT.fullmatch(name) or _DIFFERENCE.fullmatch(name)
    part: Part = "alpha"
    if found is not None:
        part = _PARTS[found["part"]]
    elif (found := _MAGNITUDE.fullmatch(name)) is not None:
        part = "dora_scale" if found["part"] else "magnitude"
    elif (found := _BIAS.fullmatch(name)) is not None:
        part = "bias"
    else:
        found = _ALPHA.fullmatch(name)
    if found is None:
        return None
    where, layer = _split(found["layer"])
    return Key(place=where, layer=_settled(flat(layer), where), part=part)


def number_of(layer: str) -> int | None:
    """The number of a layer in a file that numbers them; None in others."""
    return int(layer.removeprefix(_NUMBER)) if re.fullmatch(rf"{_NUMBER}\d+", layer) else None


def _of_other_trainers(name: str) -> Key | None:
    if (found := _NUMBERED.fullmatch(name)) is not None:
        return Key(place=_PLACES[found["place"]], layer=f"{_NUMBER}{int(found['number'])}", part=_PARTS[found["part"]])
    if (found := _XLABS.fullmatch(name)) is None:
        return None
    layer = _XLABS_LAYERS.get((found["stream"], found["layer"]))
    if layer is None or (found["stream"] != "") != found["block"].startswith("double"):
        return None
    return Key(place="denoiser", layer=flat(f"{found['block']}.{layer}"), part=_PARTS[found["part"]])


def flat(layer: str) -> str:
    """A layer's path with underscores, without `text_model.`, which libraries write inconsistently."""
    return layer.replace(".", "_").removeprefix("text_model_")


def from_original(layer: str, layers_per_block: int) -> str | None:
    """The flat diffusers name for a flat name of SDXL's original U-Net; None if it is not such a name."""
    dotted = _BESIDE_NUMBERS.sub(".", layer)
    placed = place(f"{UNET}{dotted}.weight", Layout(unet_layers=layers_per_block, vae_levels=0))
    return flat(placed[0].name.removesuffix(".weight")) if placed else None


def _split(layer: str) -> tuple[Place, str]:
    kohya = _KOHYA.fullmatch(layer)
    if kohya is not None:
        return _PLACES[kohya[1] or "unet"], kohya[2]
    layer = _WRAPPED.sub("", layer, count=1).removeprefix("model.")
    head, _, rest = layer.partition(".")
    if head in _PLACES and rest:
        return _PLACES[head], _WRAPPED.sub("", rest, count=1)
    return "denoiser", layer


def _settled(layer: str, where: Place) -> str:
    """Convert names of older diffusers versions to current ones."""
    layer = layer.replace("_processor_", "_")
    if where == "denoiser":
        return f"{layer}_0" if layer.endswith("_to_out") else layer
    return _OLD_ATTENTION.sub(lambda old: f"self_attn_{old[1] or 'out'}_proj", layer)
