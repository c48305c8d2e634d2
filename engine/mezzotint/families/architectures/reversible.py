"""Reversible blocks (RevNet, arXiv 1707.04585; for diffusion transformers' adaLN blocks, arXiv 2310.00426).

A block adds a function of one stream to the other: y1 = x1 + F(x2), y2 = x2 + G(y1), where F is modulated attention
and cross-attention, and G the modulated feed-forward. So x2 = y2 - G(y1) and x1 = y1 - F(x2). Both streams begin as
the embedding; their mean is the result.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from mezzotint.families.architectures.blocks import ModulatedBlock
from mezzotint.families.architectures.feed_forwards import Grid
from mezzotint.families.architectures.reconstruction import Streams

Change: TypeAlias = Callable[[Tensor], Tensor]
Add: TypeAlias = Callable[[Tensor, Change, Tensor], Tensor]


def _added(stream: Tensor, change: Change, other: Tensor) -> Tensor:
    return stream + change(other)


class ReversibleBlock(ModulatedBlock):
    """PixArt's block, with the same weights, for two streams `(b, n, d)`."""

    def forward(self, first: Tensor, second: Tensor, *, add: Add = _added, **conditions: Any) -> tuple[Tensor, Tensor]:  # type: ignore[override]  # noqa: ANN401
        """Return both streams; `add` adds a function of the other stream to one."""
        first = add(first, partial(self.attention, **conditions), second)
        return first, add(second, partial(self.feed_forward, **conditions), first)

    def attention(
        self,
        stream: Tensor,
        *,
        timestep: Tensor,
        encoder_hidden_states: Tensor,
        encoder_attention_mask: Tensor | None = None,
        cross_attention_kwargs: Mapping[str, Any] | None = None,
        **_: object,
    ) -> Tensor:
        """F: gated self-attention, then cross-attention to the text `(b, m, d)`; modulation `timestep` `(b, 6 d)`."""
        stream, options = stream.to(timestep.dtype), cross_attention_kwargs
        own = self.attend(stream, timestep, options)
        if self.attn2 is None:
            return own
        return own + self.read(stream + own, encoder_hidden_states, encoder_attention_mask, options)

    def feed_forward(self, stream: Tensor, *, timestep: Tensor, grid: Grid | None = None, **_: object) -> Tensor:
        """G: the gated feed-forward."""
        return self.feed(stream.to(timestep.dtype), timestep, grid)


class ReversibleTrunk:
    """Reversible blocks, whose activations training does not keep."""

    block = ReversibleBlock
    is_reversible = True

    def run(self, units: Sequence[Any], hidden: Tensor, conditions: Mapping[str, Any]) -> Tensor:
        """Return the mean `(b, n, d)` of both streams, which are float32 or wider so that reversing loses nothing."""
        first = second = hidden.to(torch.promote_types(hidden.dtype, torch.float32))
        if not torch.is_grad_enabled():
            for block in units:
                first, second = block(first, second, **conditions)
            return _mean(first, second, hidden)
        streams = Streams(draws=any(_draws(block) for block in units))
        for block in units:
            first, second = block(first, second, add=streams.add, **conditions)
        streams.finish(first, second)
        return _mean(first, second, hidden)


def _mean(first: Tensor, second: Tensor, like: Tensor) -> Tensor:
    return torch.lerp(first, second, 0.5).to(like.dtype)


def _draws(block: nn.Module) -> bool:
    """Whether a block draws random numbers."""
    return block.training and any(isinstance(each, nn.Dropout) and each.p > 0 for each in block.modules())
