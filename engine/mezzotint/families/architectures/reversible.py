"""Reversible blocks (RevNet, arXiv 1707.04585; for diffusion transformers' adaLN blocks, arXiv 2310.00426).

A block adds a function of one stream to the other: y1 = x1 + F(x2), y2 = x2 + G(y1), where F is modulated attention
and cross-attention, and G the modulated feed-forward. So x2 = y2 - G(y1) and x1 = y1 - F(x2). Both streams begin as
the embedding; their mean is the result.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import torch
from diffusers.models.attention import BasicTransformerBlock
from torch import Tensor, nn

from mezzotint.families.architectures.reconstruction import Streams

Change: TypeAlias = Callable[[Tensor], Tensor]
Add: TypeAlias = Callable[[Tensor, Change, Tensor], Tensor]


def _added(stream: Tensor, change: Change, other: Tensor) -> Tensor:
    return stream + change(other)


class ReversibleBlock(BasicTransformerBlock):  # type: ignore[misc]  # diffusers has no types
    """PixArt's block, with the same weights, for two streams `(b, n, d)`."""

    def forward(self, first: Tensor, second: Tensor, *, add: Add = _added, **conditions: Any) -> tuple[Tensor, Tensor]:  # noqa: ANN401
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
    ) -> Tensor:
        """F: gated self-attention, then cross-attention to the text `(b, m, d)`; modulation `timestep` `(b, 6 d)`."""
        shift, scale, gate = self._modulation(timestep)[:3]
        stream, options = stream.to(timestep.dtype), dict(cross_attention_kwargs or {})
        own: Tensor = gate * self.attn1(self.norm1(stream) * (1 + scale) + shift, **options)
        if self.attn2 is None:
            return own
        text = {"encoder_hidden_states": encoder_hidden_states, "attention_mask": encoder_attention_mask}
        crossed: Tensor = own + self.attn2(stream + own, **text, **options)
        return crossed

    def feed_forward(self, stream: Tensor, *, timestep: Tensor, **_: object) -> Tensor:
        """G: the gated feed-forward."""
        shift, scale, gate = self._modulation(timestep)[3:]
        fed: Tensor = gate * self.ff(self.norm2(stream.to(timestep.dtype)) * (1 + scale) + shift)
        return fed

    def _modulation(self, timestep: Tensor) -> tuple[Tensor, ...]:
        """Shift, scale and gate `(b, 1, d)` of attention, then those of the feed-forward."""
        modulation: Tensor = self.scale_shift_table[None] + timestep.reshape(len(timestep), 6, -1)
        return modulation.chunk(6, dim=1)


class ReversibleTrunk:
    """Reversible blocks, whose activations training does not keep."""

    block = ReversibleBlock
    is_reversible = True

    def run(self, blocks: Sequence[nn.Module], hidden: Tensor, conditions: Mapping[str, Any]) -> Tensor:
        """Return the mean `(b, n, d)` of both streams, which are float32 or wider so that reversing loses nothing."""
        first = second = hidden.to(torch.promote_types(hidden.dtype, torch.float32))
        if not torch.is_grad_enabled():
            for block in blocks:
                first, second = block(first, second, **conditions)
            return _mean(first, second, hidden)
        streams = Streams(draws=any(_draws(block) for block in blocks))
        for block in blocks:
            first, second = block(first, second, add=streams.add, **conditions)
        streams.finish(first, second)
        return _mean(first, second, hidden)


def _mean(first: Tensor, second: Tensor, like: Tensor) -> Tensor:
    return torch.lerp(first, second, 0.5).to(like.dtype)


def _draws(block: nn.Module) -> bool:
    """Whether a block draws random numbers."""
    return block.training and any(isinstance(each, nn.Dropout) and each.p > 0 for each in block.modules())
