"""Shared activation quantization: the common input of query, key and value projections is quantized once."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

T = TypeVar("T")

# Projections of an attention module that may share an input, by their names in diffusers and transformers.
_NAMES = (
    *("to_q", "to_k", "to_v", "to_gate"),
    *("add_q_proj", "add_k_proj", "add_v_proj"),
    *("q_proj", "k_proj", "v_proj"),
    *("q", "k", "v"),
)


class _QuantizedInputs:
    """Quantized inputs of one attention call, dropped after the given number of products."""

    def __init__(self, products: int) -> None:
        self._left = products
        self._made: dict[Hashable, tuple[Tensor, Any]] = {}  # holds the input, so that its id stays unique

    def get(self, x: Tensor, key: Hashable, quantize: Callable[[], T], layers: int) -> T:
        """Return the cached result of `quantize` for this very tensor, or call it; the product is that of `layers`."""
        whole_key = (id(x), key)
        found: T = self._made[whole_key][1] if whole_key in self._made else quantize()
        self._left -= layers
        if self._left > 0:
            self._made[whole_key] = (x, found)
        else:
            self._made.clear()  # free the memory before attention runs
        return found


_CURRENT: ContextVar[_QuantizedInputs | None] = ContextVar("quantized_inputs", default=None)


def shared_quantize(x: Tensor, key: Hashable, quantize: Callable[[], T], layers: int = 1) -> T:
    """Quantize x by `quantize`, once for all products of an attention layer; `key` is all else that it depends on.

    This product is that of so many layers. x must not be modified within the layer's call; layers of diffusers and
    transformers do not.
    """
    shared = None if torch.compiler.is_compiling() else _CURRENT.get()
    return quantize() if shared is None else shared.get(x, key, quantize, layers)


@contextmanager
def sharing_inputs(products: int) -> Iterator[None]:
    """Share quantized inputs among so many products inside the context."""
    token = _CURRENT.set(_QuantizedInputs(products))
    try:
        yield
    finally:
        _CURRENT.reset(token)


@contextmanager
def share_quantized_inputs(networks: Iterable[object]) -> Iterator[None]:
    """Share quantized inputs within attention layers of these networks, inside the context."""
    modules = [module for network in networks for module in _attention_layers(network)]
    try:
        for module in modules:
            module.forward = partial(_shared, module, module.forward)
        yield
    finally:
        for module in modules:
            vars(module).pop("forward", None)


def _attention_layers(network: object) -> Iterator[nn.Module]:
    """Modules with several layers that quantize their inputs."""
    for module in network.modules() if isinstance(network, nn.Module) else ():
        if _products(module) > 1 and "forward" not in vars(module):
            yield module


def _products(module: nn.Module) -> int:
    """Number of a module's layers that quantize their inputs, without temporary proxies."""
    layers: dict[str, Any] = module._modules
    found = [layers[name] for name in _NAMES if name in layers]
    return sum(
        hasattr(type(layer), "has_integer_products") and (layer.has_integer_products or layer.has_block_scaled_products)
        for layer in found
    )


def _shared(module: nn.Module, forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
    if torch.compiler.is_compiling():
        return forward(*args, **kwargs)
    products = _products(module)
    if products < 2:
        return forward(*args, **kwargs)
    with sharing_inputs(products):
        return forward(*args, **kwargs)
