"""PixArt's block with other parts: norms, modulation by the timestep, feed-forward."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from diffusers.models.attention import BasicTransformerBlock
from torch import Tensor, nn

from mezzotint.families.architectures.attention_kinds import place
from mezzotint.families.architectures.feed_forwards import FEED_FORWARDS, Grid, GridFeedForward
from mezzotint.families.architectures.table import Architecture, Modulation, Norm

PixArtNorm: TypeAlias = Any  # a LayerNorm; diffusers has no types


class ModulatedBlock(BasicTransformerBlock):  # type: ignore[misc]  # diffusers has no types
    """PixArt's block, whose tokens `(b, n, d)` may have a grid; to the bit the same with PixArt's own parts."""

    def __init__(self, *args: Any, **settings: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **settings)
        self.modulation: nn.Module | None = None  # of its own, from the embedded timestep `(b, d)` to `(b, 6 d)`

    def forward(
        self,
        hidden: Tensor,
        *,
        timestep: Tensor,
        encoder_hidden_states: Tensor,
        grid: Grid | None = None,
        encoder_attention_mask: Tensor | None = None,
        cross_attention_kwargs: Mapping[str, Any] | None = None,
    ) -> Tensor:
        """Return tokens of the same shape; modulation `timestep` `(b, 6 d)`, text `(b, m, d)`."""
        place(self.attn1, grid)
        hidden = self.attend(hidden, timestep, cross_attention_kwargs) + hidden
        if self.attn2 is not None:
            hidden = self.read(hidden, encoder_hidden_states, encoder_attention_mask, cross_attention_kwargs) + hidden
        return self.feed(hidden, timestep, grid) + hidden

    def attend(self, stream: Tensor, timestep: Tensor, options: Mapping[str, Any] | None) -> Tensor:
        """Gated self-attention."""
        shift, scale, gate = self._modulated(timestep)[:3]
        attended: Tensor = gate * self.attn1(self.norm1(stream) * (1 + scale) + shift, **dict(options or {}))
        return attended

    def read(self, stream: Tensor, text: Tensor, mask: Tensor | None, options: Mapping[str, Any] | None) -> Tensor:
        """Cross-attention."""
        found: Tensor = self.attn2(stream, encoder_hidden_states=text, attention_mask=mask, **dict(options or {}))
        return found

    def feed(self, stream: Tensor, timestep: Tensor, grid: Grid | None) -> Tensor:
        """The gated feed-forward."""
        shift, scale, gate = self._modulated(timestep)[3:]
        tokens = self.norm2(stream) * (1 + scale) + shift
        fed: Tensor = gate * (self.ff(tokens, grid) if isinstance(self.ff, GridFeedForward) else self.ff(tokens))
        return fed

    def _modulated(self, timestep: Tensor) -> tuple[Tensor, ...]:
        """Shift, scale and gate `(b, 1, d)` of attention, then those of the feed-forward."""
        if self.modulation is not None:
            own: Tensor = self.modulation(timestep).reshape(len(timestep), 6, -1)
            return own.chunk(6, dim=1)
        shared: Tensor = self.scale_shift_table[None] + timestep.reshape(len(timestep), 6, -1)
        return shared.chunk(6, dim=1)


def change_block(block: ModulatedBlock, architecture: Architecture) -> None:
    """Give one of PixArt's blocks the parts of an architecture."""
    norm = NORMS[architecture.norm]
    block.norm1, block.norm2 = norm(block.norm1), norm(block.norm2)
    block.ff = FEED_FORWARDS[architecture.feed_forward](block.ff, block.dim)
    MODULATIONS[architecture.modulation](block)


def _kept(norm: PixArtNorm) -> nn.Module:
    kept: nn.Module = norm
    return kept


def _rms(norm: PixArtNorm) -> nn.Module:
    shape, affine = list(norm.normalized_shape), norm.elementwise_affine
    return nn.RMSNorm(shape, eps=norm.eps, elementwise_affine=affine)  # arXiv 1910.07467


def _zero(block: ModulatedBlock) -> None:
    own = nn.Linear(block.dim, 6 * block.dim)
    for parameter in own.parameters():
        nn.init.zeros_(parameter)
    block.modulation = own
    del block.scale_shift_table


# From PixArt's norm.
NORMS: Mapping[Norm, Callable[[PixArtNorm], nn.Module]] = {"layer": _kept, "rms": _rms}
# adaLN-zero (arXiv 2212.09748) has a layer in each block; blocks begin as identities.
MODULATIONS: Mapping[Modulation, Callable[[ModulatedBlock], None]] = {"shared": lambda _: None, "zero": _zero}
