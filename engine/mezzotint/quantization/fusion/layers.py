"""Layers that include in their product what a block leaves to them."""

import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeGuard, cast

import torch
from torch import Tensor

from mezzotint.dispatch.library import Activation, Preparation
from mezzotint.quantization.codebook4 import Codebook4
from mezzotint.quantization.formats import Int4, Int8
from mezzotint.quantization.fusion.around import Around, Ending, Gated, Norm, NormModule
from mezzotint.quantization.fusion.siblings import Siblings
from mezzotint.quantization.layers import QuantizedLinear
from mezzotint.quantization.linear import Heads, QuantizedWeight
from mezzotint.quantization.products.compiled import unsupported
from mezzotint.quantization.products.joined import gated_weight, joined_weight, may_join, rows_of
from mezzotint.quantization.products.operation import Products, prepare_input
from mezzotint.quantization.shared_quantization import sharing_inputs

_STEP = 8  # of a layer's outputs


@dataclass(slots=True, kw_only=True, eq=False)
class _Left:
    """An input left to layers as it is before its norm."""

    x: Tensor
    norm: Norm
    made: Tensor | None = field(default=None)  # by torch, for layers whose product has no kernel

    def plain(self) -> Tensor:
        """The norm by torch, once for all of the layers."""
        if self.made is None:
            self.made = self.norm.plain(self.x)
        return self.made


class Fusion:
    """Passes a block's norms, gates and residuals on to its layers; each takes what is left to it in its next call."""

    def __init__(self, kernels: Products, layers: Iterable[QuantizedLinear]) -> None:
        self._kernels = kernels
        self._known = {id(layer) for layer in layers}
        self._left: dict[int, _Left] = {}
        self._endings: dict[int, Ending] = {}
        self._activated: dict[int, weakref.ref[Tensor]] = {}
        self._siblings = Siblings()

    @contextmanager
    def joining(self, networks: Iterable[object]) -> Iterator[None]:
        """Let layers of these networks' attention that have the same input be one product inside the context."""
        with self._siblings.joining(networks, self._knows):
            yield

    @contextmanager
    def block(self) -> Iterator[None]:
        """Inside, one block is computed; whatever was left and not taken is an error, because it would be missing."""
        try:
            with self._siblings.block():
                yield
            if self._left:
                raise RuntimeError(
                    f"{len(self._left)} layers did not take the input that was left to them to normalize"
                )
        finally:
            self._left.clear()
            self._endings.clear()
            self._activated.clear()

    def normalized(
        self,
        layers: Iterable[object],
        module: NormModule,
        x: Tensor,
        gain: Tensor | None = None,
        shift: Tensor | None = None,
    ) -> Tensor:
        """`module(x) (1 + gain) + shift` for these layers, which must be all that read it.

        Returns x itself if they all can do that. x `(b, n, k)`, gain and shift `(b, 1, k)`.
        """
        norm, layers = Norm(module=module, gain=gain, shift=shift), list(layers)
        if not layers or norm.preparation(x) is None or not all(map(self._can_prepare, layers)):
            return norm.plain(x)
        left = _Left(x=x, norm=norm)
        self._left |= {id(layer): left for layer in layers}
        return x

    def ending(self, layer: object, residual: Tensor, gate: Tensor | None = None) -> "Finish":
        """Leave `residual + gate y` to a layer with the output y, if it can; to be called before the layer is.

        The result makes of the layer's output what is wanted, whether the layer has done so or not.
        """
        ending = Ending(residual=residual, gate=gate)
        if self._can_end(layer) and ending.is_known:
            self._endings[id(layer)] = ending
        return Finish(self._endings, id(layer), ending)

    def joined(self, layers: Sequence[object], x: Tensor, heads: Heads | None) -> tuple[Tensor, ...] | None:
        """Outputs of layers that all read x, or what was left to them of it, by one product; None if there is none.

        Queries and keys are as `heads` has them. The outputs `(b, n, c)` are parts of one tensor.
        """
        known = self._alike(layers)
        if known is None or not all(may_join(layer.out_features, heads) for layer in known):
            return None
        made = self._at_once(known, x, joined_weight([(layer.weight, layer.bias) for layer in known], heads))
        return None if made is None else torch.split(made, [layer.out_features for layer in known], dim=-1)

    def parallel(self, layer: object, x: Tensor, heads: Heads | None, counts: Sequence[int]) -> list[Tensor] | None:
        """Queries, keys and values of x, or of what was left to the layer of it, and a gated linear unit by SiLU.

        The layer has the rows of all, so many of each, of the gate before its value. None if there are no products.
        """
        known = self._alike([layer])
        if known is None or not may_join(counts[0], heads) or any(count % _STEP for count in counts):
            return None
        *parts, gate, value = rows_of((known[0].weight, known[0].bias), *counts)
        with sharing_inputs(len(counts)):
            gated = self._at_once(known, x, gated_weight(value, gate), None, Activation.GATED_SILU, keeps=True)
            made = None if gated is None else self._at_once(known, x, joined_weight(parts, heads))
        return None if made is None or gated is None else [*torch.split(made, list(counts[:3]), dim=-1), gated]

    def activated(self, layer: object, x: Tensor) -> Tensor | None:
        """GELU, by tanh, of a layer's output for x, or for what was left to it of x; None if no product includes it."""
        if not self._can_end(layer):
            return None
        known = cast("QuantizedLinear", layer)
        return self._at_once((known,), x, known.weight, known.bias, Activation.GELU_TANH)

    def gated(self, unit: Gated, x: Tensor, reader: object = None) -> Tensor | None:
        """A gated linear unit of x, or of what was left to its layers; None if there is no product of it.

        If `reader` prepares its input, it will take this one as it is.
        """
        known = self._alike(unit.layers)
        if known is None or any(layer.out_features % (_STEP * 2 // len(known)) for layer in known):
            return None
        layers = [(layer.weight, layer.bias) for layer in known]
        if len(layers) == 1:
            layers = rows_of(layers[0], *[known[0].out_features // 2] * 2)
        if layers[0][0].shape != layers[1][0].shape:
            return None
        value, gate = reversed(layers) if unit.gate_first else layers
        made = self._at_once(known, x, gated_weight(value, gate), None, unit.activation)
        if made is not None and reader is not None:
            self._activated[id(reader)] = weakref.ref(made)
        return made

    def _alike(self, layers: Sequence[object]) -> Sequence[QuantizedLinear] | None:
        """Layers in the same 8 bits that can be multiplied at once; None if they cannot."""
        if not layers or not all(map(self._can_prepare, layers)):
            return None
        known = cast("Sequence[QuantizedLinear]", layers)
        alike = isinstance(known[0].format, Int8) and len({(layer.format, layer.in_features) for layer in known}) == 1
        return known if alike else None

    def _at_once(
        self,
        layers: Sequence[QuantizedLinear],
        x: Tensor,
        weight: QuantizedWeight,
        bias: Tensor | None = None,
        activation: Activation = Activation.NONE,
        *,
        keeps: bool = False,  # what was left to them, for another product
    ) -> Tensor | None:
        """The product in the place of these layers, of what was left to them; None if there is none."""
        left = [self._left.get(id(layer)) for layer in layers]
        if any(each is not left[0] for each in left) or (left[0] is not None and left[0].x is not x):
            return None
        around = Around(norm=None if left[0] is None else left[0].norm, activation=activation)
        made = self._kernels.product(x, weight, bias, None, Preparation.AS_IT_IS, around)
        if made is not None and not keeps:
            for layer in layers:
                self._left.pop(id(layer), None)
        return made

    def forward(self, layer: QuantizedLinear, preparation: Preparation, x: Tensor) -> Tensor:
        """The layer's output for x, prepared, with all that was left to it that the kernels can do."""
        if torch.compiler.is_compiling():
            return self._prepared(layer, preparation, x)
        if preparation is Preparation.AS_IT_IS and not layer.branches and id(layer) not in self._endings:
            made = self._siblings.output(layer, x, self.joined)
            if made is not None:
                return made
        known = self._activated.pop(id(layer), None)
        if known is not None and known() is x:
            preparation = Preparation.AS_IT_IS
        left, ending = self._left.pop(id(layer), None), self._endings.get(id(layer))
        if left is not None and left.x is not x:
            raise RuntimeError("a layer got another input than the one that was left to it to normalize")
        if ending is not None and ending.residual.dtype != x.dtype:
            ending = None
        if left is None and ending is None:
            return self._prepared(layer, preparation, x)
        if not layer.branches:
            around = Around(norm=None if left is None else left.norm, ending=ending)
            made = self._kernels.product(x, layer.weight, layer.bias, None, preparation, around)
            if made is not None:
                self._endings.pop(id(layer), None)
                return made
        return self._prepared(layer, preparation, x if left is None else left.plain())

    def _prepared(self, layer: QuantizedLinear, preparation: Preparation, x: Tensor) -> Tensor:
        """A LoRA needs the activation itself, which torch computes in that case."""
        if preparation is Preparation.AS_IT_IS:
            return QuantizedLinear.forward(layer, x)
        if not layer.branches:
            made = self._kernels.product(x, layer.weight, layer.bias, None, preparation)
            if made is not None:
                return made
        return QuantizedLinear.forward(layer, prepare_input(x, preparation))

    def _knows(self, layer: object) -> TypeGuard[QuantizedLinear]:
        return id(layer) in self._known

    def _can_prepare(self, layer: object) -> bool:
        """Its own low-rank branch would need the prepared input, and so would a LoRA."""
        return self._can_end(layer) and isinstance(getattr(layer, "format", None), Int8 | Int4 | Codebook4)

    def _can_end(self, layer: object) -> bool:
        if not isinstance(layer, QuantizedLinear) or id(layer) not in self._known or layer.branches:
            return False
        return unsupported(layer.format, tuple(layer.shape)) is None and not torch.compiler.is_compiling()


class Finish:
    """The end of a sum, which a layer's product may have included."""

    def __init__(self, endings: dict[int, Ending], layer: int, ending: Ending) -> None:
        self._endings, self._layer, self._ending = endings, layer, ending
        self._left = layer in endings

    def __call__(self, y: Tensor) -> Tensor:
        """`residual + gate y` of the layer's output, `y` itself if the layer included it."""
        if self._left and self._endings.pop(self._layer, None) is None:
            return y
        return self._ending.plain(y)
