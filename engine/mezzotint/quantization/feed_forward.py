"""Fused feed-forward layers of diffusers: the kernel that quantizes the activation's rows also computes it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias

from diffusers.models.activations import GEGLU, GELU
from diffusers.models.attention import FeedForward
from torch import Tensor, nn

from mezzotint.dispatch.library import Preparation
from mezzotint.quantization.block_floats import Mxfp8, Nvfp4
from mezzotint.quantization.formats import Int8
from mezzotint.quantization.fp8 import Fp8
from mezzotint.quantization.fusion.layers import Fusion
from mezzotint.quantization.layers import QuantizedLinear

_FUSED = (Int8, Fp8, Mxfp8, Nvfp4)
Activation: TypeAlias = Any  # diffusers' GEGLU or GELU, which have no type annotations


@contextmanager
def fused(fusion: Fusion, networks: Iterable[object], layers: Iterable[QuantizedLinear]) -> Iterator[None]:
    """Fuse activations into the linear layer that follows, if it is one of `layers`, inside the context.

    What blocks leave to `layers` is included in their products, too. Modules keep their places and names, so LoRAs
    still find them.
    """
    layers = tuple(layers)
    known = {id(layer) for layer in layers}
    pairs = [pair for network in networks for pair in _pairs(network) if id(pair[1]) in known]
    preparations = {id(layer): preparation for _, layer, preparation in pairs}
    for activation, _, _ in pairs:
        activation.forward = partial(_projected, activation)
    for layer in layers:
        preparation = preparations.get(id(layer), Preparation.AS_IT_IS)
        layer.forward = partial(fusion.forward, layer, preparation)  # type: ignore[method-assign]
    try:
        yield
    finally:
        for module in (*layers, *(activation for activation, _, _ in pairs)):
            del module.forward


def _pairs(network: object) -> Iterator[tuple[Activation, QuantizedLinear, Preparation]]:
    """Pairs of an activation and the layer that follows it, with nothing but an inactive dropout in between."""
    for module in network.modules() if isinstance(network, nn.Module) else ():
        if not isinstance(module, FeedForward) or len(module.net) < 3:
            continue
        activation, dropout, layer = module.net[:3]
        idle = isinstance(dropout, nn.Dropout) and (dropout.p == 0 or not dropout.training)
        preparation = _preparation(activation)
        if preparation is not None and idle and isinstance(layer, QuantizedLinear) and isinstance(layer.format, _FUSED):
            yield activation, layer, preparation


def _preparation(activation: Activation) -> Preparation | None:
    if type(activation) is GEGLU:
        return Preparation.GEGLU
    if type(activation) is GELU and activation.approximate == "tanh":
        return Preparation.GELU_TANH
    return None


def _projected(activation: Activation, x: Tensor, *_: object, **__: object) -> Tensor:
    projected: Tensor = activation.proj(x)
    return projected
