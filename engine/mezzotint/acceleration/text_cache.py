"""Keys and values of the prompt, computed once instead of in every step.

In plain cross-attention (SDXL, PixArt) they depend on the prompt alone, which is the same in every step. A layer's
output is reused if its input is the very same memory, not written to since: nothing is compared by value and nothing
is rounded, so an image is the same bit for bit.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from torch import Tensor, nn

Layer: TypeAlias = Any  # a linear layer or a caption projection; diffusers publishes no types

_HALVES = 2  # conditional and unconditional, which may run one after the other
_STATE = ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set", "training")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """An output of a layer and its input."""

    x: Tensor  # held, so that no other tensor is allocated at its address
    y: Tensor
    versions: tuple[int | None, int | None]
    branches: tuple[object, ...]

    def is_of(self, x: Tensor) -> bool:
        """Whether x is the same memory with the same layout."""
        same = (x.dtype, x.device) == (self.x.dtype, self.x.device)
        return same and x.is_set_to(self.x)  # the projection's output arrives as a new view each time

    def serves(self, x: Tensor, branches: tuple[object, ...]) -> bool:
        """Whether the layer would return the same output for x: nothing has changed since."""
        return self.is_of(x) and (_version(x), _version(self.y)) == self.versions and branches == self.branches


class CachedLayer(nn.Module):
    """Replaces a layer of a network: has its parameters under the same names, and caches its last outputs.

    On a cache miss the layer itself is called, with its hooks; a tuple holds it so that it is not a submodule.
    """

    def __init__(self, layer: Layer) -> None:
        super().__init__()
        vars(self).update({name: vars(layer)[name] for name in _STATE})
        self.plain = (layer,)
        self._kept: list[_Kept] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  whatever the layer has
        """Return the layer's attribute, such as its weight's dtype."""
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(vars(self)["plain"][0], name)

    @property
    def kept_bytes(self) -> int:
        """Bytes of the cached outputs."""
        return sum(y.nbytes for y in self.outputs)

    @property
    def outputs(self) -> list[Tensor]:
        """The cached outputs."""
        return [kept.y for kept in self._kept]

    def forward(self, x: Tensor) -> Tensor:
        """Return the layer's output for x `(b, n, d)`, cached or computed."""
        layer = self.plain[0]
        branches = tuple(getattr(module, "branches", None) for module in layer.modules())
        for kept in self._kept:
            if kept.serves(x, branches):
                return kept.y
        self._make_room(x)
        y: Tensor = layer(x)
        self._kept.append(_Kept(x=x, y=y, versions=(_version(x), _version(y)), branches=branches))
        return y

    def _make_room(self, x: Tensor) -> None:
        """Drop the outputs that a new one replaces, before it is allocated."""
        self._kept = [kept for kept in self._kept if not kept.is_of(x)][1 - _HALVES :]

    def forget(self) -> None:
        """Drop the cached outputs."""
        self._kept = []


class TextCache:
    """Cached prompt keys and values of one network."""

    def __init__(self, layers: tuple[CachedLayer, ...]) -> None:
        self._layers = layers

    @property
    def kept_bytes(self) -> int:
        """Bytes that the cache takes now, not counting the conditioning itself."""
        return sum(layer.kept_bytes for layer in self._layers)

    def forget(self) -> None:
        """Drop everything that is cached."""
        for layer in self._layers:
            layer.forget()


@contextmanager
def cached_text(network: nn.Module) -> Iterator[TextCache]:
    """Cache the layers that depend on the prompt alone in this context; afterwards the network is restored.

    Apply LoRAs before, not inside: branches cannot be attached to a cached layer.
    """
    wrapped = [(parent, name, CachedLayer(getattr(parent, name))) for parent, name in _places(network)]
    cache = TextCache(tuple(layer for _, _, layer in wrapped))
    try:
        for parent, name, layer in wrapped:
            setattr(parent, name, layer)
        yield cache
    finally:
        cache.forget()
        for parent, name, layer in wrapped:
            setattr(parent, name, layer.plain[0])


def kept_width(network: nn.Module) -> int:
    """Values kept per prompt token while the network runs: the text embedding and the cached outputs."""
    layers = [getattr(parent, name) for parent, name in _places(network)]
    if not layers:
        return 0
    linear = [[module for module in layer.modules() if isinstance(module, nn.Linear)] for layer in layers]
    return linear[-1][0].in_features + sum(inside[-1].out_features for inside in linear)


def _places(network: nn.Module) -> list[tuple[nn.Module, str]]:
    """Layers that see only the prompt, by parent and name; empty if the network has no cross-attention."""
    if getattr(network, "joins_text", False):
        return []  # its text has patches of an image, and is a new tensor in every step
    attending = [module for module in network.modules() if _reads_words_alone(module)]
    places = [(module, name) for module in attending for name in ("to_k", "to_v")]
    if places and isinstance(getattr(network, "caption_projection", None), nn.Module):
        places.append((network, "caption_projection"))  # otherwise keys and values would see new tensors in every step
    return places


def _reads_words_alone(module: nn.Module) -> bool:
    # A norm before keys and values makes a new tensor in every step, so nothing could be cached.
    if not getattr(module, "is_cross_attention", False) or getattr(module, "norm_cross", None) is not None:
        return False
    return all(isinstance(getattr(module, name, None), nn.Module) for name in ("to_k", "to_v"))


def _version(tensor: Tensor) -> int | None:
    """Number of writes to a tensor; None for inference tensors, which torch does not track and nothing writes to."""
    return None if tensor.is_inference() else tensor._version
