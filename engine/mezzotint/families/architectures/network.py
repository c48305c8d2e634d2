"""PixArt's transformer (arXiv 2310.00426) with another architecture: embedding and output layers are the same."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import torch
from diffusers import PixArtTransformer2DModel
from diffusers.models.modeling_outputs import Transformer2DModelOutput
from torch import Tensor

from mezzotint.families.architectures.table import Architecture, read_architecture
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

    def add_blocks(self, architecture: Architecture, layers: int) -> None:
        """Add the blocks of an architecture to a network without any."""
        self._trunk = TRUNKS[architecture.trunk]
        settings = {"dim": self.inner_dim, **{name: self.config[name] for name in _BLOCK_SETTINGS}}
        self.transformer_blocks.extend(self._trunk.block(**settings) for _ in range(layers))
        self.register_to_config(architecture=asdict(architecture), num_layers=layers)

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
        hidden = self.pos_embed(hidden_states)
        modulation, embedded = self.adaln_single(
            timestep, added_cond_kwargs, batch_size=rows, hidden_dtype=hidden.dtype
        )
        text = encoder_hidden_states
        if self.caption_projection is not None:
            text = self.caption_projection(text)
        conditions = {
            "timestep": modulation,
            "encoder_hidden_states": text,
            "encoder_attention_mask": _bias(encoder_attention_mask, hidden_states.dtype),
            "cross_attention_kwargs": cross_attention_kwargs,
        }
        hidden = self._trunk.run(self.transformer_blocks, hidden, conditions)
        output = self._output(hidden, embedded, [side // self.config.patch_size for side in sides])
        return Transformer2DModelOutput(sample=output) if return_dict else (output,)

    def _output(self, hidden: Tensor, embedded: Tensor, sides: list[int]) -> Tensor:
        """Pixels `(b, c, h, w)` from tokens `(b, n, d)`."""
        shift, scale = (self.scale_shift_table[None] + embedded[:, None]).chunk(2, dim=1)
        patches = self.proj_out(self.norm_out(hidden) * (1 + scale) + shift)
        patch = self.config.patch_size
        pixels = torch.einsum("nhwpqc->nchpwq", patches.unflatten(2, (patch, patch, -1)).unflatten(1, sides))
        return pixels.flatten(4, 5).flatten(2, 3)


def _bias(mask: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """What is added to attention scores `(b, 1, m)` for a mask `(b, m)`."""
    return None if mask is None else (1 - mask.to(dtype)).unsqueeze(1) * -10000.0
