"""Attention whose queries, keys and values are one product, with QK norm and rotation by position inside it.

Replaces the processors of joint and single-stream attention in diffusers' transformers; each still does what it did
where there is no such product, and attention itself is that of the job.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from mezzotint.quantization.fusion.heads import rotated_heads
from mezzotint.quantization.fusion.layers import Fusion
from mezzotint.quantization.fusion.parts import IMAGE, TEXT

Layer: TypeAlias = Any  # an attention of diffusers, which has no type annotations
Streams: TypeAlias = tuple[Tensor, Tensor, Tensor]  # queries, keys and values (b, n, h, d)


class JoinedProcessor:
    """Processor of attention over text and image tokens, or over one stream."""

    def __init__(self, fusion: Fusion, before: Any, tables: "Tables") -> None:  # noqa: ANN401  diffusers' own
        self._fusion, self.before, self._tables = fusion, before, tables

    def __call__(
        self,
        attn: Layer,
        hidden_states: Tensor,
        encoder_hidden_states: Tensor | None = None,
        attention_mask: Tensor | None = None,
        image_rotary_emb: Any = None,  # noqa: ANN401
        freqs_cis: Tensor | None = None,
        encoder_hidden_states_mask: Tensor | None = None,
    ) -> Any:  # noqa: ANN401
        """Same as the processor before; attention layers ask for the names of parameters, which are those of all."""
        made, rotary = None, image_rotary_emb if freqs_cis is None else freqs_cis
        if not torch.compiler.is_compiling() and encoder_hidden_states_mask is None:
            made = self._streams(attn, hidden_states, encoder_hidden_states, rotary)
        if made is None:
            words = {
                "attention_mask": attention_mask,
                "image_rotary_emb": image_rotary_emb,
                "freqs_cis": freqs_cis,
                "encoder_hidden_states_mask": encoder_hidden_states_mask,
            }
            given = {name: each for name, each in words.items() if each is not None}
            return self.before(attn, hidden_states, encoder_hidden_states, **given)
        mask = attention_mask
        out = _attend(self.before, made, mask[:, None, None] if mask is not None and mask.ndim == 2 else mask)
        if encoder_hidden_states is None:
            return _last(attn, out) if getattr(attn, "to_out", None) is not None else out
        count = encoder_hidden_states.shape[1]
        return _last(attn, out[:, count:].contiguous()), attn.to_add_out(out[:, :count].contiguous())

    def _streams(self, attn: Layer, pixels: Tensor, words: Tensor | None, rotary: object) -> Streams | None:
        """Queries, keys and values, text before image; None if the projections are not one product each."""
        if rotary is None:
            return None
        text, image = self._tables.of(rotary, 0 if words is None else words.shape[1])
        found = self._projected(attn, IMAGE, (attn.norm_q, attn.norm_k), pixels, image)
        if found is None or words is None:
            return found
        added = self._projected(attn, TEXT, (attn.norm_added_q, attn.norm_added_k), words, text)
        if added is None:
            added = self._apart(attn, words, text)
        return tuple(torch.cat(pair, dim=1) for pair in zip(added, found, strict=True))  # type: ignore[return-value]

    def _projected(
        self, attn: Layer, names: tuple[str, ...], norms: tuple[Layer, Layer], x: Tensor, rotations: Tensor
    ) -> Streams | None:
        heads = rotated_heads(norms, x, rotations)
        layers = [getattr(attn, name, None) for name in names]
        made = None if heads is None else self._fusion.joined(layers, x, heads)
        return None if made is None else tuple(each.unflatten(-1, (-1, heads.size)) for each in made)  # type: ignore

    def _apart(self, attn: Layer, x: Tensor, rotations: Tensor) -> Streams:
        """The text's, by the layers themselves."""
        q, k, v = (getattr(attn, name)(x).unflatten(-1, (-1, rotations.shape[1] * 2)) for name in TEXT)
        q, k = attn.norm_added_q(q), attn.norm_added_k(k)
        return _rotated(q, rotations), _rotated(k, rotations), v


class ParallelProcessor:
    """Processor of attention whose projections and gated feed-forward are one layer (FLUX.2): two products of its rows.

    What the feed-forward makes is a third as wide as the layer's own output, and written once.
    """

    def __init__(self, fusion: Fusion, before: Any, tables: "Tables") -> None:  # noqa: ANN401  diffusers' own
        self._fusion, self.before, self._tables = fusion, before, tables

    def __call__(
        self,
        attn: Layer,
        hidden_states: Tensor,
        attention_mask: Tensor | None = None,
        image_rotary_emb: Any = None,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        """Same as the processor before."""
        made = None
        if not torch.compiler.is_compiling() and image_rotary_emb is not None:
            made = self._products(attn, hidden_states, image_rotary_emb)
        if made is None:
            return self.before(attn, hidden_states, attention_mask, image_rotary_emb)
        streams = [each.view(*each.shape[:-1], -1, attn.head_dim) for each in made[:3]]
        return attn.to_out(torch.cat([_attend(self.before, streams, attention_mask), made[3]], dim=-1))

    def _products(self, attn: Layer, x: Tensor, rotary: object) -> list[Tensor] | None:
        if type(attn.mlp_act_fn).__name__ != "Flux2SwiGLU":
            return None
        heads = rotated_heads((attn.norm_q, attn.norm_k), x, self._tables.of(rotary, 0)[1])
        counts = [attn.inner_dim] * 3 + [attn.mlp_hidden_dim] * 2
        return None if heads is None else self._fusion.parallel(attn.to_qkv_mlp_proj, x, heads, counts)


# Replacements of processors whose heads are rotated in pairs of neighbours.
_JOINED = {
    "FluxAttnProcessor": JoinedProcessor,
    "Flux2AttnProcessor": JoinedProcessor,
    "Flux2ParallelSelfAttnProcessor": ParallelProcessor,
    "QwenDoubleStreamAttnProcessor2_0": JoinedProcessor,
    "ZSingleStreamAttnProcessor": JoinedProcessor,
}


class Tables:
    """Rotations `(n, d / 2, 2)` of text and image tokens, made once in each call of a network.

    Never longer: a captured step must not read what was made outside of it.
    """

    def __init__(self) -> None:
        self._made: dict[tuple[int, int], tuple[object, Tensor, Tensor]] = {}  # holds what they are made of

    def of(self, rotary: Any, words: int) -> tuple[Tensor, Tensor]:  # noqa: ANN401
        """Those of a network's rotations, with so many tokens of text before the image's."""
        key = (id(rotary), words)
        if key not in self._made:
            text, image = _tables(rotary, words)
            self._made[key] = (rotary, text.contiguous(), image.contiguous())
        return self._made[key][1:]

    def clear(self, *_: object) -> None:
        """Forget them, as a hook of the network."""
        self._made.clear()


@contextmanager
def projecting_jointly(fusion: Fusion, networks: Iterable[object]) -> Iterator[None]:
    """Let these networks' attention project so inside the context."""
    networks = list(networks)
    layers: list[Layer] = [
        module
        for network in networks
        for module in (network.modules() if isinstance(network, nn.Module) else ())
        if type(getattr(module, "processor", None)).__name__ in _JOINED
    ]
    before, tables = [layer.processor for layer in layers], Tables()
    modules = [network for network in networks if isinstance(network, nn.Module)] if layers else []
    hooks = [network.register_forward_pre_hook(tables.clear) for network in modules]
    hooks += [network.register_forward_hook(tables.clear, always_call=True) for network in modules]
    for layer in layers:
        layer.processor = _JOINED[type(layer.processor).__name__](fusion, layer.processor, tables)
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
        for layer, processor in zip(layers, before, strict=True):
            layer.processor = processor


def _tables(rotary: Any, words: int) -> tuple[Tensor, Tensor]:  # noqa: ANN401
    """From cosines and sines `(n, d)` of all tokens, or complex numbers: `(b, n, d / 2)`, or of image and of text."""
    if isinstance(rotary, Tensor):
        table = torch.view_as_real(rotary).float().flatten(0, -3)
        return table[:0], table
    first, second = rotary
    if first.is_complex():
        return torch.view_as_real(second).float(), torch.view_as_real(first).float()
    table = torch.stack([first[:, ::2], second[:, ::2]], dim=-1).float()
    return table[:words], table[words:]


def _rotated(x: Tensor, rotations: Tensor) -> Tensor:
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * torch.view_as_complex(rotations)[:, None]).flatten(-2).to(x.dtype)


def _attend(before: Any, streams: Sequence[Tensor], mask: Tensor | None) -> Tensor:  # noqa: ANN401
    """Attention `(b, n, c)` of the job, which has replaced diffusers' in the module of the processor before."""
    attend, backend = (
        sys.modules[type(before).__module__].dispatch_attention_fn,
        getattr(before, "_attention_backend", None),
    )
    out: Tensor = attend(*streams, attn_mask=mask, backend=backend).flatten(2, 3).to(streams[0].dtype)
    return out


def _last(attn: Layer, x: Tensor) -> Tensor:
    for layer in attn.to_out:
        x = layer(x)
    return x
