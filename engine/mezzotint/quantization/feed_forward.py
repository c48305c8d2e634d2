"""Fused feed-forward layers: the activation is part of the first product, or of quantizing the second one's input.

The first where that saves a pass over the widest tensor of a model: gated linear units, and GELU before a layer whose
input is not prepared so.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias

from diffusers.models.activations import GEGLU, GELU
from diffusers.models.attention import FeedForward
from torch import Tensor, nn

from mezzotint.dispatch.library import Activation as Kind
from mezzotint.dispatch.library import Preparation
from mezzotint.quantization.block_floats import Mxfp8, Nvfp4
from mezzotint.quantization.formats import Int8
from mezzotint.quantization.fp8 import Fp8
from mezzotint.quantization.fusion.around import Gated
from mezzotint.quantization.fusion.layers import Fusion
from mezzotint.quantization.fusion.parts import gated_unit, last_of_feed_forward
from mezzotint.quantization.layers import QuantizedLinear

_FUSED = (Int8, Fp8, Mxfp8, Nvfp4)
Activation: TypeAlias = Any  # diffusers' GEGLU or GELU, which have no type annotations


@contextmanager
def fused(fusion: Fusion, networks: Iterable[object], layers: Iterable[QuantizedLinear]) -> Iterator[None]:
    """Fuse activations into the linear layer that follows, if it is one of `layers`, inside the context.

    What blocks leave to `layers` is included in their products, too. Modules keep their places and names, so LoRAs
    still find them.
    """
    layers, networks = tuple(layers), tuple(networks)
    known = {id(layer) for layer in layers}
    pairs = [pair for network in networks for pair in _pairs(network)]
    preparations = {id(last): preparation for _, last, preparation in pairs if _prepares(last) and id(last) in known}
    for activation, last, preparation in pairs:
        prepared = id(last) in preparations
        activation.forward = partial(_activated, fusion, activation, last, preparation, prepared)
    units = [pair for network in networks for pair in _gated_units(network)]
    for feed, unit in units:
        feed.forward = partial(_gated, fusion, feed, unit)
    for layer in layers:
        preparation = preparations.get(id(layer), Preparation.AS_IT_IS)
        layer.forward = partial(fusion.forward, layer, preparation)  # type: ignore[method-assign]
    try:
        yield
    finally:
        for module in (*layers, *(activation for activation, _, _ in pairs), *(feed for feed, _ in units)):
            del module.forward


def _pairs(network: object) -> Iterator[tuple[Activation, Any, Preparation]]:
    """Pairs of an activation and the layer that follows it, with nothing but an inactive dropout in between."""
    for module in network.modules() if isinstance(network, nn.Module) else ():
        if not isinstance(module, FeedForward) or len(module.net) < 3:
            continue
        activation, dropout, layer = module.net[:3]
        idle = isinstance(dropout, nn.Dropout) and (dropout.p == 0 or not dropout.training)
        preparation = _preparation(activation)
        if preparation is not None and idle:
            yield activation, layer, preparation


def _gated_units(network: object) -> Iterator[tuple[Any, Gated]]:
    """Feed-forwards that begin with a unit gated by SiLU."""
    for module in network.modules() if isinstance(network, nn.Module) else ():
        unit = gated_unit(module)
        if unit is not None:
            yield module, unit


def _prepares(layer: object) -> bool:
    return isinstance(layer, QuantizedLinear) and isinstance(layer.format, _FUSED)


def _preparation(activation: Activation) -> Preparation | None:
    if type(activation) is GEGLU:
        return Preparation.GEGLU
    if type(activation) is GELU and activation.approximate == "tanh":
        return Preparation.GELU_TANH
    return None


def _activated(
    fusion: Fusion,
    activation: Activation,
    last: Any,  # noqa: ANN401
    preparation: Preparation,
    prepared: bool,  # whether the last layer can do it
    x: Tensor,
    *_: object,
    **__: object,
) -> Tensor:
    """The activation's output, or its input where the last layer is to do it."""
    made = None
    if preparation is Preparation.GEGLU:
        made = fusion.gated(Gated(layers=(activation.proj,), activation=Kind.GATED_GELU), x, last if prepared else None)
    elif not prepared:
        made = fusion.activated(activation.proj, x)
    if made is None:
        made = activation.proj(x) if prepared else type(activation).forward(activation, x)
    return made


def _gated(fusion: Fusion, feed: Any, unit: Gated, x: Tensor) -> Tensor:  # noqa: ANN401
    made = fusion.gated(unit, x)
    out: Tensor = type(feed).forward(feed, x) if made is None else last_of_feed_forward(feed)(made)  # type: ignore[operator]
    return out
