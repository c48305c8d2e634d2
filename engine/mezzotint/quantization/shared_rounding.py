"""Rows that several products take: queries, keys and values of one input are rounded once."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

T = TypeVar("T")

# The layers of an attention module that may see one input, by their names in diffusers and in transformers.
_NAMES = ("to_q", "to_k", "to_v", "add_q_proj", "add_k_proj", "add_v_proj", "q_proj", "k_proj", "v_proj", "q", "k", "v")


class _Roundings:
    """What the inputs of one call were rounded to, until so many products have asked."""

    def __init__(self, products: int) -> None:
        self._left = products
        self._made: dict[Hashable, tuple[Tensor, Any]] = {}  # the input is kept, so that its number stays its own

    def get(self, x: Tensor, way: Hashable, make: Callable[[], T]) -> T:
        """What `make` gave for that very tensor before, or gives now."""
        key = (id(x), way)
        found: T = self._made[key][1] if key in self._made else make()
        self._left -= 1
        if self._left > 0:
            self._made[key] = (x, found)
        else:
            self._made.clear()  # attention itself is to have the memory
        return found


_CURRENT: ContextVar[_Roundings | None] = ContextVar("roundings", default=None)


def rounded(x: Tensor, way: Hashable, make: Callable[[], T]) -> T:
    """x rounded by `make`, once for all products of an attention layer; `way` names all else that it depends on.

    x must not be written to within a call of such a layer, and is not by those of diffusers and transformers.
    """
    roundings = None if torch.compiler.is_compiling() else _CURRENT.get()
    return make() if roundings is None else roundings.get(x, way, make)


@contextmanager
def sharing(networks: Iterable[object]) -> Iterator[None]:
    """Have the attention layers of these networks round each input once, inside; then all is as before."""
    modules = [module for network in networks for module in _attention_layers(network)]
    try:
        for module in modules:
            module.forward = partial(_shared, module, module.forward)
        yield
    finally:
        for module in modules:
            vars(module).pop("forward", None)


def _attention_layers(network: object) -> Iterator[nn.Module]:
    """Modules with several layers that round their inputs."""
    for module in network.modules() if isinstance(network, nn.Module) else ():
        if _products(module) > 1 and "forward" not in vars(module):
            yield module


def _products(module: nn.Module) -> int:
    """How many of a module's layers round what they are given; not one that stands for another for a time."""
    layers: dict[str, Any] = module._modules
    found = [layers[name] for name in _NAMES if name in layers]
    return sum(hasattr(type(layer), "has_integer_products") and layer.has_integer_products for layer in found)


def _shared(module: nn.Module, forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
    if torch.compiler.is_compiling():
        return forward(*args, **kwargs)
    products = _products(module)
    if products < 2:
        return forward(*args, **kwargs)
    token = _CURRENT.set(_Roundings(products))
    try:
        return forward(*args, **kwargs)
    finally:
        _CURRENT.reset(token)
