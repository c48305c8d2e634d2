"""PixArt's transformer (arXiv 2310.00426) with another architecture: embedding and output layers are the same."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from diffusers import PixArtTransformer2DModel
from diffusers.models.modeling_outputs import Transformer2DModelOutput
from torch import Tensor, nn

from mezzotint.families.architectures.attention_kinds import place, set_attention
from mezzotint.families.architectures.blocks import NORMS, change_block
from mezzotint.families.architectures.conditions import CONDITIONS, Inputs, Unconditioned
from mezzotint.families.architectures.depth import DEPTHS, DepthKind, Order, blocks_at, leaving_early
from mezzotint.families.architectures.detours import PYRAMIDS, TOKENS, Detour, through
from mezzotint.families.architectures.feed_forwards import Grid
from mezzotint.families.architectures.skips import SKIPS, LongSkips, Unit
from mezzotint.families.architectures.table import Architecture, read_architecture, stated
from mezzotint.families.architectures.trunks import TRUNKS, TrunkKind

_LAYERS = 28  # of PixArt's configurations that state none
_BLOCK_SETTINGS = (
    "num_attention_heads",
    "attention_head_dim",
    "dropout",
    "cross_attention_dim",
    "activation_fn",
    "num_embeds_ada_norm",
    "attention_bias",
    "upcast_attention",
    "norm_type",
    "norm_elementwise_affine",
    "norm_eps",
    "attention_type",
)


class PixArtVariantTransformer2DModel(PixArtTransformer2DModel):  # type: ignore[misc]  # diffusers has no types
    """Made by `from_config`, whose configuration is PixArt's and the table `architecture`."""

    _trunk: TrunkKind
    _depth: DepthKind
    _order: Order
    blocks_run: int  # in the last forward pass; fewer than there are after an early exit
    skips: LongSkips | None
    detour: Detour | None
    condition: Unconditioned

    @classmethod
    def from_config(cls, config: Mapping[str, Any], **options: Any) -> Any:  # noqa: ANN401  as in diffusers
        """Build the network; raises ModelRefused for an architecture that is not known."""
        architecture, layers = read_architecture(config.get("architecture", {})), config.get("num_layers")
        pixart = {name: value for name, value in config.items() if name != "architecture" and not name.startswith("_")}
        made = super().from_config({**pixart, "num_layers": 0}, **options)
        network = made[0] if isinstance(made, tuple) else made  # a tuple with return_unused_kwargs
        network.add_blocks(architecture, _LAYERS if layers is None else layers)
        return made

    @property
    def is_reversible(self) -> bool:
        """Whether training keeps no activations of the blocks."""
        return self._trunk.is_reversible

    @property
    def joins_text(self) -> bool:
        """Whether patches of a smaller image are before the text."""
        return self.condition.joins_text

    def add_blocks(self, architecture: Architecture, layers: int) -> None:
        """Add the blocks of an architecture to a network without any, and change its other layers."""
        self._trunk, self._depth = TRUNKS[architecture.trunk], DEPTHS[architecture.depth]
        self._order = self._depth.order(layers)
        self.blocks_run = layers
        settings = {"dim": self.inner_dim, **{name: self.config[name] for name in _BLOCK_SETTINGS}}
        self.transformer_blocks.extend(self._trunk.block(**settings) for _ in sorted(set(self._order)))
        side = self.config.sample_size // self.config.patch_size
        for number, block in enumerate(self.transformer_blocks):
            change_block(block, architecture)
            set_attention(block.attn1, architecture.attention, (side, side), number)
        self.norm_out: nn.Module = NORMS[architecture.norm](self.norm_out)
        if architecture.modulation == "zero":
            self.adaln_single.linear = nn.Identity()  # each block has its own
        self.condition = CONDITIONS[architecture.condition](self)
        skips, detour = SKIPS[architecture.skips], PYRAMIDS[architecture.pyramid] or TOKENS[architecture.tokens]
        self.skips = None if skips is None else skips(self.inner_dim, layers)
        self.detour = None if detour is None else detour(self.inner_dim)
        self.register_to_config(architecture=stated(architecture), num_layers=layers)

    def forward(
        self,
        hidden_states: Tensor,
        encoder_hidden_states: Tensor,
        timestep: Tensor,
        added_cond_kwargs: Mapping[str, Any] | None = None,
        cross_attention_kwargs: Mapping[str, Any] | None = None,
        encoder_attention_mask: Tensor | None = None,
        return_dict: bool = True,
    ) -> Transformer2DModelOutput | tuple[Tensor]:
        """Predict `(b, c, h, w)` from latents of that size and the text `(b, m, d)` with its mask `(b, m)`."""
        rows, _, *sides = hidden_states.shape
        text = encoder_hidden_states
        if self.caption_projection is not None:
            text = self.caption_projection(text)
        bias = _bias(encoder_attention_mask, hidden_states.dtype)
        inputs = Inputs(latents=hidden_states, text=text, bias=bias, options=cross_attention_kwargs)
        inputs = self.condition.joined(inputs, added_cond_kwargs)
        hidden = self.pos_embed(inputs.latents)
        modulation, embedded = self.adaln_single(
            timestep, added_cond_kwargs, batch_size=rows, hidden_dtype=hidden.dtype
        )
        grid = tuple(side // self.config.patch_size for side in sides)
        conditions = {
            "timestep": modulation,
            "encoder_hidden_states": inputs.text,
            "encoder_attention_mask": inputs.bias,
            "cross_attention_kwargs": inputs.options,
            "grid": grid,
        }
        for block in self.transformer_blocks:
            place(block.attn1, grid)
        hidden = self._trunk.run(self._units(timestep), hidden, conditions)
        output = self._output(hidden, embedded, grid)
        return Transformer2DModelOutput(sample=output) if return_dict else (output,)

    def _units(self, timestep: Tensor) -> Sequence[Unit]:
        """The blocks in execution order, with what is between and around them, for one forward pass."""
        units: Sequence[Unit] = [self.transformer_blocks[weights] for weights in self._order]
        if self.skips is not None:
            units = self.skips.between(units)
        if self.detour is not None:
            units = through(self.detour, units)
        if not self._depth.leaves_early:
            return units
        blocks = len(self._order)
        self.blocks_run = blocks_at(blocks, timestep)
        last = blocks // 3
        return leaving_early(units, last, timestep) if self.blocks_run == blocks else units[: len(units) - last]

    def _output(self, hidden: Tensor, embedded: Tensor, grid: Grid) -> Tensor:
        """Pixels `(b, c, h, w)` from tokens `(b, n, d)`."""
        shift, scale = (self.scale_shift_table[None] + embedded[:, None]).chunk(2, dim=1)
        patches = self.proj_out(self.norm_out(hidden) * (1 + scale) + shift)
        patch = self.config.patch_size
        pixels = torch.einsum("nhwpqc->nchpwq", patches.unflatten(2, (patch, patch, -1)).unflatten(1, grid))
        return pixels.flatten(4, 5).flatten(2, 3)


def _bias(mask: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """What is added to attention scores `(b, 1, m)` for a mask `(b, m)`."""
    return None if mask is None else (1 - mask.to(dtype)).unsqueeze(1) * -10000.0
