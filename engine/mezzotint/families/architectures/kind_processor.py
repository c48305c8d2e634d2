"""What the self-attention of all kinds has in common."""

from abc import ABC, abstractmethod
from typing import Any, TypeAlias

from torch import Tensor, nn

Grid: TypeAlias = tuple[int, int]  # rows and columns of tokens


class KindProcessor(nn.Module, ABC):
    """Self-attention of image tokens: projections of diffusers' layer around `attend`."""

    def __init__(self, heads: int, head_dim: int, grid: Grid, number: int) -> None:
        super().__init__()
        self.heads, self.head_dim, self.number = heads, head_dim, number
        self.native = grid  # that which the network is made for
        self.grid: Grid | None = grid  # that of the tokens now

    def __call__(
        self,
        attn: Any,  # noqa: ANN401  diffusers' layer, which has no type annotations
        hidden_states: Tensor,
        encoder_hidden_states: Tensor | None = None,
        attention_mask: Tensor | None = None,
        key_lengths: Tensor | None = None,  # noqa: ARG002  diffusers passes what the signature names
    ) -> Tensor:
        """Map tokens `(b, n, c)` to the same shape; lengths of texts do not concern it."""
        if encoder_hidden_states is not None or attention_mask is not None:
            raise ValueError("this is self-attention of all tokens; it takes neither other tokens nor a mask")
        projections = (attn.to_q, attn.to_k, attn.to_v)
        q, k, v = (each(hidden_states).unflatten(2, (attn.heads, -1)).transpose(1, 2) for each in projections)
        out: Tensor = attn.to_out[1](attn.to_out[0](self.attend(q, k, v).transpose(1, 2).flatten(2)))
        return out

    @abstractmethod
    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Attention of `(b, h, n, d)` to tokens of the same number."""

    def grid_of(self, tokens: int) -> Grid:
        """The grid of that many tokens: the one told, or a row of them if there is none."""
        told = self.grid
        return told if told is not None and told[0] * told[1] == tokens else (1, tokens)
