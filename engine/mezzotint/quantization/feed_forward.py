"""Fused feed-forward layers of diffusers: the kernel that quantizes the activation's rows also computes it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias

from diffusers.models.activations import GEGLU, GELU
from diffusers.models.attention import FeedForward
from torch import Tensor, nn

from mezzotint.dispatch.library import Preparation
from mezzotint.quantization.formats import Int8
from mezzotint.quantization.layers import QuantizedLinear
from mezzotint.quantization.products.operation import Products, prepare_input

Activation: TypeAlias = Any  # diffusers' GEGLU or GELU, which have no type annotations


@contextmanager
def fused(kernels: Products, networks: Iterable[object], layers: Iterable[QuantizedLinear]) -> Iterator[None]:
    """Fuse activations into the linear layer that follows, if it is one of `layers`, inside the context.

    Modules keep their places and names, so LoRAs still find them.
    """
    known = {id(layer) for layer in layers}
    pairs = [pair for network in networks for pair in _pairs(network) if id(pair[1]) in known]
    for activation, layer, preparation in pairs:
        activation.forward = partial(_projected, activation)
        layer.forward = partial(_activated, kernels, layer, preparation)  # type: ignore[method-assign]
    try:
        yield
    finally:
        for activation, layer, _ in pairs:
            del activation.forward, layer.forward


def _pairs(network: object) -> Iterator[tuple[Activation, QuantizedLinear, Preparation]]:
    """Pairs of an activation and the layer that follows it, with nothing but an inactive dropout in between."""
    for module in network.modules() if isinstance(network, nn.Module) else ():
        if not isinstance(module, FeedForward) or len(module.net) < 3:
            continue
        activation, dropout, layer = module.net[:3]
        idle = isinstance(dropout, nn.Dropout) and (dropout.p == 0 or not dropout.training)
        preparation = _preparation(activation)
        if preparation is not None and idle and isinstance(layer, QuantizedLinear) and isinstance(layer.format, Int8):
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


def _activated(kernels: Products, layer: QuantizedLinear, preparation: Preparation, x: Tensor) -> Tensor:
    """Layer output for the projected x. A LoRA needs the activation itself, which torch computes in that case."""
    if not layer.branches:
        made = kernels.product(x, layer.weight, layer.bias, None, preparation)
        if made is not None:
            return made
    return QuantizedLinear.forward(layer, prepare_input(x, preparation))
