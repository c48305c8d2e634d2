"""Another way of attention in a denoiser's layers that attend over the image's tokens.

It acts in the attention session, after all that a layer's own processor does, so it works for every processor.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from mezzotint.acceleration.trunks import TRUNKS, Size
from mezzotint.attention.masks import Masks
from mezzotint.attention.processor import attending
from mezzotint.attention.reduction import Grid
from mezzotint.attention.session import Attend, AttentionSession


@contextmanager
def replacing_attention(
    network: nn.Module,
    session: AttentionSession,
    layers: Iterable[nn.Module],
    method: Callable[..., Tensor],
    sizes: Iterable[Size],
) -> Iterator[None]:
    """Let `method` do these layers' self-attention in this context, told the image's place by `grid`.

    `sizes`: those of the image, one of which each call must have; other calls stay dense.
    """
    seen = _ImageTokens(network)
    replaced = partial(_replaced, method, partial(_grid, seen, tuple(sizes)))
    with attending(session, [network], always=True), ExitStack() as hooks:
        hooks.callback(seen.remove)
        for layer in layers:
            before = layer.register_forward_pre_hook(lambda *_: setattr(session, "reduction", replaced))
            after = layer.register_forward_hook(lambda *_: setattr(session, "reduction", None), always_call=True)
            hooks.callback(before.remove)
            hooks.callback(after.remove)
        yield


def of_transformer(network: nn.Module) -> Iterator[nn.Module]:
    """The layers of a transformer that attend over image tokens; none of another network."""
    trunk = TRUNKS.get(type(network).__name__)
    for name in () if trunk is None else (*trunk.blocks, *trunk.also):
        for block in getattr(network, name):
            for attention in () if trunk is None else trunk.attention:
                if isinstance(getattr(block, attention, None), nn.Module):
                    yield getattr(block, attention)


class _ImageTokens:
    """Counts the image tokens that a network with text before them is given, reference images included."""

    def __init__(self, network: nn.Module) -> None:
        trunk = TRUNKS.get(type(network).__name__)
        self.alone = trunk is None  # a U-Net attends to text elsewhere
        self.text_first = trunk is not None and trunk.text_first
        self.count = 0
        self._hook = network.register_forward_pre_hook(self._count, with_kwargs=True)

    def _count(self, _: nn.Module, args: tuple[Any, ...], words: Mapping[str, Any]) -> None:
        if self.text_first:
            self.count = (args[0] if args else words["hidden_states"]).shape[1]

    def remove(self) -> None:
        """Stop counting."""
        self._hook.remove()


def _grid(seen: _ImageTokens, sizes: tuple[Size, ...], tokens: int) -> Grid | None:
    """The image's tokens in a sequence; None if they are not there."""
    start = max(0, tokens - seen.count) if seen.text_first else 0
    grids = (Grid(start, *size) for size in sizes)
    return next((grid for grid in grids if grid.stop == tokens or (grid.stop < tokens and not seen.alone)), None)


@torch.compiler.disable  # type: ignore[untyped-decorator]  # compiled blocks are split here: attention is one operation anyway
def _replaced(
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
