"""Installs sparse attention in a denoiser: in all blocks of a transformer, at every level of a U-Net with attention.

Tiles are only for the level of highest resolution, like token reduction.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from torch import nn

from mezzotint.acceleration.image_attention import of_transformer, replacing_attention
from mezzotint.acceleration.token_reduction import attention_layers, largest_size
from mezzotint.acceleration.trunks import TRUNKS, Size, halved
from mezzotint.attention.session import AttentionSession
from mezzotint.attention.sparse import attend_sparsely
from mezzotint.values.speed import SparseAttention, density_at


@contextmanager
def attending_sparsely(
    network: nn.Module, session: AttentionSession, how: SparseAttention, size: Size
) -> Iterator[None]:
    """Attend sparsely in this context; `size`: rows and columns of image tokens, or of a U-Net's latents.

    Nothing is installed where every call would be dense. Of the kind `tiles`, every second layer is shifted.
    """
    in_tiles = how[0] == "tiles"
    wanted = [largest_size(network, size)] if in_tiles else sizes_of(network, size)
    sizes = [each for each in wanted if density_at(how, each[0] * each[1]) < 1.0]
    layers = list(attention_layers(network) if in_tiles else _every_layer(network)) if sizes else []
    with ExitStack() as stack:
        for turn, chosen in enumerate([layers[::2], layers[1::2]] if in_tiles else [layers]):
            if chosen:
                method = partial(attend_sparsely, how=how, shifted=turn == 1)
                stack.enter_context(replacing_attention(network, session, chosen, method, sizes))
        yield


def sizes_of(network: nn.Module, size: Size) -> list[Size]:
    """The image's sizes in a network's attention: of a U-Net one for each level."""
    levels = getattr(network, "config", {}).get("down_block_types") or ()
    kinds = [size] if not levels else [halved(size, level) for level in range(len(levels))]
    return list(dict.fromkeys(kinds))


def _every_layer(network: nn.Module) -> Iterator[nn.Module]:
    """The self-attention of a transformer over its image tokens, or of a U-Net."""
    if type(network).__name__ in TRUNKS:
        return of_transformer(network)
    return (each for name, each in network.named_modules() if name.endswith(".attn1"))
