"""Our attention in the newer diffusers transformers, which all call `dispatch_attention_fn`."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor

from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.attention.session import AttentionSession

_FUNCTION = "dispatch_attention_fn"
_session: ContextVar[AttentionSession | None] = ContextVar("session", default=None)


@contextmanager
def attending_dispatched(session: AttentionSession, networks: Iterable[object]) -> Iterator[None]:
    """Route the networks' calls of `dispatch_attention_fn` to the session inside the context; contexts may nest."""
    tokens: list[Any] = []

    def leave(*_: object) -> None:
        _session.reset(tokens.pop())

    with ExitStack() as hooks:
        for network in networks:
            if isinstance(network, torch.nn.Module) and _patch(network):
                before = network.register_forward_pre_hook(lambda *_: tokens.append(_session.set(session)))
                after = network.register_forward_hook(leave, always_call=True, prepend=True)  # the innermost first
                hooks.callback(before.remove)
                hooks.callback(after.remove)
        try:
            yield
        finally:
            while tokens:  # torch calls no hooks after an interrupt
                leave()


def _patch(network: torch.nn.Module) -> bool:
    """Patch the function in the modules of the network's processors; whether any of them uses it.

    The patched function uses the session of whichever network is running.
    """
    classes = {type(getattr(module, "processor", None)) for module in network.modules()}
    modules = [sys.modules[each.__module__] for each in classes if hasattr(sys.modules[each.__module__], _FUNCTION)]
    for module in modules:
        theirs = getattr(module, _FUNCTION)
        if not isinstance(theirs, _Dispatched):
            setattr(module, _FUNCTION, _Dispatched(theirs))
    return bool(modules)


class _Dispatched:
    """Replacement for diffusers' function in the modules that import it; the original runs if no session is active."""

    def __init__(self, theirs: Callable[..., Tensor]) -> None:
        self._theirs = theirs

    def __call__(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
        **others: Any,  # noqa: ANN401  options of diffusers' own backends
    ) -> Tensor:
        """Tensors are `(b, n, h, d)`, tokens before heads, as everywhere in diffusers."""
        session = _session.get()
        masks = None if session is None or is_causal else _masks(attn_mask, key)
        if session is None or masks is None:
            return self._theirs(
                query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa=enable_gqa, **others
            )
        q, k, v = (each.transpose(1, 2) for each in (query, key, value))
        return session.attend(q, k, v, masks, scale).transpose(1, 2).to(query.dtype)


def _masks(mask: Tensor | None, key: Tensor) -> Masks | None:
    """Convert a diffusers mask; None if its shape is not supported."""
    if mask is None:
        return NO_MASKS
    batch, tokens = key.shape[0], key.shape[1]
    if mask.ndim == 2 and mask.shape == (batch, tokens):
        mask = mask[:, None, None]
    if mask.ndim != 4 or mask.shape[-1] != tokens:
        return None
    if mask.dtype != torch.bool:
        return Masks(bias=mask)
    if mask.shape[1:3] == (1, 1):
        return Masks(key_mask=mask[:, 0, 0].expand(batch, tokens))
    return Masks(bias=torch.zeros_like(mask, dtype=key.dtype).masked_fill(~mask, -torch.inf))
