"""Attention processors that replace those of diffusers models while a job runs.

Text encoders keep torch's attention: they run once per prompt, and transformers has no per-model hook for attention,
only a process-wide registry.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import torch
from torch import Tensor

from mezzotint.attention.dispatched import attending_dispatched
from mezzotint.attention.joint import JointProcessor
from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.attention.session import AttentionSession, InSession

Layer: TypeAlias = Any  # diffusers.models.attention_processor.Attention, which has no type annotations


class SessionProcessor:
    """Attention processor for U-Nets, PixArt-like transformers and autoencoders."""

    _norm_heads = True  # QK norm, where there is one, is applied per head

    def __init__(self, session: AttentionSession) -> None:
        self._session = session

    def __call__(
        self,
        attn: Layer,
        hidden_states: Tensor,
        encoder_hidden_states: Tensor | None = None,
        attention_mask: Tensor | None = None,
        temb: Tensor | None = None,
        key_lengths: Tensor | None = None,
    ) -> Tensor:
        """Map tokens `(b, n, c)` or pixels `(b, c, h, w)` to the same shape; key_lengths count the encoder's tokens."""
        residual = hidden_states
        if attn.spatial_norm is not None:
            hidden_states = attn.spatial_norm(hidden_states, temb)
        shape = hidden_states.shape
        if len(shape) == 4:
            hidden_states = hidden_states.flatten(2).transpose(1, 2)
        if attn.group_norm is not None:
            hidden_states = attn.group_norm(hidden_states.transpose(1, 2)).transpose(1, 2)
        q, k, v = _project(attn, hidden_states, encoder_hidden_states, norm_heads=self._norm_heads)
        masks = _masks(attn, attention_mask, k, None if encoder_hidden_states is None else key_lengths)
        out = self._session.attend(q, k, v, masks)
        out = out.transpose(1, 2).flatten(2).to(q.dtype)
        out = attn.to_out[1](attn.to_out[0](out))
        if len(shape) == 4:
            out = out.transpose(-1, -2).reshape(shape)
        if attn.residual_connection:
            out = out + residual
        return out / attn.rescale_output_factor  # type: ignore[no-any-return]


class AcrossHeadsProcessor(SessionProcessor):
    """Cross-attention processor for Sana, whose QK norm spans all heads."""

    _norm_heads = False


def _project(
    attn: Layer, tokens: Tensor, encoder_tokens: Tensor | None, *, norm_heads: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Project to queries, keys and values `(b, h, n, d)`, tokens before heads in memory."""
    if encoder_tokens is None:
        encoder_tokens = tokens
    elif attn.norm_cross:
        encoder_tokens = attn.norm_encoder_hidden_states(encoder_tokens)
    q, k, v = attn.to_q(tokens), attn.to_k(encoder_tokens), attn.to_v(encoder_tokens)
    if norm_heads:
        q, k = (each.unflatten(2, (attn.heads, -1)) for each in (q, k))
    q = q if attn.norm_q is None else attn.norm_q(q)
    k = k if attn.norm_k is None else attn.norm_k(k)
    if not norm_heads:
        q, k = (each.unflatten(2, (attn.heads, -1)) for each in (q, k))
    return q.transpose(1, 2), k.transpose(1, 2), v.unflatten(2, (attn.heads, -1)).transpose(1, 2)


def _masks(attn: Layer, mask: Tensor | None, k: Tensor, key_lengths: Tensor | None) -> Masks:
    """Convert a layer's mask without expanding what is the same for all heads or queries."""
    if key_lengths is not None:
        return Masks(key_lengths=key_lengths)  # they hold the same information as the padding mask
    if mask is None:
        return NO_MASKS
    batch, nk = k.shape[0], k.shape[2]
    if mask.ndim == 3 and mask.shape[0] in (1, batch) and mask.shape[2] == nk:
        if mask.dtype == torch.bool and mask.shape[1] == 1:
            return Masks(key_mask=mask[:, 0])
        mask = mask[:, None]
    else:
        mask = attn.prepare_attention_mask(mask, nk, batch)
        mask = mask.view(batch, attn.heads, -1, mask.shape[-1])
    if mask.dtype == torch.bool:
        mask = torch.zeros_like(mask, dtype=k.dtype).masked_fill(~mask, -torch.inf)
    return Masks(bias=mask)


_PROCESSORS = {  # keyed by the name of diffusers' processor class: importing Sana's takes a second
    "AttnProcessor2_0": SessionProcessor,
    "JointAttnProcessor2_0": JointProcessor,
    "SanaAttnProcessor2_0": AcrossHeadsProcessor,
}


@contextmanager
def attending(session: AttentionSession, networks: Iterable[object], *, always: bool = False) -> Iterator[None]:
    """Use the session's attention in these networks inside the context; restores their processors afterwards.

    With `sdpa` nothing is replaced unless `always`: diffusers' own processors give exactly the same images. Offloaded
    weights do not tell where a layer computes, so each call decides by the device of its queries.
    """
    networks = [] if session.used == "sdpa" and not always else list(networks)
    layers = [layer for network in networks for layer in _layers(network)]
    before = [layer.processor for layer in layers]
    own = [module for network in networks for module in _modules(network) if isinstance(module, InSession)]
    for layer in layers:
        layer.processor = _PROCESSORS[type(layer.processor).__name__](session)
    for processor in own:
        processor.session = session
    try:
        with attending_dispatched(session, networks):
            yield
    finally:
        for layer, processor in zip(layers, before, strict=True):
            layer.processor = processor
        for processor in own:
            processor.session = None


def _modules(network: object) -> Iterable[torch.nn.Module]:
    return network.modules() if isinstance(network, torch.nn.Module) else ()


def _layers(network: object) -> Iterator[Layer]:
    for module in _modules(network):
        if type(getattr(module, "processor", None)).__name__ in _PROCESSORS:
            yield module
