"""Installs token reduction in a denoiser: in all blocks of a transformer, in a U-Net's attention of highest resolution.

It acts in the attention session, after all that a layer's own processor does, so it works for every processor.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from mezzotint.acceleration.trunks import TRUNKS, attention_level
from mezzotint.attention.masks import Masks
from mezzotint.attention.processor import attending
from mezzotint.attention.reduction import Grid, attend_downsampled, attend_merged
from mezzotint.attention.session import Attend, AttentionSession
from mezzotint.option_values import TokenReduction

_METHODS = {"todo": attend_downsampled, "merge": attend_merged}


@contextmanager
def reducing_tokens(
    network: nn.Module, session: AttentionSession, how: TokenReduction, size: tuple[int, int]
) -> Iterator[None]:
    """Reduce tokens in this context; `size`: rows and columns of image tokens, or of a U-Net's latents.

    Calls of other sizes, such as those of a shrunk U-Net, stay dense. With a ratio of 0 nothing is installed.
    """
    method, ratio = how
    if not ratio:
        yield
        return
    level = attention_level(getattr(network, "config", {}).get("down_block_types"))
    height, width = size if level is None else (_halved(side, level) for side in size)
    seen = _ImageTokens(network)
    reduce = partial(_reduced, partial(_METHODS[method], ratio=ratio), partial(_grid, seen, height, width))
    with attending(session, [network], always=True), ExitStack() as hooks:
        hooks.callback(seen.remove)
        for layer in attention_layers(network):
            before = layer.register_forward_pre_hook(lambda *_: setattr(session, "reduction", reduce))
            after = layer.register_forward_hook(lambda *_: setattr(session, "reduction", None), always_call=True)
            hooks.callback(before.remove)
            hooks.callback(after.remove)
        yield


def attention_layers(network: nn.Module) -> Iterator[nn.Module]:
    """The layers whose tokens are reduced."""
    trunk = TRUNKS.get(type(network).__name__)
    if trunk is None:
        yield from _of_unet(network)
        return
    for name in (*trunk.blocks, *trunk.also):
        for block in getattr(network, name):
            for attention in trunk.attention:
                if isinstance(getattr(block, attention, None), nn.Module):
                    yield getattr(block, attention)


def _of_unet(network: Any) -> Iterator[nn.Module]:  # noqa: ANN401  diffusers has no types
    """The self-attention of a U-Net's highest level that has any."""
    level = attention_level(network.config.get("down_block_types"))
    if level is None:
        return
    for part in (network.down_blocks[level], network.up_blocks[-1 - level]):
        yield from (each for name, each in part.named_modules() if name.endswith(".attn1"))


def _halved(side: int, times: int) -> int:
    return math.ceil(side / (1 << times))


class _ImageTokens:
    """Counts the image tokens that a network with text before them is given, reference images included."""

    def __init__(self, network: nn.Module) -> None:
        trunk = TRUNKS.get(type(network).__name__)
        self.text_first = trunk is not None and trunk.text_first
        self.count = 0
        self._hook = network.register_forward_pre_hook(self._count, with_kwargs=True)

    def _count(self, _: nn.Module, args: tuple[Any, ...], words: Mapping[str, Any]) -> None:
        if self.text_first:
            self.count = (args[0] if args else words["hidden_states"]).shape[1]

    def remove(self) -> None:
        """Stop counting."""
        self._hook.remove()


def _grid(seen: _ImageTokens, height: int, width: int, tokens: int) -> Grid | None:
    """The image's tokens in a sequence; None if it is too short for them."""
    grid = Grid(max(0, tokens - seen.count) if seen.text_first else 0, height, width)
    return grid if grid.stop <= tokens else None


@torch.compiler.disable  # type: ignore[untyped-decorator]  # compiled blocks are split here: attention is one operation anyway
def _reduced(
    method: Callable[..., Tensor],
    grid_in: Callable[[int], Grid | None],
    attend: Attend,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    masks: Masks,
    scale: float | None,
) -> Tensor:
    grid = grid_in(k.shape[2]) if q.shape[2] == k.shape[2] else None
    return attend(q, k, v, masks, scale) if grid is None else method(attend, q, k, v, masks, scale, grid=grid)
