"""Installs sparse attention in a denoiser: in all blocks of a transformer, at every level of a U-Net with attention."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from torch import nn

from mezzotint.acceleration.image_attention import of_transformer, replacing_attention
from mezzotint.acceleration.trunks import TRUNKS, Size, halved
from mezzotint.attention.session import AttentionSession
from mezzotint.attention.sparse import attend_sparsely
from mezzotint.values.speed import SparseAttention, density_at


@contextmanager
def attending_sparsely(
    network: nn.Module, session: AttentionSession, how: SparseAttention, size: Size
) -> Iterator[None]:
    """Attend sparsely in this context; `size`: rows and columns of image tokens, or of a U-Net's latents.

    Nothing is installed where every call would be dense.
    """
    sizes = [each for each in sizes_of(network, size) if density_at(how, each[0] * each[1]) < 1.0]
    if not sizes:
        yield
        return
    layers = of_transformer(network) if type(network).__name__ in TRUNKS else _of_unet(network)
    with replacing_attention(network, session, layers, partial(attend_sparsely, how=how), sizes):
        yield


def sizes_of(network: nn.Module, size: Size) -> list[Size]:
    """The image's sizes in a network's attention: of a U-Net one for each level."""
    levels = getattr(network, "config", {}).get("down_block_types") or ()
    kinds = [size] if not levels else [halved(size, level) for level in range(len(levels))]
    return list(dict.fromkeys(kinds))


def _of_unet(network: nn.Module) -> Iterator[nn.Module]:
    """The self-attention of a U-Net."""
    return (each for name, each in network.named_modules() if name.endswith(".attn1"))
