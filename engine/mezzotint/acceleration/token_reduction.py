"""Installs token reduction: in all blocks of a transformer, in a U-Net's attention of highest resolution."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from torch import nn

from mezzotint.acceleration.image_attention import of_transformer, replacing_attention
from mezzotint.acceleration.trunks import TRUNKS, Size, attention_level, halved
from mezzotint.attention.reduction import attend_downsampled, attend_merged
from mezzotint.attention.session import AttentionSession
from mezzotint.values.speed import TokenReduction

_METHODS = {"todo": attend_downsampled, "merge": attend_merged}


@contextmanager
def reducing_tokens(network: nn.Module, session: AttentionSession, how: TokenReduction, size: Size) -> Iterator[None]:
    """Reduce tokens in this context; `size`: rows and columns of image tokens, or of a U-Net's latents.

    Calls of other sizes, such as those of a shrunk U-Net, stay dense. With a ratio of 0 nothing is installed.
    """
    method, ratio = how
    if not ratio:
        yield
        return
    reduced = partial(_METHODS[method], ratio=ratio)
    with replacing_attention(network, session, attention_layers(network), reduced, [largest_size(network, size)]):
        yield


def largest_size(network: nn.Module, size: Size) -> Size:
    """The image's size in the attention of these layers."""
    return halved(size, attention_level(getattr(network, "config", {}).get("down_block_types")) or 0)


def attention_layers(network: nn.Module) -> Iterator[nn.Module]:
    """The layers whose tokens are reduced."""
    return of_transformer(network) if type(network).__name__ in TRUNKS else _of_unet(network)


def _of_unet(network: Any) -> Iterator[nn.Module]:  # noqa: ANN401  diffusers has no types
    """The self-attention of a U-Net's highest level that has any."""
    level = attention_level(network.config.get("down_block_types"))
    if level is None:
        return
    for part in (network.down_blocks[level], network.up_blocks[-1 - level]):
        yield from (each for name, each in part.named_modules() if name.endswith(".attn1"))
