"""Where transformers have their blocks, and which layers in them attend over the image's tokens."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

Size: TypeAlias = tuple[int, int]  # rows and columns of tokens or latents


@dataclass(frozen=True, slots=True, kw_only=True)
class Trunk:
    """The blocks of a class of transformers: lists of modules between the embeddings and the output layers."""

    blocks: tuple[str, ...] = ("transformer_blocks",)  # in execution order
    attention: tuple[str, ...] = ("attn",)  # softmax attention over image tokens, in each block; empty: none
    also: tuple[str, ...] = ()  # further lists of blocks, which attend over image tokens alone
    text_first: bool = False  # text tokens come before the image's; otherwise after them, or elsewhere


_FLUX = Trunk(blocks=("transformer_blocks", "single_transformer_blocks"), text_first=True)

JOINT = ("FluxTransformer2DModel", "SD3Transformer2DModel")  # follow regions: text places do not depend on its length
TRUNKS: Mapping[str, Trunk] = MappingProxyType(
    {
        "FluxTransformer2DModel": _FLUX,
        "Flux2Transformer2DModel": _FLUX,
        "ChromaTransformer2DModel": _FLUX,
        "QwenImageTransformer2DModel": Trunk(text_first=True),
        "Krea2Transformer2DModel": Trunk(text_first=True),
        "ZImageTransformer2DModel": Trunk(blocks=("layers",), attention=("attention",), also=("noise_refiner",)),
        "SD3Transformer2DModel": Trunk(attention=("attn", "attn2")),
        "PixArtTransformer2DModel": Trunk(attention=("attn1",)),
        "SanaTransformer2DModel": Trunk(attention=()),  # its attention is linear already
    }
)


def attention_level(down_blocks: object) -> int | None:
    """Number of the first U-Net level with attention, counting halvings of the size, by its `down_block_types`."""
    kinds = down_blocks if isinstance(down_blocks, list | tuple) else ()
    return next((level for level, kind in enumerate(kinds) if "CrossAttn" in str(kind)), None)


def halved(size: Size, times: int) -> Size:
    """The size of a U-Net's features after so many levels."""
    height, width = (math.ceil(side / (1 << times)) for side in size)
    return height, width
