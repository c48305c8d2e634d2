"""Our attention in dual-stream transformers, whose layers attend over text and image tokens jointly."""

from typing import Any, TypeAlias

import torch
from torch import Tensor

from mezzotint.attention.session import AttentionSession

Layer: TypeAlias = Any  # diffusers.models.attention_processor.Attention, which has no type annotations


class JointProcessor:
    """Joint attention layer of Stable Diffusion 3 (arXiv 2403.03206, 4); without text tokens, self-attention."""

    def __init__(self, session: AttentionSession) -> None:
        self._session = session

    def __call__(
        self,
        attn: Layer,
        hidden_states: Tensor,
        encoder_hidden_states: Tensor | None = None,
        attention_mask: Tensor | None = None,  # noqa: ARG002  diffusers' own processor ignores it too
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Map image tokens `(b, n, c)` and, if given, text tokens `(b, m, c)` to tensors of the same shapes."""
        parts = _heads(attn, (attn.to_q, attn.to_k, attn.to_v), (attn.norm_q, attn.norm_k), hidden_states)
        if encoder_hidden_states is not None:
            projections = (attn.add_q_proj, attn.add_k_proj, attn.add_v_proj)
            words = _heads(attn, projections, (attn.norm_added_q, attn.norm_added_k), encoder_hidden_states)
            parts = [torch.cat(pair, dim=2) for pair in zip(parts, words, strict=True)]
        q, k, v = parts
        out = self._session.attend(q, k, v).transpose(1, 2).flatten(2).to(q.dtype)
        count = hidden_states.shape[1]
        image: Tensor = attn.to_out[1](attn.to_out[0](out[:, :count]))
        if encoder_hidden_states is None:
            return image
        text = out[:, count:]
        return image, text if attn.context_pre_only else attn.to_add_out(text)


def _heads(attn: Layer, projections: tuple[Layer, ...], norms: tuple[Layer, Layer], tokens: Tensor) -> list[Tensor]:
    """Project tokens to queries, keys and values `(b, h, n, d)`."""
    projected = [each(tokens).unflatten(2, (attn.heads, -1)).transpose(1, 2) for each in projections]
    return [
        projected[0] if norms[0] is None else norms[0](projected[0]),
        projected[1] if norms[1] is None else norms[1](projected[1]),
        projected[2],
    ]
