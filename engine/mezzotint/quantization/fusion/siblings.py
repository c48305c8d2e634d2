"""Layers with the same input, such as queries, keys and values, by the product that the first of them asks for.

Processors of attention call their layers as always; the others find their outputs made. So do the norms of heads that
follow them, where the product includes these. Weights stay where they are: the product reads each layer's own.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeGuard

import torch
from torch import Tensor, nn

from mezzotint.quantization.fusion.heads import normalized_heads
from mezzotint.quantization.fusion.parts import IMAGE, TEXT, Module
from mezzotint.quantization.layers import QuantizedLinear
from mezzotint.quantization.linear import Heads

Known: TypeAlias = Callable[[object], TypeGuard[QuantizedLinear]]
Join: TypeAlias = Callable[[Sequence[QuantizedLinear], Tensor, Heads | None], tuple[Tensor, ...] | None]

# Processors that normalize each head of queries and keys right after their layers.
_NORMALIZING = {"JointAttnProcessor2_0", "JointProcessor"}
_TEXT_OF_CROSS_ATTENTION = ("to_k", "to_v")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Group:
    """Layers of an attention with the same input, and the norms of the first two's heads."""

    attention: Module
    layers: tuple[QuantizedLinear, ...]
    norms: tuple[Module, ...]

    def like(self, layer: QuantizedLinear) -> list[QuantizedLinear]:
        """Those that can be multiplied with this one; a LoRA or another scheme leaves a layer alone."""
        wanted = (layer.format, layer.in_features)
        return [each for each in self.layers if not each.branches and (each.format, each.in_features) == wanted]

    def heads(self, layers: Sequence[QuantizedLinear], x: Tensor) -> Heads | None:
        """What becomes of the heads of these layers in their product."""
        known = type(self.attention.processor).__name__ in _NORMALIZING and len(layers) == len(IMAGE)
        return normalized_heads(self.norms, x, layers[0].out_features // self.attention.heads) if known else None


class Siblings:
    """What products of several layers have made for those that are asked later, in one block."""

    def __init__(self) -> None:
        self._groups: dict[int, _Group] = {}
        self._made: dict[int, tuple[Tensor, Tensor]] = {}  # of a layer: its input and output
        self._normalized: dict[int, Tensor] = {}  # of a norm: its input, of which nothing is left to do
        self._inside = False

    @contextmanager
    def joining(self, networks: Iterable[object], known: Known) -> Iterator[None]:
        """Join the `known` layers of these networks' attention inside the context."""
        groups = [group for network in networks for group in _groups(network, known)]
        self._groups = {id(layer): group for group in groups for layer in group.layers}
        norms = [norm for group in groups for norm in group.norms]
        for norm in norms:
            norm.forward = partial(self._norm, norm)
        try:
            yield
        finally:
            self._groups = {}
            for norm in norms:
                del norm.forward

    @contextmanager
    def block(self) -> Iterator[None]:
        """Inside, one block is computed; what it does not take is dropped, but a norm must not be missing."""
        self._inside = True
        try:
            yield
            if self._normalized:
                raise RuntimeError(f"{len(self._normalized)} norms of heads were not asked for what a product included")
        finally:
            self._inside = False
            self._made.clear()
            self._normalized.clear()

    def output(self, layer: QuantizedLinear, x: Tensor, join: Join) -> Tensor | None:
        """The layer's output for x by a product of several, made now or before; None if there is none."""
        made = self._made.pop(id(layer), None)
        if made is not None and made[0] is x:
            return made[1]
        group = self._groups.get(id(layer)) if self._inside else None
        if group is None:
            return None
        if made is not None:  # they do not have the same input after all
            self._groups = {key: each for key, each in self._groups.items() if each is not group}
            return None
        return self._join(group, layer, x, join)

    def _join(self, group: _Group, layer: QuantizedLinear, x: Tensor, join: Join) -> Tensor | None:
        layers = group.like(layer)
        if len(layers) < 2:
            return None
        heads = group.heads(layers, x)
        outputs = join(layers, x, heads)
        if outputs is None:
            return None
        self._made |= {id(each): (x, y) for each, y in zip(layers, outputs, strict=True)}
        if heads is not None:
            self._normalized |= {id(norm): y for norm, y in zip(group.norms, outputs, strict=False)}
        return self._made.pop(id(layer))[1]

    def _norm(self, norm: Module, x: Tensor) -> Tensor:
        """The norm of heads x, or x itself if the product has included it."""
        given = None if torch.compiler.is_compiling() else self._normalized.pop(id(norm), None)
        if given is None:
            out: Tensor = type(norm).forward(norm, x)
            return out
        if given.data_ptr() != x.data_ptr():
            raise RuntimeError("a norm of heads got another input than the output that includes it")
        return x


def _groups(network: object, known: Known) -> Iterator[_Group]:
    for module in network.modules() if isinstance(network, nn.Module) else ():
        if not hasattr(module, "processor"):
            continue
        own = _TEXT_OF_CROSS_ATTENTION if getattr(module, "is_cross_attention", False) else IMAGE
        yield from _group(module, own, ("norm_q", "norm_k"), known)
        yield from _group(module, TEXT, ("norm_added_q", "norm_added_k"), known)


def _group(
    attention: Any,  # noqa: ANN401  of diffusers
    names: tuple[str, ...],
    norms: tuple[str, ...],
    known: Known,
) -> Iterator[_Group]:
    """The layers of these names, if there are several."""
    layers = tuple(filter(known, (getattr(attention, name, None) for name in names)))
    found = [getattr(attention, name, None) for name in norms]
    followed = type(attention.processor).__name__ in _NORMALIZING and all(isinstance(each, nn.Module) for each in found)
    if len(layers) > 1:
        yield _Group(attention=attention, layers=layers, norms=tuple(found) if followed else ())
