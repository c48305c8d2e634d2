"""Identifies unsupported adapter files, and the kind of model that a LoRA was made for, by names and shapes."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mezzotint.families.lora.keys import number_of

ADVICE = "have the program that made it merge it into a checkpoint, or write it as a plain LoRA"
# Patterns of tensor names, and the kind of file that has them.
_REFUSED: tuple[tuple[str, str], ...] = (
    (r"\.boft_", "a BOFT"),
    (r"\.oft_blocks\.\d", "an OFT of kohya's scripts for FLUX, in parts"),
    (r"\.oft_r(\.|$)", "an OFT of a version of peft before 0.14"),
    (r"\.oft_embedding_R", "an OFT of embeddings"),
    (r"\.(a1|a2|b1|b2)\.weight$", "a GLoRA"),
    (r"\.on_input$", "an (IA)3"),
    (r"(^|\.)vera_", "a VeRA"),
    (r"\.lora_embedding_[AB]", "a LoRA of embeddings"),
    (r"(^|\.)lora_controlnet$", "a Control-LoRA"),
    (r"\.set_weight$", "a file of whole weights"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A kind of model that LoRAs are made for."""

    words: str
    families: tuple[str, ...] = ()  # that it may belong to; empty if not supported


_TWO_STREAMS = (  # have the same layer names: shapes decide
    "flux",
    "flux2-klein",
    "chroma",
    "sd3",
    "qwen-image",
    "qwen-image-edit",
)
_BY_NAME: tuple[tuple[str, Base], ...] = (
    (r"(double_blocks|single_blocks|single_transformer_blocks)_", Base(words="FLUX", families=_TWO_STREAMS)),
    (
        r"transformer_blocks_\d+_(img|txt)_(mlp|mod)",
        Base(words="Qwen-Image", families=("qwen-image", "qwen-image-edit")),
    ),
    (
        r"joint_blocks_|transformer_blocks_\d+_(ff_context|attn2?_add_)",
        Base(words="Stable Diffusion 3", families=_TWO_STREAMS),
    ),
    (
        r"caption_norm|transformer_blocks_\d+_ff_conv_|blocks_\d+_(cross_attn_(q|kv)_linear|mlp_\w+_conv)",
        Base(words="Sana", families=("sana", "sana-sprint")),
    ),
    (r"blocks_\d+_(cross|self)_attn_", Base(words="Wan")),
    (
        r"(noise_refiner|context_refiner|layers)_\d+_(attention|feed_forward)_",
        Base(words="Z-Image", families=("z-image",)),
    ),
    (
        r"transformer_blocks_\d+_attn[12]_|caption_projection_|adaln_single_",
        Base(words="PixArt or Sana", families=("pixart", "sana", "sana-sprint")),
    ),
)
_UNET = re.compile(r"(down_blocks|mid_block|up_blocks|input_blocks|middle_block|output_blocks|number)_")
_BY_TEXT_WIDTH = {
    768: Base(words="Stable Diffusion 1", families=("sd15",)),
    1024: Base(words="Stable Diffusion 2"),
    1280: Base(words="the refiner of SDXL", families=("sdxl",)),
    2048: Base(words="SDXL", families=("sdxl",)),
}


def unsupported(names: Iterable[str]) -> tuple[str | None, frozenset[str]]:
    """What a file with tensors of unsupported kinds of adapters is and what to do about it, and their names."""
    known = sorted(names)
    matched = [(kind, [name for name in known if re.search(pattern, name)]) for pattern, kind in _REFUSED]
    kind, found = next(((kind, found) for kind, found in matched if found), (None, []))
    every = frozenset(name for _, some in matched for name in some)
    return None if kind is None else f"{kind} ({found[0][:80]}), which cannot be applied here: {ADVICE}", every


def base_of(widths: Mapping[str, int]) -> Base | None:
    """The kind of model a LoRA seems to be for, by its denoiser layers and their input widths; None if unclear."""
    for pattern, base in _BY_NAME:
        if any(re.match(pattern, layer) for layer in widths):
            return base
    if not any(_UNET.match(layer) for layer in widths):
        return None
    words = {width for layer, width in widths.items() if _is_of_text(layer)}
    return _BY_TEXT_WIDTH.get(min(words)) if words else None


def _is_of_text(layer: str) -> bool:
    """Whether a U-Net's layer takes the text encoders' output; of nine that are numbered in a block, two do."""
    number = number_of(layer)
    return layer.endswith(("attn2_to_k", "attn2_to_v")) if number is None else number % 9 in (6, 7)
